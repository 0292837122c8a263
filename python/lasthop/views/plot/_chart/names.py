"""Names along a horizontal axis and numbers in cells, kept from running into one another in any room."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from .data import Chart
from .style import POINTS_PER_INCH
from .text import width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Size of names, minimum size of upright ones, and the part of its room that each takes.
POINTS, LEAST_POINTS, SHARE = 7, 4.5, 0.95
GAP_POINTS = 2
# Upright names are no longer than this part of a page of fixed size, or this many inches if the page grows; else cut.
MOST_OF_PAGE, MOST_INCHES = 0.3, 1.5
# The minimum part of the width outside the axes.
BESIDE_INCHES = 0.55
# Labels of axes with horizontal or upright names, and of numbers in cells; matplotlib shows none of them.
LYING, UPRIGHT, IN_CELLS = "_lying", "_upright", "_in_cells"


def write(axes: Axes, places: Sequence[float], names: Sequence[str], chart: Chart) -> None:
    """Writes names below the axes, upright if they do not fit side by side."""
    axes.set_xticks(places, names)
    axes.set_label(LYING)
    room = (chart.width - BESIDE_INCHES) * POINTS_PER_INCH / max(len(names), 1)
    if any(width_of(name, POINTS) + GAP_POINTS > room for name in names):
        _set_upright(axes, names, room, chart)


def height(figure: Figure) -> float:
    """Returns the extra height of a figure for upright names, in inches."""
    longest = (
        width_of(label.get_text(), float(label.get_fontsize())) - float(label.get_fontsize())
        for axes in figure.axes
        if axes.get_label() == UPRIGHT
        for label in axes.get_xticklabels()
    )
    return max(0.0, max(longest, default=0.0)) / POINTS_PER_INCH


def keep_apart(figure: Figure, chart: Chart) -> bool:
    """Sets names upright that still overlap; whether it did, which requires another layout."""
    changed = False
    for axes in figure.axes:
        if axes.get_label() == LYING and _touch(axes):
            names = [label.get_text() for label in axes.get_xticklabels()]
            _set_upright(axes, names, axes.get_window_extent().width / _pixels(figure, 1) / len(names), chart)
            if chart.size is None:
                wide, high = figure.get_size_inches()
                figure.set_size_inches(wide, high + height(figure))
            changed = True
    return changed


def leave_out_wide(figure: Figure) -> None:
    """Hides the numbers of cells if one is wider than its cell."""
    for axes in figure.axes:
        numbers = [text for text in axes.texts if text.get_label() == IN_CELLS]
        if numbers:
            low, high = axes.get_xlim()
            cell = axes.get_window_extent().width / (high - low)
            if max(text.get_window_extent().width for text in numbers) > cell - _pixels(figure, GAP_POINTS):
                for text in numbers:
                    text.set_visible(False)


def _touch(axes: Axes) -> bool:
    extents = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    gap, page = _pixels(axes.figure, GAP_POINTS), axes.figure.bbox
    beyond = extents and (extents[0].x0 < page.x0 or extents[-1].x1 > page.x1)
    return bool(beyond) or any(left.x1 + gap > right.x0 for left, right in pairwise(extents))


def _set_upright(axes: Axes, names: Sequence[str], room: float, chart: Chart) -> None:
    points = min(POINTS, max(LEAST_POINTS, SHARE * room))
    most = (MOST_INCHES if chart.size is None else MOST_OF_PAGE * chart.size[1]) * POINTS_PER_INCH
    axes.set_xticks(axes.get_xticks(), [_cut(name, most, points) for name in names], rotation=90, fontsize=points)
    axes.set_label(UPRIGHT)


def _cut(text: str, most: float, points: float) -> str:
    """`text`, cut to at most `most` points."""
    while width_of(text, points) > most and len(text) > 2:
        text = f"{text.rstrip('…')[:-1]}…"
    return text


def _pixels(figure: Figure | SubFigure, points: float) -> float:
    return points * figure.dpi / POINTS_PER_INCH
