"""The `linux` profile beside a real kernel's TCP over the same simulated air, a congestion control at a time.

Both carry the bulk flows of air.toml: the engine by its own endpoints, `lasthop emulate` by the sockets of a User Mode
Linux guest in virtual time. What is kept of a run is what `Run` says. `air.py [NAME...]` runs these controllers, or all,
and keeps what it found in recorded/SERIES/air.json.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import lasthop
import numpy
import versions
from lasthop.kernel.emulation import find_kernel

HERE = Path(__file__).parent
SCENARIO = HERE / "air.toml"
# By lasthop's names, the most used first.
CONTROLS = (
    "cubic",
    "newreno",
    "bbr",
    "htcp",
    "hstcp",
    "vegas",
    "westwood",
    "bic",
    "yeah",
    "illinois",
    "scalable",
    "dctcp",
    "dctcp_marked",
)
# DCTCP handles losses as Reno does; its second row has marks: the uploads' queues mark after waits of over 20 ms.
MARKED = "_marked"
MARKING = (
    "tcp.ecn=on",
    (
        'station.0.queue={ kind = "codel", limit = "60 packets", target = "500 ms", interval = "1 s", ecn = true, '
        'ce_threshold = "20 ms" }'
    ),
)
# A guest takes a second or more for each of its own, the engine a tenth of one for all twenty.
SEEDS = {"kernel": 10, "profile": 10}
# Interval of queries for the kernel's windows; the engine reports the mean of such an interval.
INTERVAL = "100ms"


@dataclass(frozen=True)
class Run:
    """A run of one seed, after the warm-up."""

    seed: int
    up_bps: float
    """goodput of the uploads"""
    down_bps: float
    """goodput of the download"""
    retransmitted: float
    """share of the uploads' segments that were sent again"""
    collisions: float
    """probability that an attempt collides"""
    cwnd_p50_segments: float
    """of the uploads, over time"""
    cwnd_p95_segments: float
    rtt_p50_s: float
    """of the uploads: smoothed by the kernel, or the mean of an interval"""
    rtt_p95_s: float


def run(side: str, name: str, seeds: int, kernel: str, settings: Iterable[str] = ()) -> list[Run]:
    """Runs of a control by the kernel or by the profile, for seeds 1 to `seeds`."""
    control, more = name.removesuffix(MARKED), MARKING if name.endswith(MARKED) else ()
    command = "emulate" if side == "kernel" else "run"
    on = ("--kernel", kernel, "--jobs", "1") if side == "kernel" else ()
    laid = [
        part
        for text in (f"tcp.congestion_control={control}", *more, *versions.settings(kernel), *settings)
        for part in ("--set", text)
    ]
    with tempfile.TemporaryDirectory() as folder:
        kept = ("--seeds", str(seeds), "--interval", INTERVAL, "--out", folder)
        called = (sys.executable, "-m", "lasthop", command, SCENARIO, *laid, *on, *kept)
        ended = subprocess.run(called, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise RuntimeError(f"{name} by the {side}: {ended.stderr.strip()}")
        return list(_runs(lasthop.read(folder)))


def _runs(result: Any) -> Iterable[Run]:
    warmup_s = float(str(result.scenario["warmup"]).removesuffix(" s"))
    series = result.timeseries
    series = series[(series.time_s > warmup_s) & series.entity.str.endswith(".up")]
    for told in result.told_runs:
        flows = {
            direction: [it for it in told["flows"] if it["direction"] == direction] for direction in ("up", "down")
        }
        mine = series[series.seed == told["seed"]]
        cwnd, rtt = (mine[mine.metric == metric].value.dropna() for metric in ("cwnd_segments", "rtt_s"))
        yield Run(
            told["seed"],
            sum(flow["goodput_bps"] for flow in flows["up"]),
            sum(flow["goodput_bps"] for flow in flows["down"]),
            sum(flow["segments_retransmitted"] for flow in flows["up"])
            / sum(flow["segments_sent"] for flow in flows["up"]),
            told["medium"]["collision_probability"],
            *(float(value) for value in (*numpy.quantile(cwnd, (0.5, 0.95)), *numpy.quantile(rtt, (0.5, 0.95)))),
        )


def main(names: list[str], kernel: str) -> None:
    """Runs controllers on both sides and keeps what they gave."""
    found = find_kernel(kernel)
    file = versions.kept_file("air", found.version)
    kept = json.loads(file.read_text()) if file.exists() else {"controls": {}}
    kept |= {"kernel": found.version, "hz": found.hz, "date": str(datetime.date.today())}
    for name in names or CONTROLS:
        sides = {side: [asdict(it) for it in run(side, name, seeds, kernel)] for side, seeds in SEEDS.items()}
        kept["controls"][name] = sides
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(kept, indent=1) + "\n")
        means = {
            side: sum(it["up_bps"] + it["down_bps"] for it in runs) / len(runs) / 1e6 for side, runs in sides.items()
        }
        sys.stdout.write(f"{name}: kernel {means['kernel']:.2f}, profile {means['profile']:.2f} Mbit/s\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:], os.environ.get("LASTHOP_KERNEL", "own"))
