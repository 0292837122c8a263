"""Why two results differ, in the terms of their accounts.

Differences within chance are not reported: there is a sentence if the 95 % interval of B - A excludes 0, for terms and
flows that are looked at together where one as wide as all need does (Bonferroni). With one seed each there are no
intervals; then the first sentence says so, and the others tell what these two runs were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...data.confidence import MOST_SEEDS, Estimate, difference, seeds_to_tell
from ...data.confidence import Difference as Interval
from .account import CHANNEL_TERMS, FLOW_TERMS, Explanation, FlowTime
from .answers import dropped, lowered
from .words import listed, percent, points, rate

# Smaller changes of a share are not reported.
WORTH_SAYING = 0.02
MOST = 4


class Change(NamedTuple):
    """A term in A and in B, as shares of time, and B - A with its interval."""

    term: str
    a: float
    b: float
    difference: Interval | None


@dataclass(frozen=True)
class Difference:
    """How the accounts of A and B differ: flows by the mean over all flows."""

    a: Explanation
    b: Explanation
    flows: list[Change]
    channel: list[Change]
    """of all channels, each counted alike"""

    def answers(self) -> list[str]:
        """The explanation in sentences."""
        lines = [
            _goodput(self.a, self.b),
            *_of_each_flow(self.a, self.b),
            *_of_channel(self),
            *_of_rates(self),
            *_of_flows(self),
        ]
        return [line for line in lines if line]


def difference_of(a: Explanation, b: Explanation) -> Difference:
    """Holds two explanations against one another."""
    return Difference(
        a, b, _changes(_flow_shares(a), _flow_shares(b)), _changes(_channel_shares(a), _channel_shares(b))
    )


Shares = dict[str, dict[int, float]]


def _changes(a: Shares, b: Shares) -> list[Change]:
    def mean(by_seed: dict[int, float]) -> float:
        return sum(by_seed.values()) / len(by_seed) if by_seed else 0.0

    return [Change(term, mean(a[term]), mean(b[term]), difference(a[term], b[term])) for term in a]


def _flow_shares(explanation: Explanation) -> Shares:
    return _mean_shares(explanation, "flows", FLOW_TERMS, lambda flow, term: flow["terms"][f"{term}_s"])


def _channel_shares(explanation: Explanation) -> Shares:
    def time_s(channel: dict, term: str) -> float:
        silent = channel.get(f"{term}_s")
        return sum(node[f"{term}_s"] for node in channel["nodes"]) if silent is None else silent

    return _mean_shares(explanation, "channels", CHANNEL_TERMS, time_s)


def _mean_shares(explanation: Explanation, what: str, terms, time_s) -> Shares:
    """By term and seed, the mean share over all flows or channels."""
    return {
        term: {
            seed: sum(time_s(row, term) for row in account[what]) / account["covered_s"] / max(len(account[what]), 1)
            for seed, account in explanation.accounts.items()
        }
        for term in terms
    }


def _goodput(a: Explanation, b: Explanation) -> str:
    if a.goodput_bps is None or b.goodput_bps is None:
        return ""
    found = difference(a.goodput_by_seed, b.goodput_by_seed)
    before, after = a.goodput_bps.mean, b.goodput_bps.mean
    if found is None or before == after:
        return f"B delivers as much as A: {_mean(a.goodput_bps)}."
    if found.estimate.half_width is None:
        return f"With one seed B delivers {rate(after)}, A {rate(before)}; how much of that is chance, one seed cannot tell."
    if not found.is_told():
        return f"{_not_told(found)}: B delivers {_mean(b.goodput_bps)}, A {_mean(a.goodput_bps)}; {_needed(found)}."
    if not before:
        return f"B delivers {_mean(b.goodput_bps)}, A nothing."
    change = after / before - 1
    more = "more" if change > 0 else "less"
    return f"B delivers {_mean(b.goodput_bps)}, A {_mean(a.goodput_bps)}: {percent(abs(change))} {more}."


def _not_told(found: Interval) -> str:
    return f"{found.estimate.n} seeds cannot tell the goodputs apart"


def _needed(found: Interval) -> str:
    seeds = seeds_to_tell(found)
    return f"more than {MOST_SEEDS} would be needed, if they differ at all" if seeds is None else f"about {seeds} would"


def _mean(goodput: Estimate) -> str:
    """A goodput with half its interval, where there is one."""
    half = goodput.half_width
    return rate(goodput.mean) if not half else f"{rate(goodput.mean)} ± {rate(half).removesuffix(' Mbit/s')}"


def _of_each_flow(a: Explanation, b: Explanation) -> list[str]:
    """The goodputs of single flows that can be told apart: of all if they are few, else of those that change most."""
    before = {flow.id: flow for flow in a.flows if flow.goodput_bps is not None}
    both = [(before[flow.id], flow) for flow in b.flows if flow.id in before and flow.goodput_bps is not None]
    if len(both) < 2:
        return []
    told = [pair for pair in both if _is_told(difference(*(flow.goodput_by_seed for flow in pair)), len(both))]
    told.sort(key=lambda pair: -abs(pair[1].goodput_bps - pair[0].goodput_bps))
    spoken = [f"{was.id} {rate(was.goodput_bps)} → {rate(now.goodput_bps)}" for was, now in told[:MOST]]
    return [f"Goodput, A → B: {listed(spoken)}."] if spoken else []


def _is_told(found: Interval | None, among: int) -> bool:
    """Whether the difference can be told from none, as far as seeds tell: of one seed each, what it was is said."""
    return found is not None and (found.estimate.half_width is None or found.is_told(among))


def _worth_saying(change: Change, among: int = 1) -> bool:
    return abs(change.b - change.a) >= WORTH_SAYING and _is_told(change.difference, among)


def _spoken(changes: list[Change], names: dict[str, str]) -> list[str]:
    """The changes worth saying, the largest first."""
    worth = [change for change in changes if _worth_saying(change, len(changes))]
    worth.sort(key=lambda change: -abs(change.b - change.a))
    return [
        f"{names[change.term]} {percent(change.a)} → {percent(change.b)} ({points(change.b - change.a)} points)"
        for change in worth[:MOST]
    ]


def _of_channel(of: Difference) -> list[str]:
    spoken = _spoken(of.channel, CHANNEL_TERMS)
    return [f"Of the channel's time, A → B: {listed(spoken)}."] if spoken else []


def _of_rates(of: Difference) -> list[str]:
    change = next(change for change in of.channel if change.term == "rate_below_best")
    if not _worth_saying(change):
        return []
    name, side = ("B", of.b) if change.b > change.a else ("A", of.a)
    why = lowered(side)
    return [f"In {name} the rate is below the best possible{why}."] if why else []


def _of_flows(of: Difference) -> list[str]:
    spoken = _spoken(of.flows, FLOW_TERMS)
    lines = [f"Of the flows' time, A → B: {listed(spoken)}."] if spoken else []
    return [*lines, *_of_silence(of)]


def _of_silence(of: Difference) -> list[str]:
    change = next(change for change in of.flows if change.term == "rto_silence")
    if not _worth_saying(change):
        return []
    name, side = ("B", of.b) if change.b > change.a else ("A", of.a)

    def silence(flow: FlowTime) -> float:
        return flow.share("rto_silence")

    worst = max(side.flows, key=silence)
    said = f"{percent(silence(worst))} of its time is RTO silence{dropped(side, worst)}"
    return [f"In {name} {worst.id} starves most: {said}."]
