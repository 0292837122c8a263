"""Ranks the flows of each kind of traffic by the number that counts for it: a call may carry little and be fine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...data.plain_number import plain
from ...data.quantities import FLOW, Quantity
from .account import FLOW_TERMS, Explanation, FlowTime
from .words import count, listed, percent, rate

# A flow suffers if its number is worse than the median by this part of it.
SUFFERS_BY = 0.1
# Number of terms that describe the time of a flow.
TERMS_NAMED = 2
# Terms without a cause.
UNNAMED = ("unattributed",)


class Measure(NamedTuple):
    """A number by which flows of one kind are ranked, and its name in a sentence."""

    key: Quantity
    least_is_worst: bool
    what: str


GOODPUT = Measure(FLOW.goodput_bps, True, FLOW.goodput_bps.label)
RTT = Measure(FLOW.rtt_p95_s, False, "95th percentile of the RTT")
DELAY = Measure(FLOW.delay_p95_s, False, "95th percentile of the delay")
# By kind of traffic: the first of these that its flows have; others are ranked by goodput.
MEASURES = {
    "ping": (RTT, Measure(FLOW.loss_fraction, False, FLOW.loss_fraction.label)),
    "voip": (Measure(FLOW.mos, True, FLOW.mos.label), DELAY),
    "web": (Measure(FLOW.page_load_time_p95_s, False, "95th percentile of the page load time"), GOODPUT),
    "video": (Measure(FLOW.stall_time_s, False, FLOW.stalls.label), GOODPUT),
    "trace": (DELAY, GOODPUT),
}
# Bulk flows over these transports are kinds of their own.
CARRIERS = {"udp": " over UDP", "quic": " over QUIC"}


def kinds(flows: list[FlowTime]) -> dict[str, list[FlowTime]]:
    """Flows by kind of traffic, the one that suffers most first. Bulk flows are ranked by direction, and UDP (fixed
    rate) and QUIC separately from TCP.
    """
    by_kind: dict[str, list[FlowTime]] = {}
    for flow in flows:
        way = "" if flow.traffic in MEASURES else " up" if flow.direction == "up" else " down"
        carrier = CARRIERS.get(flow.transport, "") if way else ""
        by_kind.setdefault(f"{flow.traffic}{carrier}{way}", []).append(flow)
    return {kind: _worst_first(of_kind) for kind, of_kind in by_kind.items()}


def shown(flows: list[FlowTime], most: int) -> list[FlowTime]:
    """All flows if they are few, else of each kind the one that suffers most and, if there is room, the median one."""
    if len(flows) <= most:
        return flows
    of_kinds = list(kinds(flows).values())
    worst = [of_kind[0] for of_kind in of_kinds][:most]
    middle = [of_kind[len(of_kind) // 2] for of_kind in of_kinds if len(of_kind) > 1][: most - len(worst)]
    chosen = {flow.id for flow in (*worst, *middle)}
    return [flow for of_kind in of_kinds for flow in of_kind if flow.id in chosen]


def suffering(explanation: Explanation) -> list[str]:
    """A sentence for each kind with several flows: the one that suffers most, and its largest terms."""
    lines = []
    for kind, flows in kinds(explanation.flows).items():
        worst, measure = flows[0], measure_of(flows)
        median = flows[len(flows) // 2]
        if len(flows) < 2 or measure is None or not _suffers(worst, median, measure):
            continue
        than = (
            f", {median.id} {number_text(median, measure)}"
            if len(flows) == 2
            else f", the median {number_text(median, measure)}"
        )
        whom = f"{worst.id} suffers most of {count(len(flows), 'flow')} of {kind}"
        lines.append(f"{whom}: {measure.what} {number_text(worst, measure)}{than}; of its time {_terms(worst)}.")
    return lines


def measure_of(flows: list[FlowTime]) -> Measure | None:
    """The number by which flows of one kind are ranked; None if no flow has one."""
    of_kind = MEASURES.get(flows[0].traffic, (GOODPUT, DELAY))
    return next((each for each in of_kind if any(flow.facts.get(each.key) is not None for flow in flows)), None)


def number_text(flow: FlowTime, measure: Measure) -> str:
    """The number of a flow, with its unit."""
    return in_words(flow.facts, measure.key)


def in_words(facts: Mapping[str, Any], key: Quantity) -> str:
    """One of a flow's numbers with its unit."""
    value = facts.get(key)
    if value is None:
        return "-"
    if key.unit == "bit/s":
        return rate(value)
    if key.shown.unit == "%":
        return percent(value)
    if key.unit == "s":
        return f"{plain(1e3 * value, 3)} ms" if value < 1 else f"{plain(value, 3)} s"
    return plain(value, 3)


def _worst_first(flows: list[FlowTime]) -> list[FlowTime]:
    measure = measure_of(flows)
    if measure is None:
        return flows
    sign = 1 if measure.least_is_worst else -1
    # A flow without the number, such as a ping without an answer, ranks as the worst.
    return sorted(flows, key=lambda flow: _rank(flow.facts.get(measure.key), sign))


def _rank(value: float | None, sign: int) -> float:
    return float("-inf") if value is None else sign * value


def _suffers(worst: FlowTime, median: FlowTime, measure: Measure) -> bool:
    """Whether a flow is worse than the median by a tenth of it: with 98 % of the median a flow is like the others."""
    own, usual = (flow.facts.get(measure.key) for flow in (worst, median))
    if own is None or usual is None:
        return own is None and usual is not None
    return abs(own - usual) >= SUFFERS_BY * abs(usual) and number_text(worst, measure) != number_text(median, measure)


def _terms(flow: FlowTime) -> str:
    ranked = sorted((term for term in FLOW_TERMS if term not in UNNAMED), key=lambda term: -flow.share(term))
    return listed([f"{percent(flow.share(term))} {FLOW_TERMS[term]}" for term in ranked[:TERMS_NAMED]])
