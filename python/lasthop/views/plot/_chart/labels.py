"""Axis labels that stay on the page: broken into lines, and smaller if there are too many lines or a word is too long.

A label is centred on its axis. A longer one would run into its neighbours or leave the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from .style import POINTS_PER_INCH
from .text import width_of, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.text import Text

# Step by which letters shrink at each try, and the smallest size.
STEP_POINTS, LEAST_POINTS = 0.5, 1.0
# All lines of a label take at most this part of the page.
MOST_OF_PAGE = 0.2
LINE_SPACING = 1.2
# Drawn letters are up to this factor wider than their outlines.
GRACE = 0.97
MARGIN_POINTS = 2


@dataclass
class Written:
    """A label before it was broken, and its least room so far: room never grows again, so layouts settle."""

    text: str
    points: float
    room: float = inf


def fit(figure: Figure, written: dict[Text, Written]) -> bool:
    """Breaks the labels of a figure after its layout; whether one changed, which requires another layout."""
    changed = False
    page, scale = figure.bbox, POINTS_PER_INCH / figure.dpi
    for axes in figure.axes:
        box = axes.get_window_extent()
        middle = box.x0 + box.width / 2
        # An x axis has only the page's edges to its sides.
        across = 2 * min(middle, page.width - middle) * scale - 2 * MARGIN_POINTS
        rooms = ((axes.xaxis.label, across, page.height), (axes.yaxis.label, box.height * scale, page.width))
        for label, length, depth in rooms:
            if label.get_text():
                known = written.setdefault(label, Written(label.get_text(), float(label.get_fontsize())))
                known.room = min(known.room, GRACE * length)
                changed |= _fit(label, known, MOST_OF_PAGE * depth * scale)
    return changed


def _fit(label: Text, known: Written, depth: float) -> bool:
    before = (label.get_text(), label.get_fontsize())
    points = known.points
    lines = wrapped(known.text, known.room, points)
    while points > LEAST_POINTS and not _is_within(lines, points, known.room, depth):
        points -= STEP_POINTS
        lines = wrapped(known.text, known.room, points)
    label.set(text="\n".join(lines), fontsize=points)
    return before != (label.get_text(), label.get_fontsize())


def _is_within(lines: list[str], points: float, width: float, depth: float) -> bool:
    high = len(lines) * LINE_SPACING * points
    return (len(lines) == 1 or high <= depth) and max(width_of(line, points) for line in lines) <= width
