"""Whether a twin is like its original: each flow and link of the capture next to several seeds of the twin.

A capture is one run, and another run of the same network would differ from it by chance. So a value holds if it is within the interval
that 95 % of single runs of the twin are in (Student's t, with the spread of the seeds), widened by a tolerance. The values of both are
read from captures in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

from ...data.confidence import estimate
from .observation import Flow, Link, Seen

Place = tuple[str, str, str, bool, int]
"""station, direction, transport and kind of a flow, and its number among those alike"""
SEEDS = 5
TOLERANCE = 0.1
"""of the captured value"""
TOLERANCE_OF_SHARES = 0.02
"""more for a share of attempts"""
WIDE = 0.5
"""half the width of an interval, as a share of the captured value, from which on it decides nothing"""
MATTERS = 0.05
"""share of the bytes from which on a flow decides about the twin"""
ENOUGH = 100
"""attempts of a link, or packets of a flow, that are worth a verdict"""
NONE_JUDGED = f"no flow with more than {100 * MATTERS:.0f} % of the bytes has the {ENOUGH} packets that a verdict needs"
RTT = "RTT p95 beyond the sniffer"
"""of an echo: its way up to the sniffer is not in it"""
RULE = (
    f"A value holds if the captured one is in the interval of single runs of the twin (95 %, {SEEDS} seeds), "
    f"widened by {100 * TOLERANCE:.0f} % of it"
)


@dataclass(frozen=True)
class Compared:
    """One quantity of a flow or link."""

    name: str
    quantity: str
    unit: str
    captured: float
    mean: float | None
    """of the twin's seeds; None if no seed has it"""
    low: float | None
    high: float | None
    """of single runs of the twin"""
    seeds: int
    tolerance: float
    share_of_bytes: float | None = None
    """of a flow"""

    @property
    def holds(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return self.low - self.tolerance <= self.captured <= self.high + self.tolerance

    @property
    def word(self) -> str:
        """The verdict."""
        if not self.holds:
            return "does not hold"
        return "undecided" if self.is_wide else "holds"

    @property
    def is_wide(self) -> bool:
        """Whether runs of the twin differ so much that it would hold for very different captures."""
        if self.low is None or self.high is None:
            return False
        return self.high - self.low > 2 * WIDE * abs(self.captured) + 2 * self.tolerance

    @property
    def matters(self) -> bool:
        """Whether the twin as a whole does not hold without it."""
        return self.share_of_bytes is not None and self.share_of_bytes > MATTERS

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "kind": "link" if self.share_of_bytes is None else "flow",
            "name": self.name,
            "quantity": self.quantity,
            "unit": self.unit,
            "captured": self.captured,
            "twin": {"mean": self.mean, "low": self.low, "high": self.high, "n": self.seeds},
            "tolerance": self.tolerance,
            "share_of_bytes": self.share_of_bytes,
            "holds": self.holds,
            "is_wide": self.is_wide,
        }


@dataclass(frozen=True)
class Verdict:
    """All of them."""

    rows: tuple[Compared, ...]
    widened_by: str = ""
    """what else the intervals allow for, in words"""

    @property
    def rule(self) -> str:
        """When a value holds."""
        return f"{RULE}; the interval is that of all {self.widened_by}" if self.widened_by else RULE

    def widened(self, others: Sequence[Verdict], by: str) -> Verdict:
        """The same with intervals that hold those of others too."""
        there = [{(row.name, row.quantity): row for row in other.rows} for other in others]
        rows = []
        for row in self.rows:
            alike = [row, *(of[row.name, row.quantity] for of in there if (row.name, row.quantity) in of)]
            lows, highs = (
                [v for v in values if v is not None] for values in zip(*((a.low, a.high) for a in alike), strict=True)
            )
            rows.append(replace(row, low=min(lows, default=None), high=max(highs, default=None)))
        return Verdict(tuple(rows), by)

    @property
    def failing(self) -> list[Compared]:
        """Flows that matter and do not hold."""
        return [row for row in self.rows if row.matters and not row.holds]

    @property
    def holds(self) -> bool:
        return not self.failing

    @property
    def undecided(self) -> list[Compared]:
        """Flows that matter and whose runs differ too much for a verdict."""
        return [row for row in self.rows if row.matters and row.holds and row.is_wide]

    @property
    def is_decided(self) -> bool:
        """Whether a flow matters, and none is undecided."""
        return bool(self.failing) or (any(row.matters for row in self.rows) and not self.undecided)

    def sentences(self) -> list[str]:
        """The verdict, for the head of the file."""
        of_flows = [row for row in self.rows if row.share_of_bytes is not None]
        if self.holds:
            if not any(row.matters for row in of_flows):
                return [f"It is undecided: {NONE_JUDGED}. {self.rule}."]
            alike = sum(row.holds and not row.is_wide for row in of_flows)
            held = f"{alike} of {len(of_flows)} flows are like those of the capture"
            head = "It is undecided: " if self.undecided else "It holds: "
            return [f"{head}{held}. {self.rule}.", *map(_undecided_text, self.undecided)]
        return [
            f"It does NOT hold for {row.name}: {row.quantity} {number(row.captured)} {row.unit} in the capture, "
            f"{number(row.mean)} in the twin ({interval(row)})."
            for row in self.failing
        ]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Heads and rows."""
        heads = ["", "quantity", "captured", "twin", "single runs", "verdict"]
        return heads, [
            [
                row.name,
                f"{row.quantity} ({row.unit})",
                number(row.captured),
                number(row.mean),
                interval(row),
                row.word,
            ]
            for row in self.rows
        ]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "rule": self.rule,
            "holds": self.holds,
            "is_decided": self.is_decided,
            "rows": [row.to_dict() for row in self.rows],
        }


def _undecided_text(row: Compared) -> str:
    return (
        f"{row.name}: undecided: interval too wide: {row.quantity} {number(row.captured)} {row.unit} in the capture, "
        f"{number(row.mean)} in the twin ({interval(row)})."
    )


def number(value: float | None) -> str:
    """Three digits or more; "-" if unknown."""
    if value is None:
        return "-"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.3g}"


def interval(row: Compared) -> str:
    """The interval of single runs."""
    return "-" if row.low is None or row.high is None else f"{number(max(0.0, row.low))} to {number(row.high)}"


def verdict_of(seen: Seen, likes: Sequence[Seen], names: Mapping[str, str]) -> Verdict:
    """The verdict of a capture and several of its twin; `names` has the twin's name of each node."""
    return Verdict((*_of_flows(seen, likes, names), *_of_links(seen, likes, names)))


