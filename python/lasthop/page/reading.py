"""The contents of a run in pieces: its nodes and flows, tiles of its air and of curves, and details for clicks.

`GET /api/runs/KEY/seeds/SEED` returns its nodes, flows and tables; `…/air/GROUP/LEVEL/INDEX`, `…/backoffs/LEVEL/INDEX`
and `…/curves/CHART/ENTITY/LEVEL/INDEX` are tiles in Arrow's stream format, of at most 64 kB; `…/ppdus/N`,
`…/packets/FLOW/up|down/N`, `…/explained` and `…/explained/FLOW` are JSON. `POST …/record` runs a seed again with a
recording, as its result depends on its scenario and seed alone.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .air import LEVELS
from .desk import Desk
from .frames import packet_facts, ppdu_facts
from .library import Unknown
from .recording_cache import Missing, RecordingCache
from .recording_view import RecordingView, summary_of
from .rerun import Recorder

ARROW = "application/vnd.apache.arrow.stream"
SEED = "/api/runs/{run}/seeds/{seed:int}"


def warm() -> None:
    """Loads the modules that the first look at a run needs."""
    import duckdb  # noqa: F401
    import pyarrow.dataset
    import pyarrow.parquet  # noqa: F401


def routes(desk: Desk) -> list[Route]:
    """Returns the routes of this part of the page."""
    threading.Thread(target=warm, daemon=True).start()
    answers = Answers(desk)
    parts = {
        "": answers.described,
        "/air/{group:int}/{level:int}/{index:int}": answers.air,
        "/backoffs/{level:int}/{index:int}": answers.backoffs,
        "/curves/{chart}/{entity:int}/{level:int}/{index:int}": answers.curves,
        "/explained": answers.explained,
        "/explained/{flow:int}": answers.explained_flow,
        "/ppdus/{ppdu:int}": answers.ppdu,
        "/packets/{flow:int}/{direction}/{packet:int}": answers.packet,
    }
    return [
        Route("/api/runs/{run}/seeds", _answering(answers.seeds)),
        Route(f"{SEED}/record", _answering(answers.record), methods=["POST"]),
        *(Route(SEED + part, _answering(answer)) for part, answer in parts.items()),
    ]


def _answering(make: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Answers on a thread, as reading takes a while."""

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(make, request)

    return answer


class Answers:
    """The answers about one run and seed."""

    def __init__(self, desk: Desk) -> None:
        self._library = desk.library
        self._cache = RecordingCache(desk)

    def _opened(self, request: Request) -> RecordingView:
        return self._cache.opened(*_which(request))

    def seeds(self, request: Request) -> Response:
        """The seeds of a run."""
        result = self._library.result(request.path_params["run"])
        return JSONResponse({"name": result.name, "seeds": result.seeds})

    def described(self, request: Request) -> Response:
        """Returns nodes, flows and tables; for a seed without a recording, the progress of making one."""
        run, seed = _which(request)
        try:
            return JSONResponse({"recorded": True, **self._cache.opened(run, seed).described()})
        except Missing:
            summary = summary_of(self._library.result(run), seed, run)
            return JSONResponse({"recorded": False, **summary, **_state(self._cache.recorder(run, seed))})

    def record(self, request: Request) -> Response:
        """Begins to record a seed; returns the progress."""
        return JSONResponse(_state(self._cache.record(*_which(request))))

    def air(self, request: Request) -> Response:
        """A tile of the air."""
        group, level, index = _numbers(request, "group", "level", "index")
        _check_tile(level, index)
        return _tile(self._opened(request).air_tile(group, level, index))

    def backoffs(self, request: Request) -> Response:
        """A tile of backoffs."""
        level, index = _numbers(request, "level", "index")
        _check_tile(level, index)
        return _tile(self._opened(request).backoff_tile(level, index))

    def curves(self, request: Request) -> Response:
        """A tile of the curves of a chart."""
        entity, level, index = _numbers(request, "entity", "level", "index")
        _check_tile(level, index)
        return _tile(self._opened(request).curve_tile(request.path_params["chart"], entity, level, index))

    def ppdu(self, request: Request) -> Response:
        """Returns the details of a clicked PPDU."""
        view = self._opened(request)
        return JSONResponse(ppdu_facts(view.recorded, view.air, request.path_params["ppdu"]))

    def packet(self, request: Request) -> Response:
        """Returns the details of a clicked segment."""
        view, direction = self._opened(request), request.path_params["direction"]
        if direction not in ("up", "down"):
            raise Unknown(f"{direction}: a packet goes up or down")
        flow, packet = _numbers(request, "flow", "packet")
        return JSONResponse(packet_facts(view.recorded, view.air, flow, direction == "up", packet))

    def explained(self, request: Request) -> Response:
        """The account in sentences, and each channel's over time; until it is ready, the progress."""
        slices = self._cache.slices(*_which(request))
        if slices.time is None:
            return JSONResponse({"progress": slices.progress, "error": slices.error, **slices.known})
        return JSONResponse(slices.summary())

    def explained_flow(self, request: Request) -> Response:
        """The account of a flow over time."""
        run, seed = _which(request)
        slices = self._cache.slices(run, seed)
        if slices.time is None:
            return JSONResponse({"progress": slices.progress})
        shares = [*slices.time["flows"].values()]
        flow = request.path_params["flow"]
        if flow >= len(shares):
            raise Unknown(f"flow {flow}: there are {len(shares)}")
        return JSONResponse(shares[flow])


def _which(request: Request) -> tuple[str, int]:
    return request.path_params["run"], request.path_params["seed"]


def _numbers(request: Request, *names: str) -> list[int]:
    return [request.path_params[name] for name in names]


def _state(recorder: Recorder | None) -> dict[str, Any]:
    if recorder is None:
        return {"making": None, "error": None}
    state = recorder.state()
    return {"making": state["fraction"], "done": state["state"] == "done", "error": state["error"]}


def _check_tile(level: int, index: int) -> None:
    if level not in LEVELS or not 0 <= index < 1 << (62 - level):
        raise Unknown(f"tile {level}/{index}: levels are {LEVELS.start} to {LEVELS.stop - 1}, and time begins at 0")


def _tile(content: bytes) -> Response:
    return Response(content, media_type=ARROW, headers={"Cache-Control": "no-store"})
