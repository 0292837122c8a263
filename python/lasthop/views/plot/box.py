"""Boxes of goodput and latency: of the samples of a time series, or of a number over the seeds; Flent's `box_totals`."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from ...data.arguments import Argument, ArgumentError, ArgumentLookupError
from ...data.metric import unknown
from ...data.nulls import is_measured
from ...data.quantities import FLOW, SERIES
from ...study.warmup import seconds
from ._chart import Chart, Curve
from ._left_out import not_shown
from ._quantity import quantity
from ._results import (
    CALLS,
    OF_LATENCY,
    in_panels,
    labels,
    latency_panel_of,
    over_seeds,
    panel_of,
    results_only,
    sentence,
)

if TYPE_CHECKING:
    from ...data.result import Result
    from ...data.series import TimeSeries
    from ._options import Options

SUMMARY = "boxes of download, upload and latencies for each result; with --metric a box for each flow, node or link"
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
        box
        for panel in ("download", "upload", *OF_LATENCY)
        for result, name in zip(results, names, strict=True)
        if (box := _of_panel(result, name, panel)) is not None
    ]
    if not curves:
        raise LookupError(f"{names[0]}: has no time series of goodput, nor of the RTT of a ping")
    drawn = in_panels(list(dict.fromkeys(curve.panel for curve in curves)))
    title = sentence(f"{_named(results)}{drawn}, samples over time, {_seeds(results)}") + NOTE
    panels = {"download": GOODPUT.axis, "upload": GOODPUT.axis} | dict.fromkeys(OF_LATENCY, RTT.axis)
    panels[CALLS] = FLOW.delay_quantiles_s.axis
    return Chart("box", title, "", GOODPUT.axis, tuple(curves), y_labels=panels, legend="none")


def _of_panel(result: Result, name: str, panel: str) -> Curve | None:
    """The box of a result in a panel, if there are samples."""
    if panel == CALLS:
        return _of_calls(result, name)
    samples = _totals(result, panel)
    return _box(name, [name], [samples], panel) if samples else None


def _of_calls(result: Result, name: str) -> Curve | None:
    """A box of the delays of calls, which have quantiles and no time series: the mean of each quantile over calls and seeds."""
    import numpy

    scale = FLOW.delay_quantiles_s.shown.scale
    of_calls = [
        numpy.interp(QUANTILES, run["quantile_probabilities"], flow[FLOW.delay_quantiles_s])
        for run in result.runs
        for flow in run["flows"]
        if flow["traffic"] == "voip" and flow.get(FLOW.delay_quantiles_s)
    ]
    if not of_calls:
        return None
    low, quartile, median, upper, high = ([scale * float(value)] for value in numpy.mean(of_calls, axis=0))
    return Curve(name, [name], median, quartile, upper, panel=CALLS, whisker_low=low, whisker_high=high)


def _totals(result: Result, panel: str) -> list[float]:
    """The samples of a panel after the warm-up: sums of goodput, or every RTT."""
    place = latency_panel_of if panel in OF_LATENCY else panel_of
    flows = [flow["id"] for flow in result.runs[0]["flows"] if place(flow) == panel]
    series = _after_warm_up(result).of_entities(flows).known()
    if panel in OF_LATENCY:
        rtts: list[float] = (RTT.shown.scale * series.of_metric(RTT).values).tolist()
        return rtts
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
    drawn = {name for curve in curves for name in curve.x}
    flows = {flow["id"] for result in results for run in result.runs for flow in run["flows"]}
    called = label.partition(" (")[0]
    remarks = not_shown(results, lambda flow: flow["id"] in drawn, f"no {called}") if flows & drawn else ()
    return Chart("box", title, "", label, tuple(curves), y_most=most, remarks=remarks)


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
