"""Share of the airtime of every node: the mean over the seeds, one bar for each result."""

from __future__ import annotations

from ..confidence import estimate
from ._style import colours, labels, repeats

SUMMARY = "share of the airtime of every node, mean over seeds"


def draw(results, figure):
    """Bars of stacked shares, in percent."""
    axes = figure.subplots()
    nodes = list(dict.fromkeys(node["name"] for result in results for run in result.runs for node in run["nodes"]))
    for position, result in enumerate(results):
        metrics, left = result.metrics, 0.0
        for node, colour, repeat in zip(nodes, colours(len(nodes)), repeats(len(nodes)), strict=True):
            found = estimate(list(metrics.get(f"nodes.{node}.airtime_fraction", {}).values()))
            share = 100 * found.mean if found else 0.0
            name = node if position == 0 and len(nodes) <= 12 else None
            hatch = "////" if repeat % 2 else None
            axes.barh(
                position, share, left=left, color=colour, edgecolor="white", linewidth=0.5, hatch=hatch, label=name
            )
            left += share
    axes.set_axisbelow(True)
    axes.set_yticks(range(len(results)), labels(results))
    axes.invert_yaxis()
    axes.set_xlabel("airtime (%)")
    if len(nodes) <= 12:
        figure.legend(loc="outside lower center", ncols=4)
