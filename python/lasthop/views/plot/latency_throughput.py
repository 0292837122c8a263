"""Latency against throughput: a point for each result, or for each flow of one; down and right is worse.

For several results, the chosen flows give the latency; the goodput is that of all flows.
"""

from __future__ import annotations

from math import fsum

from ...data.confidence import estimate
from ...data.quantities import FLOW, TOTALS
from ._chart import Chart, Curve
from ._chosen import is_part
from ._quantity import quantity
from ._results import labels, results_only, titled

SUMMARY = (
    "latency against throughput, a point for each result (of a single one for each flow), with intervals both ways"
)
NUMBERS_ALONG = True
OPTIONS = ("metric", "flow", "traffic", "log_x")
# The first of these that a flow has: round trips of TCP and ping, one-way delays of UDP.
LATENCIES = (FLOW.rtt_p95_s, FLOW.delay_p95_s)
GOODPUT = FLOW.goodput_bps


def chart(sources, options):
    """Points of the mean over seeds; the latency of a result is the mean over its flows."""
    results = results_only(sources, "latency_throughput")
    metric = options.metric or _metric(results)
    points = _results(results, metric) if len(results) > 1 else _flows(results[0], metric)
    label, scale, _ = quantity(metric)
    curves = tuple(_point(name, *pairs, scale) for name, pairs in points.items() if all(pairs))
    if not curves:
        raise LookupError(f"{labels(results)[0]}: no flow has both {metric} and a goodput; ping delivers nothing")
    what = "by flow" if len(results) == 1 else "of all flows" if any(map(is_part, results)) else ""
    title = titled(f"latency and goodput {what}".rstrip(), results)
    x_label = label if len(results) == 1 else label.replace(" (", ", mean over flows (")
    return Chart("scatter", title, x_label, GOODPUT.axis, curves, log_x=options.log_x)


def _metric(results):
    has = {
        key for result in results for run in result.runs for flow in run["flows"] for key in LATENCIES if flow.get(key)
    }
    return next((key for key in LATENCIES if key in has), LATENCIES[0])


def _results(results, metric):
    """By result the latencies and the goodputs of its seeds."""
    return {label: _of_runs(result, metric) for label, result in zip(labels(results), results, strict=True)}


def _of_runs(result, metric):
    latencies = [[flow[metric] for flow in run["flows"] if flow.get(metric) is not None] for run in result.runs]
    return [fsum(each) / len(each) for each in latencies if each], [
        run["totals"][TOTALS.goodput_bps] for run in result.runs
    ]


def _flows(result, metric):
    """By flow its latencies and its goodputs in every seed that has both."""
    points = {}
    for flow in (flow for run in result.runs for flow in run["flows"]):
        if flow.get(metric) is not None and flow.get(GOODPUT) is not None:
            latencies, goodputs = points.setdefault(flow["id"], ([], []))
            latencies.append(flow[metric])
            goodputs.append(flow[GOODPUT])
    return points


def _point(label, latencies, goodputs, scale):
    x, y = estimate(latencies).scaled(scale), estimate(goodputs).scaled(GOODPUT.shown.scale)
    across = ([x.ci95_low], [x.ci95_high]) if x.ci95_low is not None else (None, None)
    along = ([y.ci95_low], [y.ci95_high]) if y.ci95_low is not None else (None, None)
    return Curve(label, [x.mean], [y.mean], *along, *across)
