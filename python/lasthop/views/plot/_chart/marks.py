"""Reference marks next to the curves: a value, a range, or one of these at a single x.

Marks are grey, never in the colours of the curves, and have entries of their own in the legend.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING, Any

from .data import Chart, Mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GREY = "0.35"
# Bounds of ranges differ in their dashes; a value at one x is a star, a range there a bar.
DASHES: tuple[Any, ...] = ((0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
STARS = ("*", "X", "P")


def draw(axes: Axes, chart: Chart) -> None:
    """Draws the marks of `chart` within the limits of the axes."""
    for number, mark in enumerate(chart.marks):
        if mark.x is None:
            _across(axes, mark, number)
        elif mark.low is None or mark.high is None:
            axes.axvline(mark.x, color=GREY, linestyle=_of(DASHES, number), linewidth=0.9)
        else:
            _at(axes, mark.x, mark.low, mark.high, number)


def handles(chart: Chart) -> Iterator[Any]:
    """Returns the legend entry of each mark."""
    from matplotlib.lines import Line2D

    for number, mark in enumerate(chart.marks):
        if mark.x is None or mark.low is None:
            yield Line2D([], [], color=GREY, linestyle=_of(DASHES, number), linewidth=0.9)
        else:
            yield Line2D([], [], color=GREY, linestyle="none", marker=_of(STARS, number), markersize=5.5)


def values(chart: Chart) -> list[float]:
    """Returns the values that the value axis must include to show every mark."""
    bounds = (bound for mark in chart.marks for bound in (mark.low, mark.high))
    return [bound for bound in bounds if bound is not None and isfinite(bound)]


def _across(axes: Axes, mark: Mark, number: int) -> None:
    look: dict[str, Any] = {"color": GREY, "linestyle": _of(DASHES, number), "linewidth": 0.9}
    bounds = [bound for bound in dict.fromkeys((mark.low, mark.high)) if bound is not None]
    for bound in bounds:
        axes.axhline(bound, **look)
    if len(bounds) > 1:
        axes.axhspan(*bounds, color=GREY, alpha=0.1, linewidth=0)


def _at(axes: Axes, x: float, low: float, high: float, number: int) -> None:
    middle, half = (low + high) / 2, (high - low) / 2
    look: dict[str, Any] = {"marker": _of(STARS, number), "markersize": 5.5, "linestyle": "none", "zorder": 5}
    axes.errorbar(
        [x], [middle], yerr=[half] if half else None, color=GREY, elinewidth=0.9, capsize=2.5, capthick=0.9, **look
    )


def _of(looks: tuple[Any, ...], number: int) -> Any:
    return looks[number % len(looks)]
