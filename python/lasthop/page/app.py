"""The routes of the page."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ..data.diagnostic import ScenarioError
from ..study.store import StoreError
from . import comparing, editing, listing, papers, reading, running
from .browser import STATIC, document
from .desk import Desk
from .guard import Guard
from .library import Gone, Unknown

# Pages with an address of their own; the browser determines their content.
PAGES = ("/", "/scenario", "/run/{run}", "/compare", "/papers", "/papers/{paper}")


def make(desk: Desk, hosts: frozenset[str] | None, token: str | None = None) -> Guard:
    """The page, guarded. `hosts` are its names with port; `token` is required of every request."""

    async def page(request: Request) -> HTMLResponse:
        """The page. For a run it also starts to read the recording while the browser loads."""
        if run := request.path_params.get("run"):
            desk.expect(run)
        return HTMLResponse(document(request.state.nonce), headers={"Cache-Control": "no-store"})

    routes: list[BaseRoute] = [Route(path, page) for path in PAGES]
    for part in (listing, editing, running, comparing, papers, reading):
        routes += part.routes(desk)
    routes.append(Mount("/static", _Modules(directory=STATIC)))
    failures: dict[Any, Any] = {
        Gone: _gone,
        Unknown: _not_found,
        LookupError: _not_found,
        ScenarioError: _refused,
        StoreError: _refused,
    }
    failures |= {ValueError: _refused, HTTPException: _http_error, Exception: _failed}
    return Guard(Starlette(routes=routes, exception_handlers=failures), hosts, token)


class _Modules(StaticFiles):
    """The browser's code, revalidated on each request, since the installed version may change."""

    def file_response(self, *positional: Any, **named: Any) -> Response:
        response = super().file_response(*positional, **named)
        response.headers["Cache-Control"] = "no-cache"
        return response


async def _not_found(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, IndexError | KeyError):  # a KeyError or IndexError is our mistake
        return await _failed(request, error)
    return JSONResponse({"error": _message(error)}, 404)


async def _gone(_request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": _message(error)}, 410)


async def _refused(_request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": _message(error)}, 422)


async def _http_error(request: Request, error: HTTPException) -> Response:
    """Answers a browser that asks for an unknown page with the page that leads back, any other request with JSON."""
    is_page = error.status_code == 404 and not request.url.path.startswith(("/api/", "/static/"))
    if is_page and "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(document(request.state.nonce), 404, headers={"Cache-Control": "no-store"})
    return JSONResponse({"error": error.detail}, error.status_code)


async def _failed(_request: Request, error: Exception) -> JSONResponse:
    """Answers an unexpected error; its traceback goes to standard error."""
    return JSONResponse({"error": f"lasthop failed here: {type(error).__name__}: {_message(error)}"}, 500)


def _message(error: Exception) -> str:
    return str(error.args[0]) if error.args else type(error).__name__
