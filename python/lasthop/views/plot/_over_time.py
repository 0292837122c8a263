"""One line for each entity over time, one panel for each result; the first seed of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._chart import Chart, Curve
from ._left_out import not_shown
from ._quantity import quantity
from ._results import labels, of_first_seeds, results_only

if TYPE_CHECKING:
    from ...data.result import Result


def chart_of(
    sources: Sequence[Any], kind: str, metric: str, what: str, of_what: str = "", *, is_of_flows: bool = True
) -> Chart:
    """`metric` of every entity that has it; the title begins with `what`, `of_what` is the metric in the sentence about other flows.

    Entities whose values are all 0, such as queues that stayed empty, are counted below the picture.
    """
    results = results_only(sources, kind)
    label, scale, most = quantity(metric)
    names = labels(results)
    curves = tuple(
        curve
        for result, name in zip(results, names, strict=True)
        for curve in _curves(result, name, metric, scale, panel=name if len(results) > 1 else "")
    )
    shown = tuple(curve for curve in curves if any(value != 0 for value in curve.mean)) or curves
    remarks = (
        [f"{len(curves) - len(shown)} of {len(curves)} were always 0 and are left out."]
        if len(shown) < len(curves)
        else []
    )
    if is_of_flows:
        drawn = {curve.label for curve in curves}
        remarks += not_shown(
            results, lambda flow: flow["id"] in drawn, f"no {of_what or label.partition(' (')[0]} over time"
        )
    seeds = {int(result.series.seeds[0]) for result in results}
    title = of_first_seeds(what, results, seeds)
    return Chart("time_series", title, "time (s)", label, shown, y_most=most, same_y=True, remarks=tuple(remarks))


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
