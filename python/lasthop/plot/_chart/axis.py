"""Axes: where they begin, plain numbers along a logarithmic one, names along one without numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from .data import Chart, Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TICKS = 9


def categories(curves: Iterable[Curve]) -> list[Any]:
    """The values of x of all curves, each once, in the order in which they first stand."""
    return list(dict.fromkeys(value for curve in curves for value in curve.x))


def is_named(chart: Chart) -> bool:
    """Whether x is names rather than numbers."""
    return any(isinstance(value, str) for curve in chart.curves for value in curve.x)


def finish(axes: Axes, chart: Chart, *, bounded: bool = False) -> None:
    """Scales, labels and limits: from 0 where nothing is below it; to 1 where `bounded`."""
    if chart.log_x and not is_named(chart):
        axes.set_xscale("log", nonpositive="mask")
        _logarithmic(axes.xaxis, [value for curve in chart.curves for value in curve.x])
    if chart.log_y:
        axes.set_yscale("log", nonpositive="mask")
        _logarithmic(axes.yaxis, [])
    elif bounded:
        axes.set_ylim(0, 1.02)
    else:
        from_nought(axes.yaxis, chart)
    axes.set_ylabel(chart.y_label)


def from_nought(axis: Any, chart: Chart) -> None:
    """Begins the axis of values at 0 where no mean is below it, whatever the intervals, and leaves room above."""
    means = [value for curve in chart.curves for value in curve.mean if isfinite(value)]
    if not means or min(means) < 0:
        return
    most = axis.get_data_interval()[1]
    # What lies at 0 is seen whole.
    least = -0.02 * most if chart.kind in ("lines", "scatter") and min(means) < 0.02 * most else 0
    if most > 0:
        axis.axes.set(**{f"{axis.axis_name}lim": (least, 1.06 * most)})


def _logarithmic(axis: Any, values: Sequence[float]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

    steps = sorted({float(value) for value in values if isfinite(value) and value > 0})
    if 1 < len(steps) <= MOST_TICKS and all(b / a > 1.3 for a, b in zip(steps, steps[1:], strict=False)):
        axis.set_major_locator(FixedLocator(steps))
        axis.set_minor_locator(NullLocator())
    elif steps and steps[-1] / steps[0] < 50:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axis.set_minor_formatter(NullFormatter())


def plain(value: float | str) -> str:
    """A number as people write it: 0.02, 2.5, 1000, 10⁶."""
    if isinstance(value, str):
        return value
    text = f"{value:.6g}"
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    power = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{power}" if mantissa == "1" else f"{mantissa}·10{power}"
