"""A test in a file of a testbed: its flows, each with numbers and series, in the terms of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import floor
from typing import Any, NamedTuple, TypeGuard

from ...data import runs
from ...data.quantities import FLOW, SERIES

BULK, PING, WEB, QUIC = "bulk", "ping", "web", "quic"
# Probabilities of distributions, the same as for a run.
PROBABILITIES = (0.01, 0.02, *(step / 20 for step in range(1, 20)), 0.98, 0.99, 0.995, 0.999)

LARGEST = 2.0**64
"""beyond all counters of a kernel or a tool"""


class Series(NamedTuple):
    """A quantity over time: seconds from the beginning of the test, and values in the unit in which results have it."""

    times_s: list[float]
    values: list[float]

    @classmethod
    def of(cls, rows: Iterable[tuple[float, float]]) -> Series:
        """The series of these times and values."""
        rows = list(rows)
        return cls([time_s for time_s, _ in rows], [value for _, value in rows])


@dataclass
class Flow:
    """One direction of traffic between a station and a server."""

    station: str
    server: str
    direction: str
    """`up` from the station to the server, or `down`"""
    transport: str
    traffic: str = BULK
    name: str | None = None
    """the name in the file, if any; its id is then STATION.NAME"""
    congestion_control: str | None = None
    dscp: str | None = None
    ends: tuple[str, str] | None = None
    """addresses with ports: of the sender, of the receiver"""
    values: dict[str, Any] = field(default_factory=dict)
    """by quantity of a flow"""
    series: dict[str, Series] = field(default_factory=dict)
    """by quantity of a series; values of a kernel's socket that no run has are named as in `ss`"""
    is_as_written: bool = False
    """whether its goodput over time counts the sender's writes, as received bytes are unknown"""
    reported_mean: float | None = None
    """the mean that the tool itself reports, over its whole test: of throughput in bit/s, of a ping in s"""
    id: str = ""
    """its id in the result, once all flows are known"""


@dataclass
class Test:
    """A test, read from one file or from several of the same test."""

    tool: str
    version: str
    name: str
    files: list[str]
    flows: list[Flow]
    began_s: float | None
    """seconds since 1970"""
    from_s: float
    to_s: float
    """the window that numbers cover, in seconds of the test"""
    notes: list[str] = field(default_factory=list)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value of JSON is a finite number that a counter may have."""
    return runs.is_number(value) and abs(value) < LARGEST


def plain(text: str) -> str:
    """A text of a file without characters that no result may have: controls, and halves of pairs."""
    return text if text.isprintable() else "".join(each if each.isprintable() else "?" for each in text)


def add_ids(flows: Sequence[Flow]) -> None:
    """Names the flows as a scenario does: STATION.up, STATION.up.2, or STATION.NAME."""
    taken: set[str] = set()
    for flow in flows:
        flow.station, flow.server = plain(flow.station), plain(flow.server)
        flow.ends = flow.ends and (plain(flow.ends[0]), plain(flow.ends[1]))
        flow.name = flow.name and plain(flow.name)
        flow.congestion_control = flow.congestion_control and plain(flow.congestion_control)
        wanted = f"{flow.station}.{flow.name or flow.direction}"
        number, flow.id = 2, wanted
        while flow.id in taken:
            number, flow.id = number + 1, f"{wanted}.{number}"
        taken.add(flow.id)


def level_mean(series: Series, from_s: float, to_s: float) -> float | None:
    """Mean over time of samples: a sample counts for the time since the one before it."""
    weights, total, before = 0.0, 0.0, from_s
    for time_s, value in zip(series.times_s, series.values, strict=True):
        if from_s < time_s <= to_s:
            weights, total, before = weights + time_s - before, total + value * (time_s - before), time_s
    return total / weights if weights else None


def within(series: Series, from_s: float, to_s: float) -> list[float]:
    """The values of the window."""
    return [value for time_s, value in zip(series.times_s, series.values, strict=True) if from_s <= time_s <= to_s]


def add_level(flow: Flow, metric: str, test: Test) -> None:
    """Adds the numbers of a flow that follow from its series: mean and maximum of the window, mean of the RTT."""
    series = flow.series[metric]
    mean, values = level_mean(series, test.from_s, test.to_s), within(series, test.from_s, test.to_s)
    if metric == SERIES.cwnd_segments:
        flow.values[FLOW.cwnd_mean_segments] = mean
        flow.values[FLOW.cwnd_max_segments] = max(values, default=None)
    elif metric == SERIES.rtt_s:
        flow.values[FLOW.rtt_mean_s] = mean


def add_round_trips(flow: Flow, samples: Iterable[float]) -> None:
    """Adds mean, minimum and quantiles of single round trips, if there are any."""
    values = sorted(samples)
    if not values:
        return
    flow.values[FLOW.rtt_mean_s] = sum(values) / len(values)
    flow.values[FLOW.rtt_min_s] = values[0]
    told = {FLOW.rtt_p50_s: 0.5, FLOW.rtt_p95_s: 0.95, FLOW.rtt_p99_s: 0.99}
    flow.values |= {quantity: quantile(values, share) for quantity, share in told.items()}
    flow.values[FLOW.rtt_quantiles_s] = [quantile(values, share) for share in PROBABILITIES]


def quantile(values: Sequence[float], share: float) -> float:
    """Returns a quantile of sorted values, with linear interpolation."""
    place = share * (len(values) - 1)
    low = floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)
