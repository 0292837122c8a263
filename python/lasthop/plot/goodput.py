"""Goodput of every flow: the mean over the seeds and its 95 % interval."""

from __future__ import annotations

from ._chart import Chart
from ._results import curve, labels, mean_of, results_only, titled

SUMMARY = "goodput of every flow, mean over seeds with its 95 % interval"
OPTIONS = ()


def chart(sources, options):
    """A bar for each flow; several results stand beside one another."""
    results = results_only(sources, "goodput")
    flows = list(dict.fromkeys(flow["id"] for result in results for run in result.runs for flow in run["flows"]))
    curves = tuple(
        curve(label, flows, (mean_of(_of_flow(result, flow), 1e-6) for flow in flows))
        for result, label in zip(results, labels(results), strict=True)
    )
    return Chart("bars", titled("goodput by flow", results), "flow", "goodput (Mbit/s)", curves)


def _of_flow(result, flow_id):
    return [flow.get("goodput_bps") for run in result.runs for flow in run["flows"] if flow["id"] == flow_id]
