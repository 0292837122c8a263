"""Calls of the scenario's code that do not return."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from ...data.diagnostic import refused

PATIENCE = "LASTHOP_PATIENCE_S"
"""the environment's number of seconds after which a call is reported as stuck"""
DEFAULT_S = "10"
LONGEST_LOOK_S = 0.5


def patience_s() -> float:
    """How long a call may take; raises `ScenarioError` if the environment has no time."""
    told = os.environ.get(PATIENCE, DEFAULT_S)
    try:
        patience = float(told)
    except ValueError:
        patience = 0.0
    if not patience > 0.0:
        raise refused(f"{PATIENCE}={told} in the environment is no number of seconds above 0", kind="invalid")
    return patience


def watch(say: Callable[[str | None], None], is_over: threading.Event) -> None:
    """Calls `say` with the place at which a call of the scenario's code is stuck, and with None on its return, until `is_over`."""
    patience = patience_s()
    seen, since, is_told = None, 0.0, False
    while not is_over.wait(min(LONGEST_LOOK_S, patience / 4)):
        call, line, file = _call_of_code()
        if call is not seen:
            if is_told:
                say(None)
            seen, since, is_told = call, time.monotonic(), False
        elif call is not None and not is_told and time.monotonic() - since > patience:
            is_told = True
            say(f"{file}:{line}: {call.f_code.co_qualname} has not returned for {patience:g} s")


@contextmanager
def watched(say: Callable[[str], None]) -> Iterator[None]:
    """Calls `say` once for each call within it that does not return."""
    is_over = threading.Event()
    thread = threading.Thread(target=watch, args=(lambda where: say(where) if where else None, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _call_of_code() -> tuple[FrameType | None, int, str]:
    """The outermost running call of the scenario's code, its current line, and its file."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    outermost, line, file = None, 0, ""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("lasthop code "):
            line = line or frame.f_lineno
            outermost, file = frame, frame.f_code.co_filename
        frame = frame.f_back
    return outermost, line, file
