"""Share of the airtime of every node: the mean over the seeds, one bar for each result."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, isfinite
from typing import TYPE_CHECKING, Any

from ...data.quantities import NODE
from ._chart import MOST_NAMED, Chart, Curve
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
    used = [curve for curve in curves if any(isfinite(value) and value > 0 for value in curve.mean)] or [*curves]
    remarks = (f"{len(curves) - len(used)} nodes sent nothing.",) if len(used) < len(curves) else ()
    title = titled("airtime by node", results, spread=False)
    return Chart("stack", title, "", AIRTIME.axis, _collected(used), remarks=remarks)


def _collected(curves: Sequence[Curve]) -> tuple[Curve, ...]:
    """The largest parts and the sum of the others: twelve hatches look alike."""
    if len(curves) <= MOST_NAMED + 1:
        return tuple(curves)
    ranked = sorted(curves, key=lambda curve: -fsum(value for value in curve.mean if isfinite(value)))
    largest = {curve.label for curve in ranked[:MOST_NAMED]}
    rest = [curve for curve in curves if curve.label not in largest]
    columns = zip(*(curve.mean for curve in rest), strict=True)
    sums = [fsum(value for value in column if isfinite(value)) for column in columns]
    others = Curve(f"{len(rest)} others", rest[0].x, sums)
    return (*(curve for curve in curves if curve.label in largest), others)


def _of_node(result: Result, name: str) -> list[float | None]:
    return [node.get(AIRTIME) for run in result.runs for node in run["nodes"] if node["name"] == name]
