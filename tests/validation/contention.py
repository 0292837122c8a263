"""What ns-3.44 gave in the cells of `cells.py` and for rate control without TCP, and the same in lasthop.

`tests/data/ns3.csv` holds the figures: cell, quantity, mean and standard deviation over seeds, seeds, seconds measured.
`ns3/contention.py` and `ns3/rate_fallback.py` made them.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import lasthop
from cells import CELLS, Cell

TABLE = Path(__file__).parents[1] / "data" / "ns3.csv"
IP_OVER_PAYLOAD = 1500 / 1472


@dataclass(frozen=True)
class Figure:
    """A mean over seeds."""

    mean: float
    deviation: float
    seeds: int

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.deviation / math.sqrt(self.seeds)


@dataclass(frozen=True)
class Comparison:
    """One quantity of a cell on both sides, and how far apart they may be."""

    quantity: str
    ours: float
    theirs: float
    allowed: float

    @property
    def agrees(self) -> bool:
        return abs(self.ours - self.theirs) <= self.allowed


@cache
def table() -> dict[str, dict[str, Figure]]:
    """Figures of ns-3 by cell and quantity."""
    cells: dict[str, dict[str, Figure]] = {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cells.setdefault(row["cell"], {})[row["quantity"]] = Figure(
                float(row["mean"]), float(row["std"]), int(row["seeds"])
            )
    return cells


def measure(cell: Cell) -> dict[str, float]:
    """Goodput of each group in Mbit/s, and the share of repeated data frames."""
    result = lasthop.run(lasthop.Scenario(cell.text(), "cell.toml"), seeds=2, interval_s=None)
    group = result.flows.station.str.rstrip("0123456789")
    goodput = result.flows.goodput_bps.groupby(group).sum() / len(result.seeds) / 1e6
    retries = result.nodes.frames_retried.sum() / result.nodes.frames_sent.sum()
    return {**{group.name: goodput[group.name] for group in cell.groups}, "retries": retries}


# Saturated UDP beside ns-3 is held within 2 % elsewhere (`peers.py`). Shares come from a few thousand attempts a seed on
# ns-3's side, whose own standard error counts on top, three times: one comparison in some hundreds then fails by chance.
TOTAL, SHARE, RETRIES, ERRORS = 0.02, 0.02, 0.01, 3


def compare(cell: Cell) -> list[Comparison]:
    """The total, each group's share of it, and without RTS the share of repeated data frames.

    With RTS most failures are those of the RTS, which ns-3's retry bit does not tell.
    """
    ours, theirs = measure(cell), table()[cell.name]
    names = [group.name for group in cell.groups]
    own, other = (sum(side[name] for name in names) for side in (ours, {name: theirs[name].mean for name in names}))
    # Groups trade goodput, so that their errors do not add up to that of the total; the largest is an upper bound.
    error = max(theirs[name].error for name in names)
    found = [Comparison("total", own, other, TOTAL * other + ERRORS * error)]
    # The order of two equal ones is random for seconds: hidden pairs take the channel in turns.
    alike = len({replace(group, name="") for group in cell.groups}) == 1
    for name in () if alike else names:
        allowed = SHARE + ERRORS * theirs[name].error / other
        found.append(Comparison(f"share of {name}", ours[name] / own, theirs[name].mean / other, allowed))
    if not cell.rts:
        retries = theirs["retries"]
        found.append(Comparison("retries", ours["retries"], retries.mean, RETRIES + ERRORS * retries.error))
    return found


HELD = [cell for cell in CELLS if not cell.note]
NOT_HELD = [cell for cell in CELLS if cell.note]

# Rate control, saturated UDP over 802.11b: stations, kind.
FALLBACK = [(2, "aarf"), (10, "aarf")]
# Not asserted: lasthop is 13 and 7 % above ns-3, with the same share of repeated frames. The reason was not found.
FALLBACK_APART = [(5, "aarf"), (10, "arf")]


def measure_fallback(stations: int, kind: str, seeds: int = 10) -> tuple[Figure, float]:
    """Throughput in Mbit/s of IP packets, over the 60 s that ns-3 was measured for, and the share of repeated frames."""
    text = (
        f'duration = "65 s"\nwarmup = "5 s"\n[bss]\nstandard = "802.11b"\nretry_limit = 6\ncompat = "ns3"\nrate_control = "{kind}"\n'
        f'[[station]]\ncount = {stations}\n[[flow]]\ntransport = "udp"\nrate = "saturated"\n'
    )
    result = lasthop.run(lasthop.Scenario(text, "fallback.toml"), seeds=seeds, interval_s=None)
    each = result.flows.groupby("seed").goodput_bps.sum() * IP_OVER_PAYLOAD / 1e6
    retries = result.nodes.frames_retried.sum() / result.nodes.frames_sent.sum()
    return Figure(float(each.mean()), float(each.std()), seeds), float(retries)


def fallback_name(stations: int, kind: str) -> str:
    return f"{kind}, saturated UDP, {stations} stations"
