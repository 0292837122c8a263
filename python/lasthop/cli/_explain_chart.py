"""Shares of time as stacked bars, one for each flow, or one for each of several explanations."""

from __future__ import annotations

from ..views.explain.account import FLOW_TERMS, Explanation
from ..views.explain.suffering import shown
from ..views.plot import Chart, Curve

MOST_BARS = 12
WIDE_INCHES, LEAST_INCHES, FRAME_INCHES, BAR_INCHES, TERM_INCHES = 7.0, 1.8, 0.75, 0.24, 0.15
# Terms that take less of every bar are left out; --json has them.
DRAWN_FROM = 0.005


def chart_of(explanations: list[Explanation]) -> Chart:
    """Shares of time by flow; of several explanations the mean over the flows of each."""
    bars = _flows(explanations[0]) if len(explanations) == 1 else _means(explanations)
    drawn = [term for term in FLOW_TERMS if any(shares[term] >= DRAWN_FROM for shares in bars.values())]
    curves = [Curve(FLOW_TERMS[term], list(bars), [100 * shares[term] for shares in bars.values()]) for term in drawn]
    whose = "each flow" if len(explanations) == 1 else "the flows (mean)"
    # All terms fit to the right of the bars; a list below would take more room than the bars.
    high = FRAME_INCHES + max(BAR_INCHES * len(bars), TERM_INCHES * len(curves))
    title = f"Where the time of {whose} went"
    return Chart(
        "stack",
        title,
        "",
        "share of time (%)",
        tuple(curves),
        legend="right",
        size=(WIDE_INCHES, max(LEAST_INCHES, high)),
    )


def _flows(explanation: Explanation) -> dict[str, dict[str, float]]:
    return {flow.id: {term: flow.share(term) for term in FLOW_TERMS} for flow in shown(explanation.flows, MOST_BARS)}


def _means(explanations: list[Explanation]) -> dict[str, dict[str, float]]:
    bars = {}
    for letter, explanation in zip("AB", explanations, strict=True):
        flows = explanation.flows
        mean = {term: sum(flow.share(term) for flow in flows) / max(len(flows), 1) for term in FLOW_TERMS}
        bars[f"{letter}: {explanation.name}"] = mean
    return bars
