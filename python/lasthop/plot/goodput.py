"""Goodput of every flow: the mean over the seeds and its 95 % interval."""

from __future__ import annotations

from ..confidence import estimate
from ._style import colours, labels

SUMMARY = "goodput of every flow, mean over seeds with its 95 % interval"


def draw(results, figure):
    """A dot for each flow; several results stand beside one another."""
    axes = figure.subplots()
    flows = list(dict.fromkeys(flow["id"] for result in results for run in result.runs for flow in run["flows"]))
    for number, (result, label, colour) in enumerate(zip(results, labels(results), colours(len(results)), strict=True)):
        metrics = result.metrics
        shift = (number - (len(results) - 1) / 2) * 0.5 / len(results)
        for position, flow in enumerate(flows):
            found = estimate(list(metrics.get(f"flows.{flow}.goodput_bps", {}).values()))
            if found is None:
                continue
            axes.errorbar(
                position + shift,
                found.mean / 1e6,
                yerr=(found.half_width or 0) / 1e6,
                fmt="o",
                markersize=3,
                color=colour,
                label=label if position == 0 else None,
            )
    axes.set_xticks(range(len(flows)), flows, rotation=90 if len(flows) > 4 else 0)
    axes.set_ylabel("goodput (Mbit/s)")
    axes.set_ylim(bottom=0)
    if len(results) > 1:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=4)
