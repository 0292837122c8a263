"""Share of the airtime of every node: the mean over the seeds, one bar for each result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...data.quantities import NODE
from ._chart import Chart
from ._results import curve, labels, mean_of, results_only, titled

if TYPE_CHECKING:
    from ...data.result import Result
    from ._options import Options

SUMMARY = "share of the airtime of every node, mean over seeds"
OPTIONS = ("node",)
WITHOUT = ("log_y",)
AIRTIME = NODE.airtime_fraction


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """Bars of stacked shares, in percent."""
    results = results_only(sources, "airtime")
    nodes = list(dict.fromkeys(node["name"] for result in results for run in result.runs for node in run["nodes"]))
    curves = tuple(
        curve(node, labels(results), (mean_of(_of_node(result, node), AIRTIME.shown.scale) for result in results))
        for node in nodes
    )
    return Chart("stack", titled("airtime by node", results, spread=False), "", AIRTIME.axis, curves)


def _of_node(result: Result, name: str) -> list[float | None]:
    return [node.get(AIRTIME) for run in result.runs for node in run["nodes"] if node["name"] == name]
