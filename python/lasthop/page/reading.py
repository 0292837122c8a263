"""What a run holds, piece by piece: who is in it, tiles of its air and of curves, and what a click asks for.

`GET /api/runs/KEY/seeds/SEED` tells who and what there is; `…/air/GROUP/LEVEL/INDEX`, `…/backoffs/LEVEL/INDEX` and
`…/curves/CHART/ENTITY/LEVEL/INDEX` are tiles in Arrow's stream format, of at most 64 kB; `…/ppdus/N`, `…/packets/FLOW/up|down/N`, `…/explained` and `…/explained/FLOW` are JSON. A seed that was
not recorded is run again with a recording by `POST …/record`, as its result came from its scenario and seed alone.
"""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .. import _core
from ..progress import Progress
from ..quantities import FLOW
from ..recording import NewRecordings, Recordings
from ..recording import Request as Wanted
from ..result import Result
from .library import Unknown
from .scenario_text import run_again

if TYPE_CHECKING:
    from .air import Air
    from .app import Desk
    from .explaining import Slices
    from .recorded import Recorded

ARROW = "application/vnd.apache.arrow.stream"
# What a seed is run again with.
TABLES = ("air", "tcp", "queue", "backoff", "waits", "rate")
# So many recordings are kept in memory; one of a minute of a busy network has some 300 MB.
KEPT = 3
TILES_KEPT = 2000


class Opened:
    """A recording that is being looked at, with the tiles that were asked for."""

    def __init__(self, recorded: Recorded, summary: dict[str, Any]) -> None:
        self.recorded = recorded
        self.summary = summary
        self.air_tile = lru_cache(TILES_KEPT)(self._air_tile)
        self.backoff_tile = lru_cache(TILES_KEPT)(self._backoff_tile)
        self.curve_tile = lru_cache(TILES_KEPT)(self._curve_tile)

    @classmethod
    def of(cls, result: Result, seed: int, recordings: Recordings, key: str | None = None) -> Opened:
        """The recording of one seed of a result, which the page knows by `key`."""
        from .recorded import Recorded

        return cls(Recorded(result, seed, recordings), summary_of(result, seed, key))

    @property
    def air(self) -> Air:
        """The PPDUs, read at the first look."""
        from .air import Air

        return self.recorded.kept(("air",), lambda: Air(self.recorded))

    def described(self) -> dict[str, Any]:
        """Who and what there is, as JSON."""
        from .curves import described
        from .recorded import KINDS, LOSSES

        recorded = self.recorded
        return {
            **self.summary,
            "duration_ns": recorded.duration_ns,
            "warmup_ns": recorded.warmup_ns,
            "nodes": [node._asdict() for node in recorded.nodes],
            "flows": [flow._asdict() for flow in recorded.flows],
            "tables": recorded.tables,
            "charts": described(),
            "kinds": KINDS,
            "losses": LOSSES,
            "groups": self.air.groups if recorded.has("ppdu") else 0,
            "senders": self.air.senders() if recorded.has("ppdu") else [],
            "ppdus": len(self.air) if recorded.has("ppdu") else 0,
        }

    def _air_tile(self, group: int, level: int, index: int) -> bytes:
        air = self.air
        if not 0 <= group < air.groups:
            raise Unknown(f"group {group}: there are {air.groups}")
        begin = index << level
        if air.is_exact(begin, begin + (1 << level), group):
            return encoded(air.exact(begin, begin + (1 << level), group), exact=True)
        return encoded(air.bins(begin, level, group), exact=False)

    def _backoff_tile(self, level: int, index: int) -> bytes:
        from .backoffs import Backoffs

        if not self.recorded.has("backoff"):
            raise Unknown("backoffs: were not recorded")
        backoffs = self.recorded.kept(("backoffs",), lambda: Backoffs(self.recorded, self.air))
        columns = backoffs.within(index << level, (index + 1) << level)
        return encoded(columns or {}, exact=columns is not None)

    def _curve_tile(self, chart: str, entity: int, level: int, index: int) -> bytes:
        from .curves import curves_of, is_exact, tile

        curves = curves_of(self.recorded, chart, entity)
        begin = index << level
        return encoded(tile(curves, begin, level), exact=is_exact(curves, begin, level))


def encoded(columns: dict[str, np.ndarray], *, exact: bool) -> bytes:
    """Columns as a stream of Arrow; `exact` stands in the metadata of its schema."""
    import pyarrow

    table = pyarrow.table(columns).replace_schema_metadata({"exact": "1" if exact else "0"})
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


