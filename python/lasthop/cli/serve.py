"""`lasthop serve`: the page, in a browser on this machine."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..data.extras import lacks
from ._mistake import Mistake
from ._output import note, show

PORT = 8722
LOCAL = ("127.0.0.1", "::1", "localhost")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop serve`."""
    parser.add_argument(
        "places",
        metavar="DIR|RESULT|STORE",
        nargs="*",
        help="directories and files that the page shows and may read (default: this directory)",
    )
    parser.add_argument(
        "--port", type=_port, default=PORT, help=f"port to listen on (default {PORT}; 0 takes a free one)"
    )
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="address to listen on (default 127.0.0.1); any other needs --token",
    )
    parser.add_argument("--token", help="secret that requests must carry, at least 16 characters")
    parser.add_argument(
        "--allow-code",
        action="store_true",
        help="also accept scenarios that contain commands or code, which are programs; no command starts yet",
    )
    parser.add_argument("--open", action="store_true", help="open a browser with the page")


def execute(arguments: argparse.Namespace) -> int:
    """Checks everything, then serves until Ctrl-C."""
    if reason := lacks("page"):
        raise Mistake(f"the page {reason}")
    _check_reach(arguments.host, arguments.token)
    roots = [_place(place) for place in arguments.places or ["."]]
    from ..page.serving import listening, serve

    try:
        opened = listening(arguments.host, arguments.port)
    except OSError as error:
        raise Mistake(
            f"--port {arguments.port}: {error.strerror or error}; choose another with --port, or 0 for any"
        ) from None
    with opened:
        serve(
            roots,
            opened,
            arguments.host,
            arguments.token,
            _tell,
            opens=arguments.open,
            allows_code=arguments.allow_code,
        )
    return 0


def _tell(address: str) -> None:
    show(f"{address}\n")
    note("Ctrl-C ends it")


def _check_reach(host: str, token: str | None) -> None:
    if host not in LOCAL and token is None:
        raise Mistake(f"--host {host}: others can reach that address; protect it with --token")
    if token is not None and (len(token) < 16 or not token.isascii() or not token.isalnum()):
        raise Mistake("--token: at least 16 letters and digits are needed, e.g. those of `openssl rand -hex 16`")


def _place(given: str) -> Path:
    path = Path(given)
    if "\0" in given or not path.exists():
        raise Mistake(f"{given!r}: no such file or directory")
    return path


def _port(text: str) -> int:
    try:
        port = int(text)
    except ValueError:
        port = -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; a whole number from 0 to 65535")
    return port
