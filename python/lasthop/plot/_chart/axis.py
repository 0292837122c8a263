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
    elif _lowest(chart) >= 0:
        axes.set_ylim(bottom=0)
    if bounded:
        axes.set_ylim(0, 1)
    axes.set_ylabel(chart.y_label)


def _lowest(chart: Chart) -> float:
    bounds = [values for curve in chart.curves for values in (curve.mean, curve.low) if values is not None]
    # An interval of a quantity that is never negative may reach below zero; the axis need not.
    means = [value for curve in chart.curves for value in curve.mean if isfinite(value)]
    return min(means) if bounds and means else 0.0


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
