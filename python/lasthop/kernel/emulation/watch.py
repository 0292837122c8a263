"""Waits for a guest, reports its progress, and ends one whose virtual time does not move.

A process that computes, or waits in a loop without a system call, stops virtual time, which passes only while no process
runs. From outside, a guest that has much to do looks the same for a while, so it is given some seconds of the wall's
time before mconsole is asked for its process.
"""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .error import EmulationError
from .job import GuestJob
from .mconsole import running_process

LOOK_EVERY_S = 0.2
STANDS_STILL_S = 10.0
LAST_LINES = 12
# A kernel with symbols shows registers and a call trace after this, many more lines than the last ones.
PANIC = "Kernel panic"


@dataclass(frozen=True)
class Watch:
    """How long a guest may take."""

    still_s: float = STANDS_STILL_S
    """seconds on the wall for which its virtual time may rest"""
    limit_s: float | None = None
    """so long on the wall it may run in all"""
    progress: Callable[[float], None] = lambda _virtual_s: None
    """receives the virtual time, in seconds, whenever it has moved"""
    _stopped: threading.Event = field(default_factory=threading.Event, init=False, repr=False, compare=False)

    def stop(self) -> None:
        """Ends the guest soon, from another thread; who waits for it gets an `EmulationError`."""
        self._stopped.set()

    def wait(self, guest: subprocess.Popen[bytes], job: GuestJob, console_directory: Path) -> int:
        """Returns the guest's exit status; raises `EmulationError` if its time stops, if it takes too long or is stopped."""
        began = moved = time.monotonic()
        virtual_s: float | None = None
        ending = os.pidfd_open(guest.pid)
        try:
            poll = select.poll()
            poll.register(ending, select.POLLIN)
            while not poll.poll(LOOK_EVERY_S * 1000):
                if self._stopped.is_set():
                    raise EmulationError("the guest was ended before it was done")
                now = time.monotonic()
                told_s = job.virtual_time_s()
                if told_s != virtual_s and told_s is not None:
                    virtual_s, moved = told_s, now
                    self.progress(told_s)
                if virtual_s is not None and now - moved > self.still_s:
                    raise _stands_still(virtual_s, now - moved, console_directory, job)
                if self.limit_s is not None and now - began > self.limit_s:
                    raise EmulationError(_too_long(now - began, virtual_s), last_lines(job.console))
        finally:
            os.close(ending)
        return guest.wait()


def last_lines(console: Path) -> str:
    """Returns the guest's last output, up to the reason of a panic."""
    try:
        lines = console.read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    end = next((number for number, line in enumerate(lines, 1) if line.startswith(PANIC)), len(lines))
    return "\n".join(lines[:end][-LAST_LINES:])


def _stands_still(virtual_s: float, still_s: float, console_directory: Path, job: GuestJob) -> EmulationError:
    log = last_lines(job.console)
    running = running_process(console_directory)
    what = f"virtual time has stood still at {virtual_s:.3f} s for {still_s:.0f} s"
    if running is None:
        return EmulationError(f"{what}, and the guest does not say what it runs", log)
    pid, name = running
    return EmulationError(
        f"{what}: process {pid} ({name}) runs in the guest and never waits; virtual time passes only while all wait",
        log,
    )


def _too_long(wall_s: float, virtual_s: float | None) -> str:
    reached = "before it reported its virtual time" if virtual_s is None else f"at {virtual_s:.3f} s of virtual time"
    return f"the guest was ended after {wall_s:.0f} s, {reached}: raise the limit, or ask for less"
