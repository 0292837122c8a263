"""Latency against throughput: a point for each result, or for each flow of one; down and right is worse.

With several results, the selected flows give the latency, and all flows the goodput.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from ...data.confidence import Estimate, estimate
from ...data.quantities import FLOW, TOTALS
from ._chart import Chart, Curve
from ._chosen import is_part
from ._left_out import has, not_shown
from ._quantity import quantity
from ._results import labels, results_only, titled

if TYPE_CHECKING:
    from ...data.result import Result
    from ._options import Options

SUMMARY = (
    "latency against throughput, a point for each result (of a single one for each flow), with intervals both ways"
)
NUMBERS_ALONG = True
OPTIONS = ("metric", "flow", "traffic", "log_x")
# The first of these that a flow has: round trips of TCP and ping, one-way delays of UDP.
LATENCIES = (FLOW.rtt_p95_s, FLOW.delay_p95_s)
GOODPUT = FLOW.goodput_bps
# Latencies and goodputs.
Pairs = tuple[list[float], list[float]]


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """Points of the mean over seeds; the latency of a result is the mean over its flows."""
    results = results_only(sources, "latency_throughput")
    metric = options.metric or _metric(results)
    points = _results(results, metric) if len(results) > 1 else _flows(results[0], metric)
    label, scale, _ = quantity(metric)
    curves = tuple(_point(name, pairs, scale) for name, pairs in points.items() if all(pairs))
    if not curves:
        raise LookupError(f"{labels(results)[0]}: no flow has both {metric} and a goodput; ping delivers nothing")
    what = "by flow" if len(results) == 1 else "of all flows" if any(map(is_part, results)) else ""
    title = titled(f"latency and goodput {what}".rstrip(), results)
    x_label = label if len(results) == 1 else label.replace(" (", ", mean over flows (")
    called = label.partition(" (")[0]
    remarks = not_shown(results, lambda flow: has(metric)(flow) and has(GOODPUT)(flow), f"no {called}, or no goodput")
    return Chart("scatter", title, x_label, GOODPUT.axis, curves, log_x=options.log_x, remarks=remarks)


def _metric(results: Sequence[Result]) -> str:
    has = {
        key for result in results for run in result.runs for flow in run["flows"] for key in LATENCIES if flow.get(key)
    }
    return next((key for key in LATENCIES if key in has), LATENCIES[0])


def _results(results: Sequence[Result], metric: str) -> dict[str, Pairs]:
    """The latencies and goodputs of each result's seeds."""
    return {label: _of_runs(result, metric) for label, result in zip(labels(results), results, strict=True)}


def _of_runs(result: Result, metric: str) -> Pairs:
    latencies = [[flow[metric] for flow in run["flows"] if flow.get(metric) is not None] for run in result.runs]
    return [fsum(each) / len(each) for each in latencies if each], [
        run["totals"][TOTALS.goodput_bps] for run in result.runs
    ]


def _flows(result: Result, metric: str) -> dict[str, Pairs]:
    """The latencies and goodputs of each flow, in every seed that has both."""
    points: dict[str, Pairs] = {}
    for flow in (flow for run in result.runs for flow in run["flows"]):
        if flow.get(metric) is not None and flow.get(GOODPUT) is not None:
            latencies, goodputs = points.setdefault(flow["id"], ([], []))
            latencies.append(flow[metric])
            goodputs.append(flow[GOODPUT])
    return points


def _point(label: str, pairs: Pairs, scale: float) -> Curve:
    latencies, goodputs = map(estimate, pairs)
    assert latencies is not None and goodputs is not None
    x, y = latencies.scaled(scale), goodputs.scaled(GOODPUT.shown.scale)
    return Curve(label, [x.mean], [y.mean], *_bounds(y), *_bounds(x))


def _bounds(mean: Estimate) -> tuple[list[float] | None, list[float] | None]:
    if mean.ci95_low is None or mean.ci95_high is None:
        return None, None
    return [mean.ci95_low], [mean.ci95_high]
