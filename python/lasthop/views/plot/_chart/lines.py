"""Lines with their bands: over time, over a setting, of a distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import names
from .axis import categories, finish, lengths, plain
from .data import Chart, Curve
from .style import LINE_WIDTH, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Up to this many overlapping bands are readable, or twice as many faint ones. With more lines over a setting, intervals
# are drawn as bars; over time and for distributions they are only in the data.
MOST_BANDS = 5
# A line with at most this many points has a marker at each; a longer one at a few, to be recognised.
MOST_POINTS = 25
SIGNS_ON_A_LINE = 5
SIGNS_APART = 0.2
# More lines than this are drawn thinner.
FEW_LINES = 8


def draw(axes: Axes, chart: Chart, looks: dict[str, Look]) -> None:
    """Draws each curve of `chart`."""
    places = {value: place for place, value in enumerate(categories(chart.curves))} if chart.is_named else None
    width = LINE_WIDTH if len(chart.curves) <= FEW_LINES else 0.7 * LINE_WIDTH
    for number, curve in enumerate(chart.curves):
        x = [places[value] for value in curve.x] if places else curve.x
        look = looks[curve.label]
        if look.is_other:
            axes.plot(x, curve.mean, color=look.colour, linewidth=0.5 * LINE_WIDTH, zorder=1)
            continue
        axes.plot(
            x,
            curve.mean,
            color=look.colour,
            linestyle=look.dashes,
            linewidth=width,
            marker=look.marker,
            markevery=_signs(chart, curve, number),
        )
        _interval(axes, chart, curve, x, look)
    if places:
        names.write(axes, range(len(places)), [plain(value) for value in places], chart)
        axes.set_xlim(-0.5, len(places) - 0.5)
    elif chart.kind == "time_series" and not chart.log_x:
        axes.set_xlim(left=0)
    finish(axes, chart, bounded=chart.kind == "cdf")


def _signs(chart: Chart, curve: Curve, number: int) -> Any:
    """The points with a marker: all of a short line, else a few that the next curve does not mark."""
    if chart.kind == "lines" and len(curve.x) <= MOST_POINTS:
        return None
    if len(chart.curves) == 1:
        return []
    if chart.kind == "cdf":
        # By the length of the line, as most points of a distribution lie close together.
        return (SIGNS_APART * number / len(chart.curves), SIGNS_APART)
    step = max(1, len(curve.x) // SIGNS_ON_A_LINE)
    return (number * step // max(2, len(chart.curves)), step)


def _interval(axes: Axes, chart: Chart, curve: Curve, x: Any, look: Look) -> None:
    many = len(chart.curves) > MOST_BANDS
    if curve.low is not None and curve.high is not None and chart.kind == "lines" and many:
        errors = lengths(curve.mean, curve.low, curve.high)
        axes.errorbar(x, curve.mean, errors, fmt="none", ecolor=look.colour, elinewidth=0.6, capsize=1.2, capthick=0.6)
    elif len(chart.curves) <= 2 * MOST_BANDS:
        band: dict[str, Any] = {"color": look.colour, "alpha": 0.1 if many else 0.2, "linewidth": 0}
        if curve.low is not None and curve.high is not None:
            axes.fill_between(x, curve.low, curve.high, **band)
        if curve.x_low is not None and curve.x_high is not None:
            axes.fill_betweenx(curve.mean, curve.x_low, curve.x_high, **band)
