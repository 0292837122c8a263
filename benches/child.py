"""Runs one command and says what it cost: CPU time and peak memory as the kernel accounts for that process alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

KIB = 1024


class Failed(Exception):
    """A command ended with an error; the message has its last words."""


class Usage(NamedTuple):
    """What a finished process cost: user and system time, time on the clock, peak resident memory; what it printed."""

    cpu_s: float
    wall_s: float
    peak_bytes: int
    output: str


def run(
    command: Sequence[str | Path], directory: Path | None = None, environment: Mapping[str, str] | None = None
) -> Usage:
    """Runs `command` to its end; its standard output and error come back as one text."""
    with TemporaryFile("w+", errors="replace") as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
        wall_s = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit status {process.returncode}: {text.strip()[-500:]}")
    return Usage(used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss * KIB, text)


def note(message: str) -> None:
    """Says what is being done, aside from the tables."""
    sys.stderr.write(f"bench: {message}\n")


def printed(text: str, name: str) -> list[float]:
    """The numbers on the lines `name number` of a simulator's output."""
    words = (line.split() for line in text.splitlines())
    return [float(line[1]) for line in words if len(line) == 2 and line[0] == name]
