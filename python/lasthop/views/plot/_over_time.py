"""One line for each entity over time, one panel for each result; the first seed of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._chart import Chart, Curve
from ._quantity import quantity
from ._results import labels, of_first_seeds, results_only

if TYPE_CHECKING:
    from ...data.result import Result


def chart_of(sources: Sequence[Any], kind: str, metric: str, what: str) -> Chart:
    """`metric` of every entity that has it; the title begins with `what`."""
    results = results_only(sources, kind)
    label, scale, most = quantity(metric)
    names = labels(results)
    curves = tuple(
        curve
        for result, name in zip(results, names, strict=True)
        for curve in _curves(result, name, metric, scale, panel=name if len(results) > 1 else "")
    )
    seeds = {int(result.series.seeds[0]) for result in results}
    return Chart(
        "time_series", of_first_seeds(what, results, seeds), "time (s)", label, curves, y_most=most, same_y=True
    )


def _curves(result: Result, name: str, metric: str, scale: float, panel: str) -> list[Curve]:
    of_metric = result.series.of_metric(metric)
    if not len(of_metric):
        known = ", ".join(sorted(result.series.present_metrics()))
        raise LookupError(f"{name}: has no time series of {metric}; it has: {known}")
    first = of_metric.of_seed(of_metric.seeds[0])
    return [
        Curve(entity, line.times_s.tolist(), (line.values * scale).tolist(), panel=panel)
        for entity, line in first.by_entity()
    ]
