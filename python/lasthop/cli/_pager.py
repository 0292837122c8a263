"""Long results in a terminal are read through a pager, as git does it: `PAGER`, else less, which gives way where all fits.

Text is printed at once into a file or a pipe, if it fits the terminal, with `--no-pager`, with `PAGER=cat` or empty, and in a
terminal that cannot move its cursor or has no size, as terminals of scripts.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..data.terminal import printable

USUAL = ("less", "more")
# Ends if the text fits one screen, shows colours, leaves the text on the screen.
LESS = "FRX"
# Status of a shell for a command that does not exist, or that cannot be run.
NOT_RUN = (126, 127)
# A prompt follows the text.
LINES_KEPT = 1

_is_wanted = True


def add_no_pager(parser: argparse.ArgumentParser) -> None:
    """--no-pager."""
    parser.add_argument("--no-pager", action="store_true", help="print long tables at once, also in a terminal")


def page_unless(unwanted: bool) -> None:
    """Whether `show_paged` may page from now on."""
    global _is_wanted  # one process is one command line
    _is_wanted = not unwanted


def show_paged(text: str) -> None:
    """Writes `text` to standard output, through a pager if it is longer than the terminal."""
    text = printable(text)
    if not _is_longer(text) or (command := _command()) is None or not _through(command, text):
        sys.stdout.write(text)
        sys.stdout.flush()


def _is_longer(text: str) -> bool:
    if not _is_wanted or not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return False
    # `shutil` would take `COLUMNS` and `LINES`, which may describe another terminal.
    columns, rows = os.get_terminal_size(sys.stdout.fileno())
    if columns == 0 or rows == 0:
        return False
    lines = sum(max(1, -(-len(line) // columns)) for line in text.splitlines())
    return lines > rows - LINES_KEPT


def _command() -> str | None:
    """The pager as a shell runs it; `None` without a pager."""
    named = os.environ.get("PAGER")
    if named is not None:
        return named if named.strip() not in ("", "cat") else None
    from shutil import which

    return next((name for name in USUAL if which(name)), None)


def _through(command: str, text: str) -> bool:
    """Whether the pager has shown `text`; false if it could not be run."""
    import subprocess

    environment = {"LESS": LESS, "LV": "-c", **os.environ}
    sys.stdout.flush()
    with _interrupts_left_to_it():
        pager = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, env=environment)
        assert pager.stdin is not None
        try:
            pager.stdin.write(text.encode(sys.stdout.encoding or "utf-8", "replace"))
            pager.stdin.close()
        except BrokenPipeError:  # its reader has seen enough
            pass
        return pager.wait() not in NOT_RUN


@contextmanager
def _interrupts_left_to_it() -> Iterator[None]:
    """Ctrl-C is the pager's, as long as it is there; a handler, unlike an ignored signal, does not pass to it."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
