"""Bars beside one another with their intervals, and bars that stand on one another."""

from __future__ import annotations

from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from .axis import categories, plain
from .data import Chart, Curve
from .style import COLUMN_INCHES, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICK_POINTS = 7
# What is left of the width for the axes themselves.
AXES_POINTS = (COLUMN_INCHES - 0.55) * 72
# So many names stand along an axis; of more, every second, third ... is written.
MOST_NAMES = 34
# Bars lie where their names are long and so few.
MOST_LYING = 12
# As many places are kept free as would make bars no wider than this part of the axis.
FEWEST_PLACES = 3
GROUP_WIDTH = 0.8


def draw_bars(axes: Axes, chart: Chart, looks: dict[str, Look]) -> None:
    """One group for each x, in it one bar for each curve."""
    places = categories(chart.curves)
    width = GROUP_WIDTH / len(chart.curves)
    for number, curve in enumerate(chart.curves):
        values, errors = _values(curve, places), _errors(curve, places)
        at = [place + (number - (len(chart.curves) - 1) / 2) * width for place in range(len(places))]
        _bar(axes, chart, at, values, width, looks[curve.label], errors=errors)
        _mark_missing(axes, chart, at, values)
    _finish(axes, chart, places)


def draw_stack(axes: Axes, chart: Chart, looks: dict[str, Look]) -> None:
    """One bar for each x, in it the curves on one another; what is missing counts as nothing."""
    places = categories(chart.curves)
    tops = [0.0] * len(places)
    for curve in chart.curves:
        values = [value if isfinite(value) else 0.0 for value in _values(curve, places)]
        _bar(axes, chart, range(len(places)), values, GROUP_WIDTH, looks[curve.label], base=tops)
        tops = [top + value for top, value in zip(tops, values, strict=True)]
    _finish(axes, chart, places)


def stretch(chart: Chart) -> float:
    """How much higher or lower than usual the figure is."""
    if not _lying(chart):
        return 1.0
    bars = len(categories(chart.curves)) * (len(chart.curves) if chart.kind == "bars" else 2)
    return min(2.0, 0.4 + 0.055 * bars)


def _bar(axes: Axes, chart: Chart, at: Any, values: list[float], width: float, look: Look, *, base: Any = 0, errors: Any = None) -> None:
    looks = {"color": look.colour, "hatch": look.hatch, "edgecolor": "white", "linewidth": 0.3}
    bars = {"ecolor": "black", "error_kw": {"elinewidth": 0.7, "capsize": min(2.0, 30 * width / len(list(at))), "capthick": 0.7}}
    if _lying(chart):
        axes.barh(at, values, width, left=base, xerr=errors, **looks, **bars)
    else:
        axes.bar(at, values, width, bottom=base, yerr=errors, **looks, **bars)


def _values(curve: Curve, places: list[Any]) -> list[float]:
    known = dict(zip(curve.x, curve.mean, strict=True))
    return [float(known.get(place, nan)) for place in places]


def _errors(curve: Curve, places: list[Any]) -> list[list[float]] | None:
    if curve.low is None or curve.high is None:
        return None
    known = {x: (m - l, h - m) for x, m, l, h in zip(curve.x, curve.mean, curve.low, curve.high, strict=True)}
    pairs = [known.get(place, (nan, nan)) for place in places]
    return [[below for below, _ in pairs], [above for _, above in pairs]]


def _mark_missing(axes: Axes, chart: Chart, at: list[float], values: list[float]) -> None:
    """A bar of no height is nothing; one that is not there says so."""
    missing = [place for place, value in zip(at, values, strict=True) if not isfinite(value)]
    ground = [0] * len(missing)
    x, y = (ground, missing) if _lying(chart) else (missing, ground)
    axes.plot(x, y, "x", color="0.4", markersize=3, markeredgewidth=0.7, clip_on=False, zorder=3)


def _lying(chart: Chart) -> bool:
    """Whether names are too long to stand side by side and few enough to be read one below the other."""
    from .drawing import width_of

    places = categories(chart.curves)
    if len(places) > MOST_LYING:
        return False
    if chart.kind == "stack" and len(places) < FEWEST_PLACES:
        return True
    room = AXES_POINTS / max(FEWEST_PLACES, len(places))
    names = [plain(place) for place in places]
    return any(width_of(name, TICK_POINTS) > room - 2 for name in names) and max(map(len, names)) > 6


def _finish(axes: Axes, chart: Chart, places: list[Any]) -> None:
    from .drawing import width_of

    every = -(-len(places) // MOST_NAMES)
    ticks, names = range(0, len(places), every), [plain(place) for place in places[::every]]
    half = max(len(places), FEWEST_PLACES if not _lying(chart) else 1) / 2
    middle = (len(places) - 1) / 2
    if _lying(chart):
        axes.set_yticks(ticks, names)
        axes.set_ylim(middle + half, middle - half)
        axes.set(xlabel=chart.y_label, ylabel=chart.x_label)
        axes.grid(visible=False, axis="y")
        if chart.log_y:
            axes.set_xscale("log", nonpositive="clip")
        return
    room = AXES_POINTS / max(len(names), FEWEST_PLACES)
    upright = any(width_of(name, TICK_POINTS) > room - 2 for name in names)
    size = min(TICK_POINTS, max(4.5, 0.95 * room)) if upright else TICK_POINTS
    axes.set_xticks(ticks, names, rotation=90 if upright else 0, fontsize=size)
    axes.set_xlim(middle - half, middle + half)
    axes.set_ylabel(chart.y_label)
    axes.grid(visible=False, axis="x")
    if chart.log_y:
        axes.set_yscale("log", nonpositive="clip")
