"""What is written in a figure and where: texts lie on the page, and none on another."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from matplotlib.text import Text
from matplotlib.transforms import Bbox

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Extents include some space above and below their letters; an overlap up to this is invisible. In points.
AIR = 1.2


def texts(figure: Figure) -> list[tuple[str, Bbox]]:
    """Each text that is seen, with its extent in pixels; ticks outside their axes are not drawn."""
    figure.draw_without_rendering()
    off = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if not axes.axison or not axis.get_visible():
                off.update(axis.findobj(Text))
                continue
            drawn = axis._update_ticks()
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if tick not in drawn:
                    off.update(tick.findobj(Text))
    seen = [text for text in figure.findobj(Text) if text not in off and text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), _extent(text)) for text in dict.fromkeys(seen)]


def _extent(text: Text) -> Bbox:
    """The extent without the blank lines below, by which a title keeps room for what stands there."""
    box, lines = text.get_window_extent(), text.get_text().split("\n")
    blank = len(lines) - len(text.get_text().rstrip("\n").split("\n"))
    return Bbox.from_extents(box.x0, box.y0 + box.height * blank / len(lines), box.x1, box.y1)


def complaints(figure: Figure) -> list[str]:
    """What of the texts is beyond the edge, and which of them overlap."""
    page, air = figure.bbox.padded(1.0), AIR * figure.dpi / 72
    found = texts(figure)
    wrong = [
        f"{name!r} is beyond the edge"
        for name, box in found
        if not (page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1)
    ]
    smaller = [(name, box.padded(-min(air, box.width / 3), -min(air, box.height / 3))) for name, box in found]
    wrong += [f"{one!r} lies on {other!r}" for (one, a), (other, b) in combinations(smaller, 2) if a.overlaps(b)]
    return wrong
