"""What tests of emulation share: a scenario, what a machine must have, and what a run may leave behind."""

from __future__ import annotations

import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lasthop.kernel.emulation import EmulationError, Kernel, find_kernel
from lasthop.kernel.emulation.command_line import PRELOAD

TUN = Path("/dev/net/tun")
NOBODY = 65534
# The interpreter for programs that other users start; that of a virtual environment may be in a place they cannot read.
PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
# PTRACE_TRACEME, and users and a network of its own, each in a process of its own.
PTRACE_WORKS = "import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(0, 0, None, None) != 0)"
NAMESPACES_WORK = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x10000000 | 0x40000000) != 0)"

# Two uploads over 802.11g at its highest rate, without a distance, which would cause a warning.
CELL = """\
name = "cell"
duration = "1500 ms"
warmup = "500 ms"

[bss]
standard = "802.11g"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }

[[station]]
count = 2

[wired]
rate = "100 Mbit/s"
delay = "10 ms"

[tcp]
congestion_control = "cubic"
"""
UPLOADS = f'{CELL}\n[[flow]]\nstation = "*"\ndirection = "up"\n'


def kernel_or_skip(choice: str = "own", *, wifi: bool = False) -> Kernel:
    """The kernel of that kind on this machine, or the reason why there is none; with `wifi` one with a Wi-Fi stack."""
    try:
        kernel = find_kernel(choice, wifi=wifi)
    except EmulationError as error:
        pytest.skip(error.sentence)
    if not kernel.time_travel and not PRELOAD.exists():
        pytest.skip(f"{PRELOAD} was not built")
    if not _works(PTRACE_WORKS):
        pytest.skip("processes cannot be traced here, which User Mode Linux does")
    return kernel


def some_kernel_or_skip() -> Kernel:
    """Any kernel of this machine for virtual time, our own before the distribution's."""
    try:
        find_kernel("own")
    except EmulationError:
        return kernel_or_skip("stock")
    return kernel_or_skip("own")


def is_from(version: str, major: int, minor: int) -> bool:
    """Whether a kernel's version, such as 6.12.117, is no earlier than that."""
    return tuple(int(number) for number in version.split(".")[:2]) >= (major, minor)


def real_time_or_skip() -> None:
    """Skips with the reason why this user cannot emulate in real time here."""
    if sys.platform != "linux":
        pytest.skip("network namespaces are Linux's")
    if not os.access(TUN, os.R_OK | os.W_OK):
        pytest.skip(f"{TUN} cannot be opened")
    if not _works(NAMESPACES_WORK):
        pytest.skip("no namespaces can be made here")


def emulate(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What came of the command."""
    line = [sys.executable, "-m", "lasthop", "emulate", *map(str, arguments)]
    env = {**os.environ, **environment}
    return subprocess.run(line, cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False)


def runs_of(file: Path) -> list[dict[str, Any]]:
    """The runs of a result, less the one thing in which two may differ."""
    runs = json.loads(file.read_text())["runs"]
    for run in runs:
        del run["simulator"]["wall_s"]
    return runs


@functools.cache
def _works(program: str) -> bool:
    return subprocess.run((sys.executable, "-c", program), check=False).returncode == 0


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many processes that compute for nothing."""
    loops = [subprocess.Popen((sys.executable, "-c", "while True: pass")) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Traces:
    """What is seen of emulated runs from outside: processes that a directory is the mark of, interfaces, and named namespaces.

    A namespace without a name ends with the last process that is in it or holds a descriptor of it. Its number tells nothing
    afterwards, as the next that anybody makes may have the same.
    """

    def __init__(self, directory: Path) -> None:
        self._mark = os.fsencode(directory)
        self._before = interfaces() | named_namespaces()

    def processes(self) -> list[int]:
        """Those that run in the directory, or have it in their command line or environment."""
        numbers = (int(folder.name) for folder in Path("/proc").glob("[0-9]*"))
        return [number for number in numbers if number != os.getpid() and self._is_marked(number)]

    def remains(self) -> list[object]:
        """What is left of runs that have ended; kernels take a moment to end a namespace with all that is in it."""
        for _ in range(50):
            left = [*self.processes(), *((interfaces() | named_namespaces()) - self._before)]
            if not left:
                break
            time.sleep(0.1)
        return left

    def _is_marked(self, process: int) -> bool:
        try:
            told = b"".join(Path(f"/proc/{process}/{file}").read_bytes() for file in ("cmdline", "environ"))
            return self._mark in told or os.fsencode(os.readlink(f"/proc/{process}/cwd")).startswith(self._mark)
        except OSError:
            return False


def interfaces() -> set[str]:
    """The network interfaces of this machine."""
    return {name for _, name in socket.if_nameindex()}


def named_namespaces() -> set[str]:
    """The namespaces that are mounted somewhere."""
    mounts = (line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines())
    return {words[3] for words in mounts if "nsfs" in words}
