"""Points with intervals both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .axis import finish, lengths, numbers
from .data import Chart
from .style import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: Axes, chart: Chart, looks: dict[str, Look]) -> None:
    """Draws each curve of `chart` as points of one colour and marker."""
    positive = all(value >= 0 for curve in chart.curves for value in numbers(curve))
    least = 0.0 if positive else float("-inf")
    for curve in chart.curves:
        look = looks[curve.label]
        across = (
            None if curve.x_low is None else lengths(curve.x, [max(least, low) for low in curve.x_low], curve.x_high)
        )
        along = None if curve.low is None else lengths(curve.mean, curve.low, curve.high)
        axes.errorbar(
            curve.x,
            curve.mean,
            yerr=along,
            xerr=across,
            fmt="." if look.is_other else look.marker,
            color=look.colour,
            markersize=4,
            elinewidth=0.7,
            capsize=1.5,
            capthick=0.7,
        )
    axes.margins(x=0.08)
    finish(axes, chart)
    if not chart.log_x and positive:
        axes.set_xlim(left=0)
