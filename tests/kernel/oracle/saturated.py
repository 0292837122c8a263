"""Saturated cells: uploads of up to thirty stations by the Wi-Fi stack of a kernel, beside the simulated ones.

`saturated.py [NAME...]` runs these cells, or all, on both sides, and the first seed of the kernel twice, the second time beside two busy loops; it
keeps the results in recorded/SERIES/cells.json. It needs a kernel of `lasthop emulate --build-kernel --wifi` with the patch of kernel/patches.
"""

from __future__ import annotations

import datetime
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import lasthop
from lasthop.kernel.emulation import find_kernel
from versions import kept_file

SEEDS = 3
WARMUP_S, DURATION_S = 1, 3
# mac80211 has queues with FQ-CoDel at each node, above them TCP with small queues. The more stations of a kernel there are, the later are packets:
# with thirty at MCS 7, 99 in 100 are in time for 1.04 ms only, so that the run is not valid. Rare beacons make it less.
SCENARIO = """\
name = "cell"
duration = "{duration} s"
warmup = "{warmup} s"

[channel]
path_loss = "none"

[bss]
standard = "802.11n"
channel = 36
guard_interval = "long"
rate_control = {rate_control}
beacons = "1024 ms"
ap.driver = {{ packets = "128 packets" }}

[[station]]
count = {stations}
driver = {{ packets = "128 packets" }}
queue = "airtime_fq_codel"

[wired]
rate = "1 Gbit/s"
delay = "5 ms"

[[flow]]
station = "*"
direction = "up"
"""
# minstrel_ht's file in debugfs that gives all frames of a radio one rate; a guest shows those of all radios.
FIXED = """
[[flow]]
name = "rate"
station = "sta1"
direction = "up"
application = {{ kind = "command", client = "D=/sys/kernel/debug; mount -t debugfs none $D; \
for file in $D/ieee80211/*/rc/fixed_rate_idx; do echo {mcs} > $file; done" }}
"""
STACK = '\n[emulation]\nwifi_stack = "kernel"\n'


@dataclass(frozen=True)
class Cell:
    """A cell."""

    stations: int
    mcs: int | None
    """All frames have this rate; without one minstrel_ht chooses."""

    def text(self, side: str) -> str:
        """The scenario."""
        is_fixed = self.mcs is not None
        rate_control = f'{{ kind = "fixed", mcs = {self.mcs} }}' if is_fixed else '"minstrel_ht"'
        text = SCENARIO.format(duration=DURATION_S, warmup=WARMUP_S, stations=self.stations, rate_control=rate_control)
        if side == "ours":
            return text
        return text + (FIXED.format(mcs=self.mcs) if is_fixed else "") + STACK


CELLS = {
    "10 stations, MCS 7": Cell(10, 7),
    "20 stations, MCS 7": Cell(20, 7),
    "30 stations, minstrel_ht": Cell(30, None),
}


@dataclass(frozen=True)
class Run:
    """A run of one seed, after the warm-up."""

    seed: int
    goodput_bps: float
    collision_probability: float
    """of an attempt"""
    data_airtime: float
    """of all stations"""
    mean_data_rate_bps: float
    mpdus: float
    """of an A-MPDU with data"""
    associated: int
    digest: str | None
    """over all that reached a host of the kernel's; none for the simulation"""


def runs(side: str, cell: Cell, seeds: range) -> tuple[list[Run], float]:
    """Runs of a cell by the kernel or by the simulation, and the seconds of processors that each second of them took."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder, "cell.toml"), Path(folder, "out")
        file.write_text(cell.text(side))
        found, before = [], _cpu_s()
        for seed in seeds:
            command = "emulate" if side == "kernel" else "run"
            called = (sys.executable, "-m", "lasthop", command, file, "--seed", str(seed), "--out", out)
            ended = subprocess.run(called, capture_output=True, text=True, check=False)
            if ended.returncode != 0:
                raise RuntimeError(f"by the {side}: {ended.stderr.strip()}")
            found += [_run(told) for told in lasthop.read(out).told_runs]
        return found, (_cpu_s() - before) / (len(seeds) * DURATION_S)


@contextmanager
def busy() -> Iterator[None]:
    """Two processes that compute for nothing."""
    loops = [subprocess.Popen((sys.executable, "-c", "while True: pass")) for _ in range(2)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(told: dict[str, Any]) -> Run:
    up = [link for link in told["links"] if link["node"] != "ap" and link["frames_sent"]]
    sent = sum(link["frames_sent"] for link in up)
    simulator = told["simulator"]
    return Run(
        told["seed"],
        told["totals"]["goodput_bps"],
        told["medium"]["collision_probability"],
        sum(link["airtime_fraction"] for link in up),
        sum(link["mean_data_rate_bps"] * link["frames_sent"] for link in up) / sent,
        sum(link["mpdus_per_ampdu_mean"] * link["frames_sent"] for link in up) / sent,
        len(simulator.get("associations", [])),
        simulator.get("digest"),
    )


def main(names: list[str]) -> None:
    """Runs cells on both sides and keeps the results."""
    kernel = find_kernel(os.environ.get("LASTHOP_KERNEL", "own"), wifi=True)
    if not kernel.holds_back:
        raise SystemExit(f"{kernel.path} was built without the patch of kernel/patches")
    file = kept_file("cells", kernel.version)
    kept = json.loads(file.read_text()) if file.exists() else {"cells": {}}
    kept |= {"kernel": kernel.version, "date": str(datetime.date.today())}
    for name in names or CELLS:
        theirs, cpu_s = runs("kernel", CELLS[name], range(1, SEEDS + 1))
        ours, _ = runs("ours", CELLS[name], range(1, SEEDS + 1))
        with busy():
            (again,), _ = runs("kernel", CELLS[name], range(1, 2))
        cell = {"kernel": [asdict(it) for it in theirs], "ours": [asdict(it) for it in ours]}
        kept["cells"][name] = cell | {"cpu_s_per_s": cpu_s, "again": asdict(again)}
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(kept, indent=1) + "\n")
        sys.stdout.write(f"{name}: {cpu_s:.2f} s of processors for a second\n")
        for run in (*theirs, again, *ours):
            sys.stdout.write(f"  {run}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
