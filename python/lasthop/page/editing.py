"""The scenario editor: possible keys and names, the engine's check of a text, moves on the map, and saving.

`GET /api/schema` and `/api/registry`: the keys and the names. `GET /api/scenarios/KEY`: the text of a scenario, or of a
result's scenario. `POST /api/check`, `/api/theory`, `/api/move`: about a text. `PUT /api/scenarios/NAME.toml`: saves
one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .. import _core
from ..data.diagnostic import ScenarioError
from ..data.files import write_whole
from .bodies import json_body, number_of, text_of
from .checking import check, scenario_in, units
from .desk import Desk
from .floor_plan import moved, moved_away, places_of
from .library import Library, Unknown, key_of
from .scenario_text import scenario_text
from .toml_text import path_of

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,80}\.toml")
MOVABLE = re.compile(r"bss\.\d{1,5}\.ap|station\.\d{1,5}|interferer\.\d{1,5}|wall\.\d{1,5}")


def routes(desk: Desk) -> list[Route]:
    """Returns the routes of this part of the page."""
    library = desk.library

    def about_text(answer: Callable[[dict[str, Any], Library], Any]) -> Callable[[Request], Awaitable[JSONResponse]]:
        async def answered(request: Request) -> JSONResponse:
            body = await json_body(request)
            return JSONResponse(await run_in_threadpool(answer, body, library))

        return answered

    async def schema(_request: Request) -> Response:
        return Response(_schema(), media_type="application/json", headers={"Cache-Control": "max-age=600"})

    async def registry(_request: Request) -> Response:
        return Response(_registry(), media_type="application/json", headers={"Cache-Control": "max-age=600"})

    async def text(request: Request) -> JSONResponse:
        return JSONResponse(await run_in_threadpool(scenario_text, library, request.path_params["name"]))

    async def save(request: Request) -> JSONResponse:
        body = await json_body(request)
        return JSONResponse(await run_in_threadpool(_saved, request.path_params["name"], body, library))

    return [
        Route("/api/schema", schema),
        Route("/api/registry", registry),
        Route("/api/check", about_text(_checked), methods=["POST"]),
        Route("/api/theory", about_text(_theory), methods=["POST"]),
        Route("/api/move", about_text(_moved), methods=["POST"]),
        Route("/api/scenarios/{name}", text, methods=["GET"]),
        Route("/api/scenarios/{name}", save, methods=["PUT"]),
    ]


@cache
def _schema() -> str:
    return _core.schema_json()


@cache
def _registry() -> str:
    return _core.list_json()


def folder_of(body: dict[str, Any], library: Library) -> Path:
    """The folder of a text's files: the folder of the entry in `from`, else the first directory of the page."""
    key = text_of(body, "from", "")
    if not key:
        return library.home()
    try:
        path = library.entry(key).path
    except Unknown:
        return library.home()
    return path if path.is_dir() else path.parent


def _checked(body: dict[str, Any], library: Library) -> dict[str, Any]:
    answer = check(text_of(body, "text"), folder_of(body, library), library)
    answer["places"] = places_of(answer["resolved"]) if answer["resolved"] else None
    return answer


def _theory(body: dict[str, Any], library: Library) -> Any:
    """The closed forms, or the reason for their absence."""
    try:
        resolved = scenario_in(text_of(body, "text"), folder_of(body, library), library).looked_at()
        return json.loads(_core.theory_json(resolved))
    except ScenarioError as error:
        return {"rows": [], "why": error.message}


def _moved(body: dict[str, Any], library: Library) -> dict[str, Any]:
    """The edits that move `path` to `x` and `y`, or to a `distance`; `end` is the end of a wall."""
    text, path = text_of(body, "text"), text_of(body, "path")
    end = text_of(body, "end", "")
    if not MOVABLE.fullmatch(path) or end not in ("", "from", "to"):
        raise ValueError(f"path: {path!r} cannot be moved")
    try:
        scenario_in(text, folder_of(body, library), library).looked_at()
    except ScenarioError:
        raise ValueError("correct the mistake in the text first") from None
    if "distance" in body:
        edits = moved_away(text, path_of(path), abs(number_of(body, "distance")))
    else:
        edits = moved(text, path_of(path), (number_of(body, "x"), number_of(body, "y")), end or None)
    return {
        "edits": [{"from": units(text, edit.begin), "to": units(text, edit.end), "insert": edit.text} for edit in edits]
    }


def _saved(name: str, body: dict[str, Any], library: Library) -> dict[str, Any]:
    if not NAME.fullmatch(name) or ".." in name:
        raise ValueError(f"{name!r}: must be a plain name of letters, digits, - and _, ending in .toml")
    text = text_of(body, "text")
    home = library.home()
    file = home / name
    if not library.is_within(file) or not os.access(home, os.W_OK):
        raise HTTPException(403, f"{name}: cannot be written below the directories that this page was opened for")
    if file.exists() and body.get("replace") is not True:
        raise HTTPException(409, f"{name} exists already; confirm to replace it, or choose another name")
    if file.is_dir():
        raise HTTPException(422, f"{name} is a directory; choose another name")
    try:
        write_whole(file, [text])
    except OSError as error:
        raise HTTPException(507, f"{name}: {error.strerror}") from None
    return {"key": key_of(file), "place": name}
