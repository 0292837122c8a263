"""Rate control: minstrel_ht of mac80211 beside ours, over ten links of the same air.

`links.py [NAME...]` runs these links, or all, by the Wi-Fi stack of a kernel in virtual time and by the simulation, each under the
seeds 1 to SEEDS, and keeps what it found in recorded/SERIES/links.json. It needs a kernel of `lasthop emulate --build-kernel --wifi`.
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
from lasthop.kernel.emulation import find_kernel
from versions import kept_file

SEEDS = 5
WARMUP_S = 1.5
DATA = ("A-MPDU", "data")
SCENARIO = """\
name = "link"
duration = "{duration_s} s"
warmup = "{warmup_s} s"

[channel]
path_loss = "log_distance"
error_model = "nist"
{channel}

[bss]
standard = "{standard}"
channel = 36
guard_interval = "long"
rate_control = "minstrel_ht"
ap.queue = "airtime_fq_codel"
ap.driver = {{ packets = "128 packets" }}
ap.airtime = "estimate"
{bss}

[[station]]
name = "sta"
driver = {{ packets = "128 packets" }}
{station}

[wired]
rate = "1 Gbit/s"
delay = "5 ms"

[[flow]]
station = "*"
direction = "{direction}"
count = {flows}

[emulation]
wifi_stack = "kernel"
"""


@dataclass(frozen=True)
class Link:
    """A link, as the scenario has it."""

    station: str
    standard: str = "802.11n"
    bss: str = ""
    channel: str = ""
    direction: str = "down"
    flows: int = 4
    duration_s: float = 4.5

    def text(self) -> str:
        """The scenario."""
        text = SCENARIO.format(**asdict(self), warmup_s=WARMUP_S)
        return text.replace('guard_interval = "long"\n', "") if self.standard == "802.11a" else text


def at(distance_m: float, **more: Any) -> Link:
    """A link of this length."""
    return Link(f'distance = "{distance_m} m"', **more)


LINKS = {
    "20 m": at(20),
    "28 m": at(28),
    "36 m": at(36),
    "48 m": at(48),
    "two streams": at(16, bss="spatial_streams = 2"),
    "802.11ac, 40 MHz": at(16, standard="802.11ac", bss='channel_width = "40 MHz"\nspatial_streams = 2'),
    "802.11a": at(24, standard="802.11a"),
    "a walk": Link(
        'waypoints = [["0 s", "8 m", "0 m"], ["1.5 s", "8 m", "0 m"], ["6.5 s", "44 m", "0 m"]]', duration_s=6.5
    ),
    "fading": at(16, channel='fading = { kind = "rayleigh", coherence_time = "50 ms" }', duration_s=6.5),
    "collisions": Link('distance = "10 m"\ncount = 6', direction="up", flows=1),
}


@dataclass(frozen=True)
class Run:
    """A run of one seed, after the warm-up."""

    seed: int
    goodput_bps: float
    mean_data_rate_bps: float
    """of the data frames' attempts"""
    mpdus: float
    """of an A-MPDU"""
    lost: float
    """share of MPDUs that were lost, of those sent"""
    behind_rts: float
    """share of PPDUs of data behind an RTS"""
    airtime: dict[str, float]
    """by rate: share of the airtime of PPDUs with data"""


def runs(side: str, link: Link, seeds: int = SEEDS) -> list[Run]:
    """Runs of a link by the kernel or by the simulation."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder, "link.toml"), Path(folder, "out")
        file.write_text(link.text())
        command = "emulate" if side == "kernel" else "run"
        called = (
            sys.executable,
            "-m",
            "lasthop",
            command,
            file,
            "--seeds",
            str(seeds),
            "--jobs",
            "1",
            "--record",
            "air",
            "--out",
            out,
        )
        ended = subprocess.run(called, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise RuntimeError(f"by the {side}: {ended.stderr.strip()}\n{link.text()}")
        return list(_runs(lasthop.read(out), link))


def _runs(result: Any, link: Link) -> Iterable[Run]:
    down = link.direction == "down"
    for told in result.told_runs:
        ppdus = result.recording("ppdu", told["seed"]).to_pandas()
        ppdus = ppdus[ppdus.start_ns >= WARMUP_S * 1e9]
        protected = set(ppdus[ppdus.kind == "RTS"].exchange)
        # TCP ACKs go the other way.
        data = ppdus[ppdus.kind.isin(DATA) & (ppdus.node.eq("ap") == down)]
        spent = data.groupby("rate_bps").duration_ns.sum()
        links = [it for it in told["links"] if (it["node"] == "ap") == down and it["frames_sent"]]
        sent = sum(it["frames_sent"] for it in links)
        yield Run(
            told["seed"],
            told["totals"]["goodput_bps"],
            sum(it["mean_data_rate_bps"] * it["frames_sent"] for it in links) / sent,
            float(data.mpdus.mean()),
            sum(it["mpdu_loss_fraction"] * it["frames_sent"] for it in links) / sent,
            float(data.exchange.isin(protected).mean()),
            {f"{rate / 1e6:g}": float(share) for rate, share in (spent / spent.sum()).items()},
        )


def overlap(one: dict[str, float], other: dict[str, float]) -> float:
    """The part that two distributions have in common."""
    return sum(min(share, other.get(rate, 0.0)) for rate, share in one.items())


def main(names: list[str]) -> None:
    """Runs links on both sides and keeps what they gave."""
    kernel = find_kernel(os.environ.get("LASTHOP_KERNEL", "own"), wifi=True)
    file = kept_file("links", kernel.version)
    kept = json.loads(file.read_text()) if file.exists() else {"links": {}}
    kept |= {"kernel": kernel.version, "date": str(datetime.date.today())}
    for name in names or LINKS:
        kept["links"][name] = {side: [asdict(it) for it in runs(side, LINKS[name])] for side in ("kernel", "ours")}
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(kept, indent=1) + "\n")
        sys.stdout.write(f"{name}\n")
        for side, found in kept["links"][name].items():
            for key in ("goodput_bps", "mean_data_rate_bps", "mpdus", "lost", "behind_rts"):
                sys.stdout.write(f"  {side} {key} {[round(run[key], 3) for run in found]}\n")
            sys.stdout.write(f"  {side} {found[0]['airtime']}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
