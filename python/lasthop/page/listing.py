"""`GET /api/entries`: what there is to open. `GET /api/runs/KEY`: a result without its runs' numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .library import Entry, Library

if TYPE_CHECKING:
    from .app import Desk


def routes(desk: Desk) -> list[Route]:
    """What this part of the page answers."""

    async def entries(_request: Request) -> JSONResponse:
        return JSONResponse(await run_in_threadpool(_listed, desk.library))

    async def result(request: Request) -> Response:
        found = await run_in_threadpool(desk.library.result, request.path_params["run"])
        return Response(found.to_json(), media_type="application/json")

    return [Route("/api/entries", entries), Route("/api/runs/{run}/result", result)]


def _listed(library: Library) -> dict[str, Any]:
    return {
        "roots": [str(root) for root in library.roots],
        "entries": [_described(entry, library) for entry in library.entries()],
    }


def _described(entry: Entry, library: Library) -> dict[str, Any]:
    below = [root for root in library.roots if entry.path.is_relative_to(root)]
    place = entry.path.relative_to(below[0]).as_posix() if below else entry.path.name
    return {"key": entry.key, "kind": entry.kind, "name": entry.name, "place": place, "modified_s": entry.modified_s}
