"""Jain's index of fairness of each result: over all flows, the uploads, the downloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from ...data.quantities import FLOW, TOTALS
from ._chart import Chart
from ._chosen import is_part
from ._left_out import without_goodput
from ._results import curve, labels, mean_of, results_only, titled

if TYPE_CHECKING:
    from ...data.result import Result
    from ._options import Options

SUMMARY = "Jain's index of fairness, mean over seeds with its 95 % interval"
OPTIONS = ("flow", "traffic")
# The flows, their column in the totals, and their direction.
SETS = (
    ("all flows", TOTALS.jain_index, ""),
    ("uploads", TOTALS.jain_index_up, "up"),
    ("downloads", TOTALS.jain_index_down, "down"),
)


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """A group of bars for each result; one bar if all flows have one direction."""
    results = results_only(sources, "jain")
    sets = SETS if all(_has(results, key, way) for _, key, way in SETS) else SETS[:1]
    curves = tuple(
        curve(name, labels(results), (mean_of(_of_seeds(result, key, way)) for result in results))
        for name, key, way in sets
    )
    title = titled("fairness among flows", results)
    most, remarks = TOTALS.jain_index.most, without_goodput(results)
    return Chart("bars", title, "", TOTALS.jain_index.axis, curves, y_most=most, remarks=remarks)


def _has(results: Sequence[Result], key: str, direction: str) -> bool:
    return any(value is not None for result in results for value in _of_seeds(result, key, direction))


def _of_seeds(result: Result, key: str, direction: str) -> list[float | None]:
    if not is_part(result):
        return [run["totals"].get(key) for run in result.runs]
    return [_index(run["flows"], direction) for run in result.runs]


def _index(flows: Sequence[Mapping[str, Any]], direction: str) -> float | None:
    """(Σx)² / (n Σx²) of the goodputs, as the totals have it of all flows. [Jain, Chiu, Hawe 1984]"""
    chosen = [flow for flow in flows if not direction or flow["direction"] == direction]
    goodputs = [flow[FLOW.goodput_bps] for flow in chosen if flow.get(FLOW.goodput_bps) is not None]
    squares = fsum(goodput * goodput for goodput in goodputs)
    return fsum(goodputs) ** 2 / (len(goodputs) * squares) if squares else None