class Shelf:
    """Recordings by run and seed: those beside results, and those that were made here."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._opened: OrderedDict[tuple[str, int, float], Opened] = OrderedDict()
        self._lock = threading.Lock()
        self._made = TemporaryDirectory(prefix="lasthop-page-")
        self._making: dict[tuple[str, int], Making] = {}
        self._slices: dict[tuple[str, int], Slices] = {}
        desk.at_end.append(self._end)

    def opened(self, run: str, seed: int) -> Opened:
        """The recording of a seed. Raises `LookupError` where there is none, and for a seed that was not run."""
        result, entry = self._desk.library.result(run), self._desk.library.entry(run)
        key = (run, seed, entry.modified_s)
        with self._lock:
            if key in self._opened:
                self._opened.move_to_end(key)
                return self._opened[key]
        opened = Opened.of(result, seed, self._recordings(run, seed, result), run)
        with self._lock:
            self._opened[key] = opened
            while len(self._opened) > KEPT:
                self._opened.popitem(last=False)
        return opened

    def _recordings(self, run: str, seed: int, result: Result) -> Recordings:
        if seed not in result.seeds:
            raise Unknown(f"seed {seed}: was not run; there are {', '.join(map(str, result.seeds))}")
        beside = recorded_beside(result, seed)
        if beside is not None:
            return beside
        made = Recordings(self._place(run))
        if (seed, "ppdu") in made.tables():
            return made
        raise Missing(f"seed {seed}: was not recorded")

    def _place(self, run: str) -> Path:
        return Path(self._made.name) / run

    def record(self, run: str, seed: int) -> Making:
        """Begins to run a seed again with a recording, unless that is under way."""
        result = self._desk.library.result(run)
        with self._lock:
            making = self._making.get((run, seed))
            if making is None or making.error is not None:
                making = self._making[run, seed] = Making(result, seed, self._place(run), run_again(self._desk.library, result))
            return making

    def making(self, run: str, seed: int) -> Making | None:
        """The recording that is being made of a seed, if one is."""
        return self._making.get((run, seed))

    def slices(self, run: str, seed: int) -> Slices:
        """The account of a seed over time, which begins to be made at the first call."""
        from .explaining import Slices

        result = self._desk.library.result(run)
        if seed not in result.seeds:
            raise Unknown(f"seed {seed}: was not run; there are {', '.join(map(str, result.seeds))}")
        with self._lock:
            if (run, seed) not in self._slices:
                self._slices[run, seed] = Slices(result, seed, run_again(self._desk.library, result))
            return self._slices[run, seed]

    def _end(self) -> None:
        for slices in self._slices.values():
            slices.close()
        for making in self._making.values():
            making.close()
        self._made.cleanup()


def recorded_beside(result: Result, seed: int) -> Recordings | None:
    """The recording of a seed that lies beside its result, where one does."""
    beside = result._stored_recordings()
    return beside if beside is not None and (seed, "ppdu") in beside.tables() else None


class Missing(LookupError):
    """A seed has no recording."""


class Making:
    """A seed that is run again with a recording, on a thread of its own."""

    def __init__(
        self, result: Result, seed: int, place: Path, resolved: _core.ResolvedScenario | None = None
    ) -> None:
        from ..explain.rerun import scenario_of

        self.error: str | None = None
        self.done = False
        self._wanted = next(run for run in result.runs if run["seed"] == seed)["totals"]
        self._place = place
        self._seed = seed
        self._new = NewRecordings()
        recording = Wanted(TABLES).into(self._new.directory)
        self._campaign = _core.Campaign(resolved or scenario_of(result).resolve(), [seed], 1, None, False, recording)
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    @property
    def progress(self) -> float:
        """How much of it is done, from 0 to 1."""
        return 1.0 if self.done else self._campaign.progress()

    def close(self) -> None:
        """Gives up what is not done."""
        self._campaign.cancel()
        self._thread.join(10)
        self._new.discard()

    def _wait(self) -> None:
        import time

        while not self._campaign.is_done():
            time.sleep(0.05)
        outcomes = self._campaign.take_finished()
        if not outcomes or outcomes[0].run is None:
            self.error = (outcomes and outcomes[0].error) or "it was stopped"
        elif outcomes[0].run["totals"] != self._wanted:
            self.error = f"lasthop {_core.__version__} gives other numbers than the version that made this result; run it anew"
        else:
            self._place.mkdir(parents=True, exist_ok=True)
            (self._new.directory / f"seed-{self._seed}").rename(self._place / f"seed-{self._seed}")
            self.done = True
        self._new.discard()


def summary_of(result: Result, seed: int, key: str | None) -> dict[str, Any]:
    """What the page says at the head of a run."""
    told = next(told for told in result.runs if told["seed"] == seed)
    return {
        "key": key,
        "name": result.name,
        "description": result.scenario.get("description"),
        "seed": seed,
        "seeds": result.seeds,
        "totals": told["totals"],
        "medium": told["medium"],
        "goodput": {flow["id"]: flow[FLOW.goodput_bps] for flow in told["flows"]},
        "warnings": result.warnings,
        "explained": all("account" in one for one in result.runs),
    }


def warm() -> None:
    """Loads what the first look at a run needs, so that it need not wait for that."""
    import duckdb  # noqa: F401
    import pyarrow.dataset
    import pyarrow.parquet  # noqa: F401

    from . import air, backoffs, curves, explaining, frames  # noqa: F401


def routes(desk: Desk) -> list[Route]:
    """What this part of the page answers."""
    threading.Thread(target=warm, daemon=True).start()
    shelf = Shelf(desk)
    base = "/api/runs/{run}/seeds/{seed:int}"

    def answering(make: Callable[[Request], Response]) -> Callable:
        async def answer(request: Request) -> Response:
            return await run_in_threadpool(make, request)

        return answer

    def opened(request: Request) -> Opened:
        return shelf.opened(request.path_params["run"], request.path_params["seed"])

    def described(request: Request) -> Response:
        run, seed = request.path_params["run"], request.path_params["seed"]
        try:
            return JSONResponse({"recorded": True, **shelf.opened(run, seed).described()})
        except Missing:
            return JSONResponse({"recorded": False, **summary_of(desk.library.result(run), seed, run), **_state(shelf.making(run, seed))})

    def record(request: Request) -> Response:
        return JSONResponse(_state(shelf.record(request.path_params["run"], request.path_params["seed"])))

    def air(request: Request) -> Response:
        group, level, index = (request.path_params[name] for name in ("group", "level", "index"))
        _check_tile(level, index)
        return _tile(opened(request).air_tile(group, level, index))

    def backoffs(request: Request) -> Response:
        level, index = (request.path_params[name] for name in ("level", "index"))
        _check_tile(level, index)
        return _tile(opened(request).backoff_tile(level, index))

    def curves(request: Request) -> Response:
        chart, entity, level, index = (request.path_params[name] for name in ("chart", "entity", "level", "index"))
        _check_tile(level, index)
        return _tile(opened(request).curve_tile(chart, entity, level, index))

    def ppdu(request: Request) -> Response:
        from .frames import ppdu_facts

        found = opened(request)
        return JSONResponse(ppdu_facts(found.recorded, found.air, request.path_params["ppdu"]))

    def packet(request: Request) -> Response:
        from .frames import packet_facts

        found, asked = opened(request), request.path_params
        if asked["direction"] not in ("up", "down"):
            raise Unknown(f"{asked['direction']}: a packet goes up or down")
        return JSONResponse(
            packet_facts(found.recorded, found.air, asked["flow"], asked["direction"] == "up", asked["packet"])
        )

    def explained(request: Request) -> Response:
        from .explaining import in_words

        slices = shelf.slices(request.path_params["run"], request.path_params["seed"])
        slices.wait(0.1)
        if slices.told is None:
            return JSONResponse({"progress": slices.progress, "error": slices.error})
        return JSONResponse({**in_words(slices.result()), "edges_ns": slices.told["edges_ns"], "channels": slices.told["channels"]})

    def explained_flow(request: Request) -> Response:
        slices = shelf.slices(request.path_params["run"], request.path_params["seed"])
        flow = desk.library.result(request.path_params["run"]).runs[0]["flows"][request.path_params["flow"]]["id"]
        return JSONResponse({"progress": slices.progress} if slices.told is None else slices.told["flows"][flow])

    def seeds(request: Request) -> Response:
        result = desk.library.result(request.path_params["run"])
        return JSONResponse({"name": result.name, "seeds": result.seeds})

    return [
        Route("/api/runs/{run}/seeds", answering(seeds)),
        Route(base, answering(described)),
        Route(f"{base}/record", answering(record), methods=["POST"]),
        Route(f"{base}/air/{{group:int}}/{{level:int}}/{{index:int}}", answering(air)),
        Route(f"{base}/backoffs/{{level:int}}/{{index:int}}", answering(backoffs)),
        Route(f"{base}/curves/{{chart}}/{{entity:int}}/{{level:int}}/{{index:int}}", answering(curves)),
        Route(f"{base}/explained", answering(explained)),
        Route(f"{base}/explained/{{flow:int}}", answering(explained_flow)),
        Route(f"{base}/ppdus/{{ppdu:int}}", answering(ppdu)),
        Route(f"{base}/packets/{{flow:int}}/{{direction}}/{{packet:int}}", answering(packet)),
    ]


def _state(making: Making | None) -> dict[str, Any]:
    if making is None:
        return {"making": None, "error": None}
    return {"making": making.progress, "done": making.done, "error": making.error}


def _check_tile(level: int, index: int) -> None:
    from .air import LEVELS

    if level not in LEVELS or not 0 <= index < 1 << (62 - level):
        raise Unknown(f"tile {level}/{index}: levels are {LEVELS.start} to {LEVELS.stop - 1}, and time begins at 0")


def _tile(content: bytes) -> Response:
    return Response(content, media_type=ARROW, headers={"Cache-Control": "private, max-age=3600"})
