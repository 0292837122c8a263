"""`GET /api/entries`: all entries. `GET /api/entries/KEY`: its headline numbers, or the runs of a store.

`GET /api/runs/KEY/result`: a result without its runs' numbers.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..data.foreign_text import json_of, toml_of
from ..data.quantities import TOTALS
from ..data.recording import FOLDER
from .desk import Desk
from .library import Entry, Library, Unknown
from .stored import runs_in

# Larger results are opened one at a time, not for a list.
LARGEST = 50_000_000
REMEMBERED = 5000
MOST_AT_ONCE = 200


def routes(desk: Desk) -> list[Route]:
    """Returns the routes of this part of the page."""
    facts = Facts()

    async def entries(_request: Request) -> JSONResponse:
        return JSONResponse(await run_in_threadpool(_listed, desk.library))

    async def one(request: Request) -> JSONResponse:
        text = request.query_params.get("text", "")
        return JSONResponse(await run_in_threadpool(facts.of, desk.library.entry(request.path_params["key"]), text))

    async def several(request: Request) -> JSONResponse:
        keys = request.query_params.get("keys", "").split(",")[:MOST_AT_ONCE]
        return JSONResponse(await run_in_threadpool(_of_several, facts, desk.library, keys))

    async def result(request: Request) -> Response:
        content = await run_in_threadpool(desk.library.result, request.path_params["run"])
        return Response(content.to_json(), media_type="application/json")

    return [
        Route("/api/entries", entries),
        Route("/api/facts", several),
        Route("/api/entries/{key}", one),
        Route("/api/runs/{run}/result", result),
    ]


def _listed(library: Library) -> dict[str, Any]:
    return {
        "roots": [str(root) for root in library.roots],
        "entries": [_described(entry, library) for entry in library.entries()],
    }


def _described(entry: Entry, library: Library) -> dict[str, Any]:
    below = [root for root in library.roots if entry.path.is_relative_to(root)]
    place = entry.path.relative_to(below[0]).as_posix() if below else entry.path.name
    facts = {"key": entry.key, "kind": entry.kind, "name": entry.name, "place": place, "modified_s": entry.modified_s}
    return {**facts, "ready": entry.kind == "scenario" and not below}


def _of_several(facts: Facts, library: Library, keys: list[str]) -> dict[str, Any]:
    """The facts of existing entries; one may have been removed since the list was made."""
    by_key = {}
    for key in keys:
        with suppress(Unknown):
            by_key[key] = facts.of(library.entry(key))
    return by_key


class Facts:
    """A few numbers of each entry, kept until its file changes."""

    def __init__(self) -> None:
        self._known: OrderedDict[Path, tuple[float, dict[str, Any]]] = OrderedDict()
        self._lock = Lock()

    def of(self, entry: Entry, text: str = "") -> dict[str, Any]:
        """Returns a list's row of an entry; for a store, of the runs that have `text`. A broken file has an error."""
        if entry.kind == "store" and text:
            return runs_in(entry.path, text)
        with self._lock:
            known = self._known.get(entry.path)
            if known is not None and known[0] == entry.modified_s:
                return known[1]
        try:
            facts = {"result": _of_result, "scenario": _of_scenario, "store": runs_in}[entry.kind](entry.path)
        except (ValueError, OSError, KeyError, TypeError, AttributeError) as error:
            facts = {"error": f"{entry.name}: cannot be read: {error}"}
        with self._lock:
            self._known[entry.path] = (entry.modified_s, facts)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return facts


def _of_result(path: Path) -> dict[str, Any]:
    file = path / "result.json" if path.is_dir() else path
    if file.stat().st_size > LARGEST:
        return {"error": f"{file.name} is large; open it to see its numbers"}
    # A file has its name in the directory; its whole path is of no use to a client.
    document = json_of(file, LARGEST, name=file.name)
    goodput = document["summary"].get(TOTALS.goodput_bps.path)
    scenario = document["scenario"]
    return {
        "title": scenario.get("name") or "",
        "description": scenario.get("description") or "",
        "goodput": goodput,
        "seeds": [run["seed"] for run in document["runs"]],
        "failed": len(document.get("failed", [])),
        "interrupted": bool(document.get("interrupted")),
        "duration": scenario.get("duration"),
        "explained": all("account" in run for run in document["runs"]),
        "recorded": file.with_name(FOLDER).is_dir(),
    }


def _of_scenario(path: Path) -> dict[str, Any]:
    document = toml_of(path, name=path.name)
    texts = {key: str(document.get(key, ""))[:400] for key in ("name", "description", "duration")}
    return {"title": texts["name"], "description": texts["description"], "duration": texts["duration"]}