def verdict_of_rates(flows: Sequence[Flow], runs: Sequence[Sequence[float]]) -> Verdict:
    """The verdict of flows whose rates alone are known; `runs` has the goodputs of the twin's flows in bit/s, one sequence a seed."""
    whole = max(1, sum(flow.bytes for flow in flows))
    return Verdict(
        tuple(
            compared(
                flow.id,
                "goodput",
                "Mbit/s",
                flow.goodput_bps / 1e6,
                [rates[place] / 1e6 for rates in runs],
                flow.bytes / whole,
            )
            for place, flow in enumerate(flows)
            if flow.goodput_bps > 0
        )
    )


def compared(
    name: str, quantity: str, unit: str, captured: float, values: Sequence[float], share: float | None = None
) -> Compared:
    """A captured value and those of the twin's seeds, in the unit that is shown."""
    tolerance = TOLERANCE * abs(captured) + (100 * TOLERANCE_OF_SHARES if unit == "%" else 0.0)
    found = estimate(values)
    if found is None:
        return Compared(name, quantity, unit, captured, None, None, None, 0, tolerance, share)
    low = high = None
    if found.half_width is not None:
        # A single run scatters around the mean as the seeds do, and the mean of n seeds by 1/√n of it.
        half = found.half_width * sqrt(found.n + 1)
        low, high = found.mean - half, found.mean + half
    return Compared(name, quantity, unit, captured, found.mean, low, high, found.n, tolerance, share)


def _of_flows(seen: Seen, likes: Sequence[Seen], names: Mapping[str, str]) -> Iterable[Compared]:
    whole = max(1, sum(flow.bytes for flow in seen.flows))
    there = [by_place(like.flows, {}) for like in likes]
    for place, flow in by_place(seen.flows, names).items():
        same = [found for flows in there if (found := flows.get(place)) is not None]
        share = flow.bytes / whole
        if flow.is_echo:
            rtts = [found.rtt_p95_s for found in same if found.rtt_p95_s is not None]
            if flow.rtt_p95_s is not None:
                yield compared(flow.id, RTT, "ms", 1e3 * flow.rtt_p95_s, [1e3 * rtt for rtt in rtts], share)
        elif flow.packets >= ENOUGH:
            # Without its ACKs the goodput of a captured flow is unknown; its data are compared.
            is_known = flow.goodput_bps > 0
            rate, quantity = (_goodput, "goodput") if is_known else (_sent, "data")
            # TCP acknowledges what a sniffer missed, UDP does not.
            heard = seen.heard if flow.transport == "udp" and seen.is_thin else 1.0
            # A flow that the twin lacks has delivered nothing.
            values = [rate(found, seen.length_s) for found in same] + [0.0] * (len(likes) - len(same))
            yield compared(flow.id, quantity, "Mbit/s", rate(flow, seen.length_s) / heard, values, share)


def _goodput(flow: Flow, _: float) -> float:
    return flow.goodput_bps / 1e6


def _sent(flow: Flow, length_s: float) -> float:
    return 8 * flow.bytes / length_s / 1e6


def by_place(flows: Iterable[Flow], names: Mapping[str, str]) -> dict[Place, Flow]:
    """The flows by what identifies them in a capture and in its twin; `names` has the twin's name of each node."""
    found: dict[Place, Flow] = {}
    count: Counter[tuple[str, str, str, bool]] = Counter()
    for flow in flows:
        alike = (names.get(flow.station, flow.station), flow.direction, flow.transport, flow.is_echo)
        found[(*alike, count[alike])] = flow
        count[alike] += 1
    return found


def _of_links(seen: Seen, likes: Sequence[Seen], names: Mapping[str, str]) -> Iterable[Compared]:
    for (sender, receiver), link in seen.links.items():
        if link.attempts < ENOUGH or not link.tells_losses:
            continue
        ends = names.get(sender, sender), names.get(receiver, receiver)
        same = [found for like in likes if (found := like.links.get(ends)) is not None]
        name = f"{sender} → {receiver}"
        yield compared(name, "unanswered", "%", 100 * _unanswered(link), [100 * _unanswered(one) for one in same])
        yield compared(name, "PHY rate", "Mbit/s", _rate(link) / 1e6, [_rate(one) / 1e6 for one in same])


def _unanswered(link: Link) -> float:
    return link.unanswered / max(1, link.attempts)


def _rate(link: Link) -> float:
    """The mean rate of its MPDUs."""
    mpdus = max(1, sum(mode.mpdus for mode in link.modes))
    return sum(mode.mpdus * mode.rate_bps for mode in link.modes) / mpdus
