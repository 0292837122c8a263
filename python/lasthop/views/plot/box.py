"""Boxes of goodput and latency: of the samples of a time series, or of a number over the seeds; Flent's `box_totals`."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from ...data.arguments import Argument, ArgumentError, ArgumentLookupError
from ...data.metric import unknown
from ...data.nulls import is_measured
from ...data.quantities import SERIES
from ...study.warmup import seconds
from ._chart import Chart, Curve
from ._quantity import quantity
from ._results import labels, over_seeds, panel_of, results_only, sentence

if TYPE_CHECKING:
    from ...data.result import Result
    from ...data.series import TimeSeries
    from ._options import Options

SUMMARY = "boxes of download, upload and ping for each result; with --metric a box for each flow, node or link"
OPTIONS = ("metric", "flow", "node", "traffic")
# The quantiles of a box: whiskers, quartiles, median.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
NOTE = "; box: quartiles and median, whiskers: 5 to 95\N{NO-BREAK SPACE}%"
GOODPUT, RTT = SERIES.goodput_bps, SERIES.rtt_s


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """Totals in three panels, or one metric by entity."""
    results = results_only(sources, "box")
    names = labels(results)
    if options.metric is not None:
        return _of_metric(results, names, options.metric)
    for name in ("node", "y_label", "y_min", "y_max", "log_y"):
        if getattr(options, name) not in (None, False, (), []):
            raise ArgumentError(Argument(name), " has an effect on plot box only with ", Argument("metric"))
    curves = [
        _box(name, [name], [samples], panel)
        for panel in ("download", "upload", "ping")
        for result, name in zip(results, names, strict=True)
        if (samples := _totals(result, panel))
    ]
    if not curves:
        raise LookupError(f"{names[0]}: has no time series of goodput, nor of the RTT of a ping")
    title = sentence(f"{_named(results)}goodput in all and ping, samples over time, {_seeds(results)}") + NOTE
    panels = {"download": GOODPUT.axis, "upload": GOODPUT.axis, "ping": RTT.axis}
    return Chart("box", title, "", GOODPUT.axis, tuple(curves), y_labels=panels, legend="none")


def _totals(result: Result, panel: str) -> list[float]:
    """The samples of a panel after the warm-up: sums of goodput, or the RTT of every ping."""
    flows = [flow["id"] for flow in result.runs[0]["flows"] if panel_of(flow) == panel]
    series = _after_warm_up(result).of_entities(flows).known()
    if panel == "ping":
        pings: list[float] = (RTT.shown.scale * series.of_metric(RTT).values).tolist()
        return pings
    _, totals = series.of_metric(GOODPUT).sums()
    sums = (value for of_seed in (GOODPUT.shown.scale * totals).T.tolist() for value in of_seed)
    return [value for value in sums if not isnan(value)]


def _of_metric(results: Sequence[Result], names: Sequence[str], metric: str) -> Chart:
    """Boxes of each entity: of samples over time if the metric has a time series, else over the seeds."""
    over_time = all(_has_series(result, metric) for result in results)
    label, scale, most = quantity(metric)
    curves = []
    for result, name in zip(results, names, strict=True):
        values_of = _series(result, metric) if over_time else _of_runs(result, metric)
        if not values_of:
            series, numbers = _known(result)
            available = (
                f"{name} has time series of {', '.join(series) or 'nothing'}; `lasthop list quantity` names the others"
            )
            raise ArgumentLookupError(Argument("metric"), f" {unknown(metric, [*series, *numbers], available)}")
        samples = [[scale * value for value in values] for values in values_of.values()]
        curves.append(_box(name, list(values_of), samples))
    samples_of = "samples over time, " if over_time else ""
    title = sentence(f"{_named(results)}{label.split(' (')[0]}, {samples_of}{_seeds(results)}") + NOTE
    return Chart("box", title, "", label, tuple(curves), y_most=most)


def _known(result: Result) -> tuple[list[str], list[str]]:
    """Returns the possible metrics: time series, then numbers of flows, nodes and links."""
    try:
        series = sorted(result.series.present_metrics())
    except LookupError:
        series = []
    rows = (row for run in result.runs for kind in ("flows", "nodes", "links") for row in run[kind])
    numbers = {key for row in rows for key, value in row.items() if isinstance(value, int | float)}
    return series, sorted(numbers.difference(series))


def _series(result: Result, metric: str) -> dict[str, list[float]]:
    series = _after_warm_up(result).of_metric(metric).known()
    return {entity: part.values.tolist() for entity, part in series.by_entity()}


def _of_runs(result: Result, metric: str) -> dict[str, list[float]]:
    """The metric's number in each seed, by entity: of flows, else nodes, else links."""
    for kind in ("flows", "nodes", "links"):
        values_of: dict[str, list[float]] = {}
        for row in (row for run in result.runs for row in run[kind]):
            if isinstance(row.get(metric), int | float):
                name = row.get("id") or row.get("name") or f"{row['node']}->{row['peer']}"
                values_of.setdefault(name, []).append(row[metric])
        if values_of:
            return values_of
    return {}


def _has_series(result: Result, metric: str) -> bool:
    try:
        return len(result.series.of_metric(metric)) > 0
    except LookupError:
        return False


def _after_warm_up(result: Result) -> TimeSeries:
    """The samples whose interval lies in the window that summaries cover."""
    series = result.series
    if any(map(is_measured, result.runs)):
        # The series of a capture has no other samples.
        return series
    return series.where(series.times_s >= seconds(result.scenario["warmup"]) + series.times_s.min() - 1e-9)


def _box(label: str, x: Sequence[str], samples: Sequence[Sequence[float]], panel: str = "") -> Curve:
    import numpy

    rows = zip(*(numpy.quantile(each, QUANTILES) for each in samples), strict=True)
    low, quartile, median, upper, high = (list(map(float, row)) for row in rows)
    return Curve(label, x, median, quartile, upper, panel=panel, whisker_low=low, whisker_high=high)


def _named(results: Sequence[Result]) -> str:
    return f"{results[0].name}: " if len(results) == 1 else ""


def _seeds(results: Sequence[Result]) -> str:
    most = max(len(result.runs) for result in results)
    return over_seeds([result.seeds for result in results]) if most == 1 else f"{most} seeds"
