"""The routes of the page, and the one document that all its pages are."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from .. import ScenarioError, StoreError, __version__
from .guard import Guard
from .jobs import Jobs
from .library import Library, Unknown

STATIC = Path(__file__).parent / "static"
# Pages with an address of their own; the browser determines their content.
PAGES = ("/", "/scenario", "/run/{run}", "/compare", "/papers", "/papers/{paper}")


@dataclass
class Desk:
    """The state that all parts of the page share."""

    library: Library
    jobs: Jobs = field(default_factory=Jobs)
    # Whether scenarios may have commands, which are programs.
    allows_code: bool = False
    # Functions to call when the page ends: called once, last first.
    at_end: list = field(default_factory=list)
    # Whether Ctrl-C came: endless streams then end.
    is_ending: Callable[[], bool] = lambda: False
    # Called for a run whose page is about to be shown.
    expect: Callable[[str], None] = lambda run: None

    def __post_init__(self) -> None:
        self.at_end.append(self.jobs.close)

    def close(self) -> None:
        """Ends what still runs."""
        while self.at_end:
            self.at_end.pop()()


def make(desk: Desk, hosts: frozenset[str] | None, token: str | None = None) -> Guard:
    """The page, guarded. `hosts`: names with port under which it is reached; `token`: what a request must carry."""
    from . import comparing, editing, listing, papers, reading, running

    async def page(request: Request) -> HTMLResponse:
        """The page; that of a run lets its recording be read while the browser still loads."""
        if run := request.path_params.get("run"):
            desk.expect(run)
        return HTMLResponse(document(request.state.nonce), headers={"Cache-Control": "no-store"})

    routes = [Route(path, page) for path in PAGES]
    for part in (listing, editing, running, comparing, papers, reading):
        routes += part.routes(desk)
    routes.append(Mount("/static", _Modules(directory=STATIC)))
    failures = {Unknown: _not_found, LookupError: _not_found, ScenarioError: _refused, StoreError: _refused}
    failures |= {ValueError: _refused, HTTPException: _http_error, Exception: _failed}
    return Guard(Starlette(routes=routes, exception_handlers=failures), hosts, token)


class _Modules(StaticFiles):
    """The browser's code, revalidated on each request, since the installed version may change."""

    def file_response(self, *given: object, **named: object) -> Response:
        response = super().file_response(*given, **named)
        response.headers["Cache-Control"] = "no-cache"
        return response


def document(nonce: str) -> str:
    """The page as it is served: its modules are found under names that do not depend on where they lie."""
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    return (
        text.replace("{{nonce}}", nonce)
        .replace("{{version}}", __version__)
        .replace("{{modules}}", json.dumps(module_map()))
    )


def modules() -> list[str]:
    """The page's own modules, by name below `static`."""
    return sorted(file.relative_to(STATIC).as_posix() for file in STATIC.glob("*.js"))


def module_map(addresses: dict[str, str] | None = None) -> dict[str, dict[str, str]]:
    """An import map: `lasthop/air.js` to where it lies, which is below /static unless `addresses` say otherwise."""
    lies = addresses or {name: f"/static/{name}" for name in modules()}
    return {"imports": {f"lasthop/{name}": address for name, address in lies.items()}}


def as_data(text: bytes, kind: str) -> str:
    """An address that holds what it leads to."""
    return f"data:{kind};base64,{base64.b64encode(text).decode()}"


async def _not_found(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, IndexError | KeyError):  # a request for something that does not exist is a mistake of ours
        return await _failed(request, error)
    return JSONResponse({"error": _said(error)}, 404)


async def _refused(_request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": _said(error)}, 422)


async def _http_error(_request: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code)


async def _failed(_request: Request, error: Exception) -> JSONResponse:
    """Answers an unexpected error; its traceback goes to standard error."""
    return JSONResponse({"error": f"lasthop failed here: {type(error).__name__}: {_said(error)}"}, 500)


def _said(error: Exception) -> str:
    return str(error.args[0]) if error.args else type(error).__name__
