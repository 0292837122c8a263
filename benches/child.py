"""Runs one command and says what it cost: CPU time and peak memory as the kernel accounts for that process alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
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
    """Runs `command` to its end; its standard output and error come back as one text.

    A small process of its own starts it and waits for it: Linux counts what a process holds when it starts another as if
    that had held it.
    """
    with TemporaryFile("w+", errors="replace") as output, NamedTemporaryFile("r") as told:
        launcher = [sys.executable, "-I", "-S", __file__, told.name, *map(str, command)]
        process = subprocess.Popen(
            launcher, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            process.wait()
        except BaseException:
            process.terminate()
            raise
        output.seek(0)
        text = output.read()
        answer = told.read()
    status, *used = json.loads(answer) if answer else (process.returncode, 0, 0, 0)
    if status != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit status {status}: {text.strip()[-500:]}")
    return Usage(*used, text)


def _launch(told: str, command: Sequence[str]) -> None:
    """Runs `command` and writes its exit status, CPU time, time on the clock and peak memory to the file `told`."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    started = time.perf_counter()
    process = subprocess.Popen(command)
    try:
        _, status, used = os.wait4(process.pid, 0)
    except BaseException:
        process.kill()
        raise
    wall_s = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    usage = [process.returncode, used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss * KIB]
    Path(told).write_text(json.dumps(usage), encoding="utf-8")


def note(message: str) -> None:
    """Says what is being done, aside from the tables."""
    sys.stderr.write(f"bench: {message}\n")


def printed(text: str, name: str) -> list[float]:
    """The numbers on the lines `name number` of a simulator's output."""
    words = (line.split() for line in text.splitlines())
    return [float(line[1]) for line in words if len(line) == 2 and line[0] == name]


if __name__ == "__main__":
    _launch(sys.argv[1], sys.argv[2:])
