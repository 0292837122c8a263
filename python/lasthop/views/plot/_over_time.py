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
    seeds = {result.timeseries["seed"].iloc[0] for result in results}
    return Chart(
        "time_series", of_first_seeds(what, results, seeds), "time (s)", label, curves, y_most=most, same_y=True
    )


def _curves(result: Result, name: str, metric: str, scale: float, panel: str) -> list[Curve]:
    series = result.timeseries
    of_metric = series[series["metric"] == metric]
    if of_metric.empty:
        known = ", ".join(sorted(map(str, series["metric"].unique())))
        raise LookupError(f"{name}: has no time series of {metric}; it has: {known}")
    first = of_metric[of_metric["seed"] == of_metric["seed"].iloc[0]]
    return [
        Curve(str(entity), line["time_s"].tolist(), (line["value"] * scale).tolist(), panel=panel)
        for entity, line in first.groupby("entity", observed=True, sort=False)
    ]
