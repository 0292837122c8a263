"""The receive window that grows by itself, of a kernel and of the `linux` profile over the same air.

Both carry the download of download.toml. The windows that the station offers stand in the server's capture; how they
grew is kept in recorded/SERIES/windows.json.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy
import versions
from capture import sent_by
from lasthop.kernel.emulation import find_kernel

HERE = Path(__file__).parent
SCENARIO = HERE / "download.toml"
STATION = "10.1.0.2"
SIDES = ("kernel", "profile")


@dataclass(frozen=True)
class Window:
    """How the window of a receiver grew."""

    offered_bytes: int
    """in the SYN"""
    after_flight_bytes: int
    """once the first ten segments have come"""
    final_bytes: int
    half_s: float
    """when half of the final window was first offered"""
    full_s: float
    """when 99 % of it was"""
    steps: int
    """how often it grew"""


@contextmanager
def captured(side: str, kernel: str, seed: int) -> Iterator[Path]:
    """The server's capture of a run."""
    command = "emulate" if side == "kernel" else "run"
    on = ("--kernel", kernel) if side == "kernel" else ()
    with tempfile.TemporaryDirectory() as folder:
        kept = ("--seed", str(seed), "--pcap", folder)
        told = [part for text in versions.settings(kernel) for part in ("--set", text)]
        called = (sys.executable, "-m", "lasthop", command, SCENARIO, *on, *told, *kept)
        ended = subprocess.run(called, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise RuntimeError(f"the {side}: {ended.stderr.strip()}")
        yield Path(folder) / "server.pcapng"


def window(capture: Path) -> Window:
    """What the station offers."""
    offers = [(segment.at_ns / 1e9, offered) for segment, offered in sent_by(capture, STATION)]
    final = max(offered for _, offered in offers)
    began = min(at for at, _ in offers)
    first = {share: next(at - began for at, offered in offers if offered >= share * final) for share in (0.5, 0.99)}
    # A window that is offered again is greater than all before it; in between it shrinks by unread data.
    greatest = numpy.maximum.accumulate([offered for _, offered in offers])
    steps = int(numpy.count_nonzero(numpy.diff(greatest)))
    return Window(offers[0][1], offers[10][1], final, first[0.5], first[0.99], steps)


def compare(kernel: str, seed: int) -> dict[str, Window]:
    """The windows of both sides."""
    found = {}
    for side in SIDES:
        with captured(side, kernel, seed) as capture:
            found[side] = window(capture)
    return found


def main() -> None:
    """Compares and keeps what came of it."""
    name = os.environ.get("LASTHOP_KERNEL", "own")
    found = compare(name, seed=1)
    told = {
        "kernel": find_kernel(name).version,
        "date": str(datetime.date.today()),
        "windows": {side: asdict(it) for side, it in found.items()},
    }
    file = versions.kept_file("windows", told["kernel"])
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(told, indent=1) + "\n")
    sys.stdout.write("".join(f"{side}: {it}\n" for side, it in found.items()))


if __name__ == "__main__":
    main()
