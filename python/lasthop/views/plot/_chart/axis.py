"""Axes: limits, plain numbers on a logarithmic axis, names on an axis of categories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from . import marks
from .data import Chart, Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TICKS = 9
# Over a wider range of values, ticks at powers of ten are enough.
DECADES_ARE_ENOUGH = 50


def numbers(curve: Curve) -> list[float]:
    """The values of x that are numbers, not names."""
    return [value for value in curve.x if not isinstance(value, str)]


def categories(curves: Iterable[Curve]) -> list[Any]:
    """The values of x of all curves, each once, in order of first appearance."""
    return list(dict.fromkeys(value for curve in curves for value in curve.x))


def finish(axes: Axes, chart: Chart, *, bounded: bool = False) -> None:
    """Scales, labels and limits: from 0 if no value is negative; up to 1 if `bounded`."""
    if chart.log_x and not chart.is_named:
        logarithmic(axes.xaxis, [value for curve in chart.curves for value in numbers(curve)])
        if chart.kind != "scatter":  # ticks of measured values are at round numbers
            _ticks_at_few(axes.xaxis, categories(chart.curves))
    elif not chart.is_named and all(float(value).is_integer() for value in categories(chart.curves)):
        ticks: Any = axes.xaxis.get_major_locator()
        ticks.set_params(integer=True)  # half a station does not exist
    if chart.log_y:
        logarithmic(axes.yaxis, means_of(chart) + marks.values(chart))
    elif bounded:
        axes.set_ylim(0, 1.02)
    else:
        from_nought(axes.yaxis, chart)
    limit(axes.yaxis, chart)
    axes.set_ylabel(chart.y_label)


def limit_along(axes: Axes, chart: Chart) -> None:
    """Applies the requested limits of the x axis. Call it last."""
    if chart.x_limits != (None, None):
        axes.set_xlim(
            *(
                current if wanted is None else wanted
                for wanted, current in zip(chart.x_limits, axes.get_xlim(), strict=True)
            )
        )


def limit(axis: Any, chart: Chart) -> None:
    """Applies the requested limits of the axis of values."""
    least, most = axis.get_view_interval()
    low, high = chart.y_limits
    if (low, high) != (None, None):
        axis.axes.set(**{f"{axis.axis_name}lim": (least if low is None else low, most if high is None else high)})


def within_bounds(chart: Chart) -> Chart:
    """The chart with intervals cut to the possible values of the quantity, never short of their means.

    An interval by Student's t can exceed the range of a quantity. Boxes stay as they are: none of their values is an
    estimate.
    """
    if chart.kind == "box":
        return chart
    most = inf if chart.y_most is None else chart.y_most
    least = chart.y_least
    if least is None:
        least = 0.0 if min(means_of(chart), default=-1.0) >= 0 else -inf

    def cut(curve: Curve) -> Curve:
        if curve.low is None or curve.high is None:
            return curve
        # A bound that is NaN stays NaN, as it is the first argument.
        low = [min(max(bound, least), mean) for mean, bound in zip(curve.mean, curve.low, strict=True)]
        high = [max(min(bound, most), mean) for mean, bound in zip(curve.mean, curve.high, strict=True)]
        return replace(curve, low=low, high=high)

    return replace(chart, curves=tuple(cut(curve) for curve in chart.curves))


def from_nought(axis: Any, chart: Chart) -> None:
    """Begins the axis of values at 0 if no mean is negative, whatever the intervals, and leaves room above."""
    means = means_of(chart)
    if not means or min(means) < 0:
        return
    most = 1.06 * max(axis.get_data_interval()[1], *marks.values(chart), 0.0)
    if chart.y_most is not None:
        most = min(most, 1.02 * chart.y_most)
    # A curve down to 0 is shown completely.
    least = -0.02 * most if chart.kind in ("lines", "scatter") and min(means) < 0.02 * most else 0
    if most == 0:
        most = 1.0  # all values are 0, on an axis from 0
    if most > 0:
        axis.axes.set(**{f"{axis.axis_name}lim": (least, most)})


def means_of(chart: Chart) -> list[float]:
    """The finite means of all curves."""
    return [value for curve in chart.curves for value in curve.mean if isfinite(value)]


def logarithmic(axis: Any, values: Sequence[float]) -> None:
    """Makes an axis with these values logarithmic, with enough ticks in plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    shown = [value for value in values if isfinite(value) and value > 0]
    if shown and max(shown) < DECADES_ARE_ENOUGH * min(shown):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axis.set_minor_formatter(NullFormatter())


def _ticks_at_few(axis: Any, values: Sequence[float]) -> None:
    """Ticks at the points, if these are few and not close together."""
    from matplotlib.ticker import FixedLocator, NullLocator

    steps = sorted(value for value in values if isfinite(value) and value > 0)
    if 1 < len(steps) <= MOST_TICKS and all(further > 1.3 * near for near, further in pairwise(steps)):
        axis.set_major_locator(FixedLocator(steps))
        axis.set_minor_locator(NullLocator())


def plain(value: float | str) -> str:
    """A number in plain notation: 0.02, 2.5, 1000, 10⁶."""
    if isinstance(value, str):
        return value
    text = f"{value:.6g}"
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    power = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{power}" if mantissa == "1" else f"{mantissa}·10{power}"


def lengths(mean: Any, low: Any, high: Any) -> list[list[float]]:
    """Distances from means down and up to the bounds of their intervals; NaN without an interval."""
    below = [middle - bound for middle, bound in zip(mean, low, strict=True)]
    return [below, [bound - middle for middle, bound in zip(mean, high, strict=True)]]
