"""Groups of bars with intervals, stacked bars, and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from ....data.plain_number import plain as plain_number
from .axis import categories, from_nought, lengths, limit, logarithmic, means_of, plain
from .data import Chart, Curve
from .style import POINTS_PER_INCH, Look
from .text import width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICK_POINTS, LEAST_TICK_POINTS = 7, 4.5
# The part of the width outside the axes.
BESIDE_INCHES = 0.55
# A legend to the right of the axes takes this and its longest name.
LEGEND_MARK_POINTS = 34
# Number of names along an axis; with more, every second, third ... is written.
MOST_NAMES = 40
# Bars are horizontal if names have more letters than this, do not fit side by side, and there are at most this many.
SHORT_NAME, MOST_LYING = 6, 12
# Places are kept free so that bars are no wider than this part of the axis.
FEWEST_PLACES = 3
GROUP_WIDTH = 0.8
# A bar lower than this part of the axis is invisible: its number is written, if there are few bars.
UNSEEN = 0.012
MOST_NUMBERS = 40
# The size of such a number, and its distance from the bar.
UNSEEN_POINTS, GAP_POINTS = 5.5, 3.5
# The height of axes that are not stretched.
AXES_INCHES = 1.6
# Marks a number that does not exist.
CROSS = "\N{MULTIPLICATION SIGN}"
WIDEST_BOX = 0.45


def draw_bars(axes: Axes, chart: Chart, looks: dict[str, Look]) -> None:
    """One group for each x, with one bar for each curve."""
    bar_axis = _BarAxis(axes, chart)
    width = GROUP_WIDTH / len(chart.curves)
    for number, curve in enumerate(chart.curves):
        shift = (number - (len(chart.curves) - 1) / 2) * width
        at = [place + shift for place in range(len(bar_axis.places))]
        bar_axis.bars(
            at,
            _along(curve, curve.mean, bar_axis.places),
            width,
            looks[curve.label],
            errors=bar_axis.errors(curve),
        )
        missing = {x for x, value in zip(curve.x, curve.mean, strict=True) if not isfinite(value)}
        bar_axis.mark(spot for spot, place in zip(at, bar_axis.places, strict=True) if place in missing)
    bar_axis.finish()
    if len(bar_axis.places) * len(chart.curves) <= MOST_NUMBERS and not chart.log_y:
        for number, curve in enumerate(chart.curves):
            bar_axis.write_unseen(curve, (number - (len(chart.curves) - 1) / 2) * width)


def draw_boxes(axes: Axes, chart: Chart, looks: dict[str, Look]) -> None:
    """Boxes from quartile to quartile, with median and whiskers. Boxes of one x are side by side."""
    bar_axis = _BarAxis(axes, chart)
    for spot, place in enumerate(bar_axis.places):
        here = [(curve, list(curve.x).index(place)) for curve in chart.curves if place in curve.x]
        width = GROUP_WIDTH / max(len(here), 1)
        for number, (curve, index) in enumerate(here):
            at = spot + (number - (len(here) - 1) / 2) * width
            bar_axis.box(at, min(0.8 * width, WIDEST_BOX), looks[curve.label], curve, index)
    bar_axis.finish()


def draw_stack(axes: Axes, chart: Chart, looks: dict[str, Look]) -> None:
    """One bar for each x, made of the curves' values. A missing value counts as 0."""
    bar_axis = _BarAxis(axes, chart)
    tops = [0.0] * len(bar_axis.places)
    for curve in chart.curves:
        values = [value if isfinite(value) else 0.0 for value in _along(curve, curve.mean, bar_axis.places)]
        bar_axis.bars(range(len(values)), values, GROUP_WIDTH, looks[curve.label], base=tops)
        tops = [top + value for top, value in zip(tops, values, strict=True)]
    bar_axis.finish()


def stretch(chart: Chart) -> float:
    """The figure's height as a multiple of the usual height."""
    if not _lie(chart):
        return 1.0
    bars = len(categories(chart.curves)) * (2 if chart.kind == "stack" else len(chart.curves))
    return min(2.0, 0.4 + 0.055 * bars)


