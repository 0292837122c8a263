"""Serves the page until Ctrl-C."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from .app import make
from .desk import Desk
from .guard import own_names
from .library import Library


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at `host` and `port`; port 0 takes a free one. Raises `OSError` on failure."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(128)
    except OSError:
        opened.close()
        raise
    return opened


def address_of(host: str, port: int, token: str | None) -> str:
    """The address of the page for a browser."""
    shown = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")


def serve(
    roots: list[Path],
    at: socket.socket,
    host: str,
    token: str | None,
    announce: Callable[[str], None],
    *,
    opens: bool,
    allows_code: bool = False,
) -> None:
    """Serves the files below `roots` at a listening socket until Ctrl-C, which raises `KeyboardInterrupt`.

    `announce` receives the address; early requests wait. `opens`: whether a browser opens it; `allows_code`: whether
    scenarios may have commands.
    """
    port = at.getsockname()[1]
    address = address_of(host, port, token)
    desk = Desk(Library(roots, allows_code=allows_code))
    config = uvicorn.Config(
        make(desk, own_names(host, port), token),
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    desk.is_ending = lambda: server.should_exit

    announce(address)
    if opens:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    try:
        server.run(sockets=[at])
    finally:
        desk.close()
