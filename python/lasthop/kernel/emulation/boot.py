"""Boots a guest: User Mode Linux with the host's root, one program as its PID 1, one seed.

The guest runs in a sandbox (`sandbox.py`), which ends with the caller and keeps chance away. Its command line and environment
(`command_line.py`) are the same for each job.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .command_line import NAME, arguments, environment
from .error import EmulationError
from .job import GuestJob
from .kernel import Kernel
from .watch import Watch, last_lines

# The kernel's message when its PID 1 has ended.
LEFT_ALONE = "Attempted to kill init!"
SANDBOX = Path(__file__).with_name("sandbox.py")


@dataclass(frozen=True)
class Ended:
    """A guest that has switched itself off."""

    wall_s: float
    """from its start to its end, by the host's clock"""
    virtual_s: float | None
    """its last virtual time, if it reported any"""


def boot(kernel: Kernel, job: GuestJob, seed: int, watch: Watch | None = None) -> Ended:
    """Runs the job's program in a guest until it switches the guest off.

    Raises `EmulationError` if the guest cannot be started, panics, ends with another status than 0, which its program
    can set by `/proc/exitcode`, or runs longer than `watch` allows. Nothing of the guest is left then, nor after
    `kill -9` of the caller.
    """
    job.write_launcher()
    began = time.monotonic()
    with job.console.open("wb") as console, _started(kernel, job, seed, console.fileno()) as guest:
        try:
            status = (watch or Watch()).wait(guest, job, job.directory / NAME)
        finally:
            guest.terminate()
    if status != 0:
        raise EmulationError(_why(status, kernel, job), last_lines(job.console))
    return Ended(time.monotonic() - began, job.virtual_time_s())


def _started(kernel: Kernel, job: GuestJob, seed: int, console: int) -> subprocess.Popen[bytes]:
    _clear(job.directory / NAME)
    program = (*environment(kernel, job), str(kernel.path), *arguments(kernel, job, seed))
    command = (sys.executable, "-I", "-S", str(SANDBOX), str(os.getpid()), *program)
    try:
        return subprocess.Popen(command, cwd=job.directory, stdin=subprocess.DEVNULL, stdout=console, stderr=console)
    except OSError as error:
        raise EmulationError(f"{job.directory}: no guest can be started here: {error.strerror}") from error


def _why(status: int, kernel: Kernel, job: GuestJob) -> str:
    if LEFT_ALONE in job.console.read_text(errors="replace"):
        return f"{job.program[0]} ended without switching the guest off"
    return f"{kernel.path} ended with status {status} before {job.program[0]} switched the guest off"


def _clear(left: Path) -> None:
    """Removes the socket and the number of a guest that was killed here; the number would seem to be in use."""
    for name in ("mconsole", "pid"):
        (left / name).unlink(missing_ok=True)
