"""Remarks on data that a chart does not show, and warnings about its numbers, in small letters below everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .labels import GRACE
from .text import wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .data import Chart

POINTS = 6.0
LINE_INCHES = POINTS * 1.25 / 72
MARGIN_INCHES = 0.05
# Longer lists are in the data.
MOST_NOTES = 3


def height(chart: Chart) -> float:
    """The height in inches that the notes need."""
    return len(_lines(chart)) * LINE_INCHES + 2 * MARGIN_INCHES if chart.notes or chart.remarks else 0.0


def write(figure: Figure, chart: Chart) -> None:
    """Adds the notes below a figure whose layout is fixed."""
    if not chart.notes and not chart.remarks:
        return
    added, (wide, before) = height(chart), figure.get_size_inches()
    after = before + added
    for axes in figure.axes:
        box = axes.get_position()
        axes.set_position((box.x0, (box.y0 * before + added) / after, box.width, box.height * before / after))
    for text in figure.texts:
        text.set_y((text.get_position()[1] * before + added) / after)
    for legend in figure.legends:
        legend.set_bbox_to_anchor((0.0, added / after, 1.0, before / after), transform=figure.transFigure)
    figure.set_size_inches(wide, after)
    style: dict[str, Any] = {"fontsize": POINTS, "color": "0.3", "linespacing": 1.25}
    figure.text(0.015, MARGIN_INCHES / after, "\n".join(_lines(chart)), va="bottom", **style)


def _lines(chart: Chart) -> list[str]:
    more = len(chart.notes) - MOST_NOTES
    warnings = [f"Warning: {note}" for note in chart.notes[:MOST_NOTES]]
    texts = [*chart.remarks, *warnings, *([f"and {more} more warnings"] if more > 0 else [])]
    return [line for text in texts for line in wrapped(text, GRACE * (chart.width - 0.1) * 72, POINTS)]