class _BarAxis:
    """The axis of bars: a place for each name, from left to right, or from the top for horizontal bars."""

    def __init__(self, axes: Axes, chart: Chart) -> None:
        self._axes = axes
        self._chart = chart
        self._lying = _lie(chart)
        self.places = categories(chart.curves)
        highs = [value for curve in chart.curves for value in curve.high or () if isfinite(value)]
        self._most = max([*means_of(chart), *highs], default=0.0)

    def bars(
        self, at: Sequence[float], values: list[float], width: float, look: Look, *, base: Any = 0, errors: Any = None
    ) -> None:
        """Draws a bar from `base` for each value, and its interval."""
        filled: dict[str, Any] = {"color": look.colour, "hatch": look.hatch, "edgecolor": "white", "linewidth": 0.3}
        caps: dict[str, Any] = {"elinewidth": 0.7, "capsize": min(2.0, 30 * width / len(at)), "capthick": 0.7}
        if self._lying:
            self._axes.barh(at, values, width, left=base, xerr=errors, ecolor="black", error_kw=caps, **filled)
        else:
            self._axes.bar(at, values, width, bottom=base, yerr=errors, ecolor="black", error_kw=caps, **filled)

    def errors(self, curve: Curve) -> list[list[float]] | None:
        """The lengths of intervals, below and above; NaN at bars too low to be seen, whose interval would read as a minus sign."""
        found = _errors(curve, self.places)
        if found is None or self._chart.log_y:
            return found
        unseen = [0 < end < 2 * UNSEEN * self._most for end in map(max, *self._ends(curve))]
        return [[nan if hidden else length for length, hidden in zip(side, unseen, strict=True)] for side in found]

    def _ends(self, curve: Curve) -> tuple[list[float], list[float]]:
        """The values of a curve at all places, and the ends of their intervals or the values again."""
        means = _along(curve, curve.mean, self.places)
        highs = means if curve.high is None else _along(curve, curve.high, self.places)
        return means, [high if isfinite(high) else mean for mean, high in zip(means, highs, strict=True)]

    def box(self, at: float, width: float, look: Look, curve: Curve, index: int) -> None:
        """Draws one box of a curve."""
        median = float(curve.mean[index])
        if not isfinite(median):
            self.mark([at])
            return
        low, high = _known(curve.low, index, median), _known(curve.high, index, median)
        whiskers = {"whislo": _known(curve.whisker_low, index, low), "whishi": _known(curve.whisker_high, index, high)}
        quartiles = {"q1": low, "med": median, "q3": high, **whiskers}
        thin = {"color": "black", "linewidth": 0.7}
        filled = {"facecolor": look.colour, "hatch": look.hatch, "edgecolor": "black", "linewidth": 0.6, "alpha": 0.75}
        self._axes.bxp(
            [{**quartiles, "fliers": []}],
            positions=[at],
            widths=width,
            **_orientation(self._lying),
            showfliers=False,
            patch_artist=True,
            manage_ticks=False,
            boxprops=filled,
            medianprops={"color": "black", "linewidth": 1.2},
            whiskerprops=thin,
            capprops=thin,
        )

    def write_unseen(self, curve: Curve, shift: float) -> None:
        """Writes the numbers of bars that are too low to see, set apart from the bar: it would read as a minus sign."""
        if self._room_points() * GROUP_WIDTH / len(self._chart.curves) < UNSEEN_POINTS:
            return
        style: dict[str, Any] = {"fontsize": UNSEEN_POINTS, "textcoords": "offset points", "annotation_clip": False}
        along = self._axes.xaxis if self._lying else self._axes.yaxis
        least, most = along.get_view_interval()
        for place, (value, high) in enumerate(zip(*self._ends(curve), strict=True)):
            if not 0 < value < UNSEEN * (most - least) + least:
                continue
            spot, text = place + shift, plain_number(value, 2)
            end = max(value, high)
            if self._lying:
                self._axes.annotate(text, (end, spot), (GAP_POINTS, 0), ha="left", va="center", **style)
            else:
                self._axes.annotate(text, (spot, end), (0, GAP_POINTS), ha="center", va="bottom", rotation=90, **style)

    def _room_points(self) -> float:
        """The room of each place along the axis of names, about."""
        if not self._lying:
            return _room([plain(place) for place in self.places], self._chart)
        high = AXES_INCHES * stretch(self._chart) if self._chart.size is None else 0.6 * self._chart.size[1]
        return high * POINTS_PER_INCH / max(len(self.places), 1)

    def mark(self, missing: Any) -> None:
        """Marks missing numbers, which are not bars of height 0."""
        for place in missing:
            spot = {
                "x": place,
                "y": 0.01,
                "transform": self._axes.get_xaxis_transform(),
                "ha": "center",
                "va": "bottom",
            }
            if self._lying:
                spot = {
                    "y": place,
                    "x": 0.01,
                    "transform": self._axes.get_yaxis_transform(),
                    "ha": "left",
                    "va": "center",
                }
            self._axes.text(s=CROSS, fontsize=6, color="0.4", **spot)
            self._axes.set_title(f"{CROSS} there is no number", loc="right", fontsize=6, color="0.4")

    def finish(self) -> None:
        """Names, labels and limits."""
        every = -(-len(self.places) // MOST_NAMES)
        ticks, names = range(0, len(self.places), every), [plain(place) for place in self.places[::every]]
        middle, half = (len(self.places) - 1) / 2, len(self.places) / 2
        if self._lying:
            self._axes.set_yticks(ticks, names)
            self._axes.set(ylim=(middle + half, middle - half), xlabel=self._chart.y_label, ylabel=self._chart.x_label)
        else:
            half = max(half, FEWEST_PLACES / 2)
            self._axes.set_xticks(ticks, names, **_set_out(names, self._chart))
            self._axes.set(xlim=(middle - half, middle + half), ylabel=self._chart.y_label)
        self._axes.grid(visible=False, axis="y" if self._lying else "x")
        along = self._axes.xaxis if self._lying else self._axes.yaxis
        if self._chart.log_y:
            logarithmic(along, means_of(self._chart))
        elif self._chart.kind != "stack":
            from_nought(along, self._chart)
        limit(along, self._chart)


def _known(values: Sequence[float] | None, index: int, otherwise: float) -> float:
    """The value at `index`, or `otherwise` if it is missing."""
    return otherwise if values is None or not isfinite(values[index]) else float(values[index])


def _orientation(lying: bool) -> dict[str, Any]:
    """The orientation in the installed matplotlib's terms: 3.10 replaced `vert`."""
    import matplotlib

    if tuple(map(int, matplotlib.__version__.split(".")[:2])) < (3, 10):
        return {"vert": not lying}
    return {"orientation": "horizontal" if lying else "vertical"}


def _lie(chart: Chart) -> bool:
    """Whether bars are horizontal: names are too long to fit side by side, and few enough to read one below the other."""
    if chart.y_labels or chart.marks:
        return False  # panels of several quantities share the axis of names, and marks lie across
    names = [plain(place) for place in categories(chart.curves)]
    if len(names) > MOST_LYING:
        return False
    if chart.kind == "stack" and len(names) < FEWEST_PLACES:
        return True
    return max(map(len, names), default=0) > SHORT_NAME and not _fit(names, chart)


def _fit(names: list[str], chart: Chart) -> bool:
    """Whether names fit side by side."""
    return all(width_of(name, TICK_POINTS) < _room(names, chart) - 2 for name in names)


def _room(names: list[str], chart: Chart) -> float:
    """The room of each name along the axis, in points."""
    across = (chart.width - BESIDE_INCHES) * POINTS_PER_INCH
    if chart.legend == "right":
        across -= LEGEND_MARK_POINTS + max((width_of(curve.label, TICK_POINTS) for curve in chart.curves), default=0)
    return across / max(len(names), FEWEST_PLACES)


def _set_out(names: list[str], chart: Chart) -> dict[str, Any]:
    """Names side by side, or upright in letters that fit."""
    if _fit(names, chart):
        return {"rotation": 0, "fontsize": TICK_POINTS}
    return {"rotation": 90, "fontsize": min(TICK_POINTS, max(LEAST_TICK_POINTS, 0.95 * _room(names, chart)))}


def _along(curve: Curve, values: Sequence[float], places: list[Any]) -> list[float]:
    """One of the sequences of a curve at all places, NaN if the curve has no value."""
    known = dict(zip(curve.x, values, strict=True))
    return [float(known.get(place, nan)) for place in places]


def _errors(curve: Curve, places: list[Any]) -> list[list[float]] | None:
    """The lengths of intervals, below and above."""
    if curve.low is None or curve.high is None:
        return None
    mean, low, high = (_along(curve, values, places) for values in (curve.mean, curve.low, curve.high))
    return lengths(mean, low, high)
