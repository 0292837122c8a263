"""Queues of stations: mac80211's TXQs beside ours, at an access point with two fast stations and a slow one.

`txqs.py [NAME...]` runs these cases, or all, by the Wi-Fi stack of a kernel in virtual time and by the model's, each under the seeds 1 to
SEEDS and below the same kernel's TCP, and keeps the results in recorded/SERIES/txqs.json. It needs a kernel of `lasthop emulate --build-kernel --wifi`
with the patch of kernel/patches, whose radios take 128 frames of a category from mac80211; ours has hardware of as many packets.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import lasthop
from lasthop.kernel.emulation import find_kernel
from versions import kept_file

SEEDS = 4
WARMUP_S, DURATION_S, WIRE_S = 2, 8, 0.001
FAST_MCS, SLOW_MCS = 7, 1
SCENARIO = """\
name = "txqs"
duration = "{duration} s"
warmup = "{warmup} s"

[channel]
path_loss = "none"

[bss]
standard = "802.11n"
channel = 36
guard_interval = "long"
ap.queue = {queue}
ap.driver = {{ packets = "128 packets" }}

[[station]]
name = "fast"
count = 2
driver = {{ packets = "128 packets" }}
rate_control = {{ kind = "fixed", mcs = {fast} }}

[[station]]
name = "slow"
driver = {{ packets = "128 packets" }}
rate_control = {{ kind = "fixed", mcs = {slow} }}

[tcp]
ecn = "off"

[wired]
rate = "1 Gbit/s"
delay = "1 ms"

[[flow]]
station = "*"
direction = "down"
count = 4
{commands}
"""
# A station that supports a single MCS leaves minstrel_ht no choice, in either direction. [wpa_supplicant.conf(5), ht_mcs]
RATE = """
[[flow]]
name = "rate"
station = "{station}"
direction = "down"
application = {{ kind = "command", client = "W='wpa_cli -p /run/lasthop/{station} -i wlan0'; \
$W set_network 0 ht_mcs '\\"{mask} 00 00 00 00 00 00 00 00 00\\"'; $W reassociate" }}
"""
# Files of debugfs say what mac80211 does, and count what its TXQs drop.
LOOK = """
[[flow]]
name = "look"
station = "fast1"
direction = "down"
application = {{ kind = "command", client = "D=/sys/kernel/debug; mount -t debugfs none $D; cd $D/ieee80211/lasthop0; {settings} \
sleep {warmup}; cat netdev:wlan0/stations/*/aqm; echo after; sleep {rest}; cat netdev:wlan0/stations/*/aqm" }}

[emulation]
wifi_stack = "kernel"
"""


@dataclass(frozen=True)
class Case:
    """A scheduler under both names."""

    settings: str
    """lines of a shell that write into debugfs"""
    ours: str
    """the queue of the access point"""

    def text(self, side: str) -> str:
        """The scenario."""
        commands = self._commands() if side == "kernel" else ""
        return SCENARIO.format(
            duration=DURATION_S,
            warmup=WARMUP_S,
            queue=self.ours,
            fast=FAST_MCS,
            slow=SLOW_MCS,
            commands=commands,
        )

    def _commands(self) -> str:
        stations = {"fast1": FAST_MCS, "fast2": FAST_MCS, "slow": SLOW_MCS}
        rates = (RATE.format(station=name, mask=f"0x{1 << mcs:02x}") for name, mcs in stations.items())
        # A little before the end of the run, since programs end with it.
        rest = DURATION_S - WARMUP_S - 0.05
        return "".join(rates) + LOOK.format(settings=self.settings, warmup=WARMUP_S, rest=rest)


CASES = {
    "airtime, AQL": Case("", '"airtime_fq_codel"'),
    "airtime, no AQL": Case("echo 0 > aql_enable;", '{ kind = "airtime_fq_codel", aql = false }'),
    "in turn, no AQL": Case("echo 0 > aql_enable; echo 0 > airtime_flags;", '"fq_mac"'),
}


@dataclass(frozen=True)
class Run:
    """A run of one seed, after the warm-up."""

    seed: int
    goodput_bps: float
    slow_share: float
    """of the airtime of the access point's data: that to the slow station"""
    fast_p95_s: float
    """delay of packets from the server to a fast station without the wire's, 95th percentile"""
    slow_p95_s: float
    drops: int
    """by the access point's queue"""


def runs(side: str, case: Case, seeds: int = SEEDS) -> list[Run]:
    """Runs of a case by the Wi-Fi stack of the kernel or of the model."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder, "txqs.toml"), Path(folder, "out")
        file.write_text(case.text(side))
        called = (sys.executable, "-m", "lasthop", "emulate", file, "--seeds", str(seeds), "--jobs", "1", "--out", out)
        ended = subprocess.run(called, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise RuntimeError(f"by the {side}: {ended.stderr.strip()}")
        return list(_runs(lasthop.read(out), out if side == "kernel" else None))


def _runs(result: Any, out: Path | None) -> Iterator[Run]:
    for told in result.told_runs:
        airtime = {it["peer"]: it["airtime_fraction"] for it in told["links"] if it["node"] == "ap"}
        p95 = {node["name"]: node["latency_down_p95_s"] for node in told["nodes"]}
        drops = told["nodes"][0]["queue_drops"]
        if out is not None:
            (said,) = (out / "programs" / f"seed-{told['seed']}").glob("fast1.look.client.out")
            before, _, after = said.read_text().partition("after")
            drops = dropped(after) - dropped(before)
        yield Run(
            told["seed"],
            told["totals"]["goodput_bps"],
            airtime["slow"] / sum(airtime.values()),
            mean(p95[name] for name in ("fast1", "fast2")) - WIRE_S,
            p95["slow"] - WIRE_S,
            drops,
        )


def dropped(aqm: str) -> int:
    """The packets that TXQs have dropped, by files named aqm: TID, category, backlog in bytes and packets, new flows, drops."""
    return sum(int(row) for row in re.findall(r"^\d+ \d+ \d+ \d+ \d+ (\d+) .*RUN", aqm, re.MULTILINE))


def main(names: list[str]) -> None:
    """Runs cases on both sides and keeps the results."""
    kernel = find_kernel(os.environ.get("LASTHOP_KERNEL", "own"), wifi=True)
    if not kernel.holds_back:
        raise SystemExit(f"{kernel.path} was built without the patch of kernel/patches")
    file = kept_file("txqs", kernel.version)
    kept = json.loads(file.read_text()) if file.exists() else {"cases": {}}
    kept |= {"kernel": kernel.version, "date": str(datetime.date.today())}
    for name in names or CASES:
        kept["cases"][name] = {side: [asdict(it) for it in runs(side, CASES[name])] for side in ("kernel", "ours")}
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(kept, indent=1) + "\n")
        for side, found in kept["cases"][name].items():
            for key in ("goodput_bps", "slow_share", "fast_p95_s", "slow_p95_s", "drops"):
                sys.stdout.write(f"{name}, {side}, {key}: {[round(run[key], 4) for run in found]}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
