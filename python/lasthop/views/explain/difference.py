"""Why two results differ, in the terms of their accounts.

Differences within chance are not reported. A sentence requires that the 95 % interval of B - A excludes 0; for several
terms or flows compared at once, the wider interval of Bonferroni. With one seed each there are no intervals: the first
sentence states this, and the others describe the two runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...data.confidence import MOST_SEEDS, Estimate, difference, seeds_to_tell
from ...data.confidence import Difference as Interval
from .account import CHANNEL_TERMS, FLOW_TERMS, OF_INTERFERERS, OF_SEVERAL_USERS, Explanation, FlowTime
from .answers import dropped, lowered
from .words import listed, percent, points, rate

# Smaller changes of a share are not reported.
WORTH_REPORTING = 0.02
MOST = 4
# By which factor the mean A-MPDU of a link differs if it is worth a sentence.
LARGER = 1.5


class Change(NamedTuple):
    """A term in A and in B, as shares of time, and B - A with its interval."""

    term: str
    a: float
    b: float
    difference: Interval | None


@dataclass(frozen=True)
class Difference:
    """The difference of two accounts; for flows, of the means over all flows."""

    a: Explanation
    b: Explanation
    flows: list[Change]
    channel: list[Change]
    """the mean over all channels"""

    def answers(self) -> list[str]:
        """The explanation in sentences."""
        lines = [
            *_of_directions(self.a, self.b),
            _goodput(self.a, self.b),
            *_of_each_flow(self.a, self.b),
            *_of_channel(self),
            *_of_rates(self),
            *_of_aggregates(self.a, self.b),
            *_of_flows(self),
        ]
        return [line for line in lines if line]


def difference_of(a: Explanation, b: Explanation) -> Difference:
    """Compares two explanations."""
    return Difference(
        a, b, _changes(_flow_shares(a), _flow_shares(b)), _changes(_channel_shares(a), _channel_shares(b))
    )


Shares = dict[str, dict[int, float]]


def _changes(a: Shares, b: Shares) -> list[Change]:
    def mean(by_seed: dict[int, float]) -> float:
        return sum(by_seed.values()) / len(by_seed) if by_seed else 0.0

    # One side may lack the terms of a feature.
    none: dict[int, float] = dict.fromkeys(next(iter((a or b).values()), {}), 0.0)
    sides = {term: (a.get(term, none), b.get(term, none)) for term in {**a, **b}}
    return [Change(term, mean(x), mean(y), difference(x, y)) for term, (x, y) in sides.items()]


def _flow_shares(explanation: Explanation) -> Shares:
    return _mean_shares(explanation, "flows", FLOW_TERMS, lambda flow, term: flow["terms"].get(f"{term}_s", 0.0))


def _channel_shares(explanation: Explanation) -> Shares:
    def time_s(channel: dict[str, Any], term: str) -> float:
        silent = channel.get(f"{term}_s")
        return float(sum(node.get(f"{term}_s", 0.0) for node in channel["nodes"]) if silent is None else silent)

    return _mean_shares(explanation, "channels", CHANNEL_TERMS, time_s)


def _mean_shares(
    explanation: Explanation, what: str, terms: Iterable[str], time_s: Callable[[dict[str, Any], str], float]
) -> Shares:
    """The mean share over all flows or channels, by term and seed."""
    rows = list(_rows(explanation, what))
    features = OF_SEVERAL_USERS + OF_INTERFERERS
    known = [term for term in terms if term not in features or any(f"{term}_s" in row for row in rows)]
    return {
        term: {
            seed: sum(time_s(row, term) for row in account[what]) / account["covered_s"] / max(len(account[what]), 1)
            for seed, account in explanation.accounts.items()
        }
        for term in known
    }


def _rows(explanation: Explanation, what: str) -> Iterator[dict[str, Any]]:
    """The rows that have terms: the flows of all accounts, or the channels and their nodes."""
    for account in explanation.accounts.values():
        for row in account[what]:
            yield row.get("terms", row)
            yield from row.get("nodes", [])


def _of_directions(a: Explanation, b: Explanation) -> list[str]:
    """The sums of uploads and of downloads that differ beyond chance, with several seeds: the sum of both may hide that."""
    parts = []
    for way in a.directions if b.directions else ():
        before, after = a.directions[way], b.directions[way]
        change = difference(before, after)
        if change is None or change.estimate.half_width is None or not change.is_told(len(a.directions)):
            continue
        parts.append(f"{way} {rate(_over(before))} → {rate(_over(after))}")
    return [f"Sums of goodput, A → B: {listed(parts)}."] if parts else []


def _over(by_seed: dict[int, float]) -> float:
    """The mean over the seeds."""
    return sum(by_seed.values()) / len(by_seed)


def _of_aggregates(a: Explanation, b: Explanation) -> list[str]:
    """The links whose A-MPDUs differ much in size, the most different first."""
    sides = {name: (a.links[name].mpdus_by_seed, b.links[name].mpdus_by_seed) for name in a.links if name in b.links}
    known = {name: side for name, side in sides.items() if all(side)}

    def factor(name: str) -> float:
        low, high = sorted(map(_over, known[name]))
        return high / low

    changed = [
        name for name in known if factor(name) >= LARGER and _is_significant(difference(*known[name]), len(known))
    ]
    changed.sort(key=factor, reverse=True)
    parts = [f"{name} {_over(known[name][0]):.3g} → {_over(known[name][1]):.3g}" for name in changed[:MOST]]
    rest = f"; so do {len(changed) - MOST} more" if len(changed) > MOST else ""
    return [f"MPDUs per A-MPDU, A → B: {listed(parts)}{rest}."] if parts else []


def _goodput(a: Explanation, b: Explanation) -> str:
    if a.goodput_bps is None or b.goodput_bps is None:
        return ""
    change = difference(a.goodput_by_seed, b.goodput_by_seed)
    before, after = a.goodput_bps.mean, b.goodput_bps.mean
    if change is None or before == after:
        return f"B delivers as much as A: {_mean(a.goodput_bps)}."
    if change.estimate.half_width is None:
        return f"With one seed B delivers {rate(after)}, A {rate(before)}; one seed does not show how much of that is chance."
    if not change.is_told():
        return f"{_undecided(change)}: B delivers {_mean(b.goodput_bps)}, A {_mean(a.goodput_bps)}; {_needed(change)}."
    if not before:
        return f"B delivers {_mean(b.goodput_bps)}, A nothing."
    ratio = after / before - 1
    more = "more" if ratio > 0 else "less"
    return f"B delivers {_mean(b.goodput_bps)}, A {_mean(a.goodput_bps)}: {percent(abs(ratio))} {more}."


def _undecided(change: Interval) -> str:
    return f"{change.estimate.n} seeds cannot tell the goodputs apart"


def _needed(change: Interval) -> str:
    seeds = seeds_to_tell(change)
    return f"more than {MOST_SEEDS} would be needed, if they differ at all" if seeds is None else f"about {seeds} would"


def _mean(goodput: Estimate) -> str:
    """A goodput with half its interval, if it has one."""
    half = goodput.half_width
    return rate(goodput.mean) if not half else f"{rate(goodput.mean)} ± {rate(half).removesuffix(' Mbit/s')}"


def _of_each_flow(a: Explanation, b: Explanation) -> list[str]:
    """The goodputs of the flows that differ significantly: of all if they are few, else of those that change most."""
    before, after = _goodputs(a), _goodputs(b)
    both = [name for name in after if name in before]
    if len(both) < 2:
        return []
    seeds_a, seeds_b = ({flow.id: flow.goodput_by_seed for flow in side.flows} for side in (a, b))
    changed = [name for name in both if _is_significant(difference(seeds_a[name], seeds_b[name]), len(both))]
    changed.sort(key=lambda name: -abs(after[name] - before[name]))
    parts = [f"{name} {rate(before[name])} → {rate(after[name])}" for name in changed[:MOST]]
    return [f"Goodput, A → B: {listed(parts)}."] if parts else []


def _goodputs(explanation: Explanation) -> dict[str, float]:
    return {flow.id: flow.goodput_bps for flow in explanation.flows if flow.goodput_bps is not None}


def _is_significant(change: Interval | None, among: int) -> bool:
    """Whether the change exceeds chance, among so many that are compared; with one seed each, every change counts."""
    return change is not None and (change.estimate.half_width is None or change.is_told(among))


def _is_worth_reporting(change: Change, among: int = 1) -> bool:
    return abs(change.b - change.a) >= WORTH_REPORTING and _is_significant(change.difference, among)


def _largest(changes: list[Change], names: dict[str, str]) -> list[str]:
    """The changes worth a sentence, the largest first."""
    worth = [change for change in changes if _is_worth_reporting(change, len(changes))]
    worth.sort(key=lambda change: -abs(change.b - change.a))
    return [
        f"{names[change.term]} {percent(change.a)} → {percent(change.b)} ({points(change.b - change.a)} points)"
        for change in worth[:MOST]
    ]


def _of_channel(of: Difference) -> list[str]:
    parts = _largest(of.channel, CHANNEL_TERMS)
    return [f"Of the channel's time, A → B: {listed(parts)}."] if parts else []


def _of_rates(of: Difference) -> list[str]:
    change = next(change for change in of.channel if change.term == "rate_below_best")
    if not _is_worth_reporting(change):
        return []
    name, side = ("B", of.b) if change.b > change.a else ("A", of.a)
    why = lowered(side)
    return [f"In {name} the rate is below the best possible{why}."] if why else []


def _of_flows(of: Difference) -> list[str]:
    parts = _largest(of.flows, FLOW_TERMS)
    lines = [f"Of the flows' time, A → B: {listed(parts)}."] if parts else []
    return [*lines, *_of_silence(of)]


def _of_silence(of: Difference) -> list[str]:
    change = next(change for change in of.flows if change.term == "rto_silence")
    if not _is_worth_reporting(change):
        return []
    name, side = ("B", of.b) if change.b > change.a else ("A", of.a)

    def silence(flow: FlowTime) -> float:
        return flow.share("rto_silence")

    worst = max(side.flows, key=silence)
    cause = f"{percent(silence(worst))} of its time is RTO silence{dropped(side, worst)}"
    return [f"In {name} {worst.id} starves most: {cause}."]
