"""What ns-3.44 gave in `networks.py`, from `tests/data/ns3.csv`, and the same in lasthop."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

import lasthop
import pandas
from contention import ERRORS, Comparison, Figure, table
from networks import Network

SEEDS = 3


def compare(network: Network) -> list[Comparison]:
    """The total, and for several BSSs or categories the part of each, in Mbit/s."""
    theirs = table()[network.name]
    result = lasthop.run(lasthop.Scenario(network.text(), "network.toml"), seeds=SEEDS, interval_s=None)
    ours = {"total": _figure(result.flows, lambda _: True)}
    for name in theirs:
        members = {
            f"s{n}" for n, station in enumerate(network.stations) if name in (f"b{station.bss}", station.category)
        }
        if name != "total" and len(theirs) > 2 and not network.total_only:
            ours[name] = _figure(result.flows, members.__contains__)
    return [
        Comparison(name, figure.mean, theirs[name].mean, _allowed(network, figure, theirs[name], theirs["total"]))
        for name, figure in ours.items()
    ]


def _allowed(network: Network, ours: Figure, theirs: Figure, total: Figure) -> float:
    """Of the total of ns-3, with the errors of both."""
    return network.tolerance * total.mean + ERRORS * math.hypot(ours.error, theirs.error)


def _figure(flows: pandas.DataFrame, belongs: Callable[[str], bool]) -> Figure:
    sums = [float(seed[seed.station.map(belongs)].goodput_bps.sum()) / 1e6 for _, seed in flows.groupby("seed")]
    return Figure(statistics.mean(sums), statistics.stdev(sums), len(sums))
