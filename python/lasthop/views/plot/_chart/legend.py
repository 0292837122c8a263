"""The names of the curves: below the axes in as many columns as the width holds, to the right, or inside."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from . import marks
from .data import Chart
from .style import OTHER, Look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_COLUMNS = 6
# More names than this would take more room than the chart.
MOST_NAMES = 36


# Positions beside or in the axes, in matplotlib's terms.
OUTSIDE = {"below": "outside lower center", "right": "outside center right"}


def draw(figure: Figure, chart: Chart, looks: dict[str, Look]) -> float:
    """Draws the legend; returns the height it adds to the figure, in inches."""
    parent: Any = figure if chart.legend in OUTSIDE else figure.axes[0]
    place: dict[str, Any] = {
        "loc": OUTSIDE.get(chart.legend, "best"),
        "title": chart.legend_title or None,
        "title_fontsize": 7,
    }
    others = sum(look.is_other for look in looks.values())
    looks = {label: look for label, look in looks.items() if not look.is_other}
    if others:
        looks[f"{others} others"] = OTHER
    if len(looks) > MOST_NAMES:
        figure.legend([], [], **place | {"title": f"{len(looks)} in all; their names are in the data"})
        return 0.2
    handles = [*(_handle(chart.kind, look) for look in looks.values()), *marks.handles(chart)]
    # matplotlib leaves out labels that begin with an underscore.
    labels = [f" {label}" if label.startswith("_") else label for label in [*looks, *(m.label for m in chart.marks)]]
    for columns in range(min(len(labels), MOST_COLUMNS) if chart.legend == "below" else 1, 0, -1):
        legend = parent.legend(
            _by_rows(handles, columns),
            _by_rows(labels, columns),
            ncols=columns,
            handlelength=1.0 if chart.kind == "scatter" else 2.6,
            **place,
        )
        extent = legend.get_window_extent()
        if extent.width <= (chart.width - 0.05) * figure.dpi or columns == 1:
            return float(extent.height) / figure.dpi + 0.04 if chart.legend == "below" else 0.0
        legend.remove()
    raise AssertionError("a legend of one column is kept")


def _by_rows(entries: list[Any], columns: int) -> list[Any]:
    """matplotlib fills columns; this order makes it read row by row."""
    return list(chain.from_iterable(entries[column::columns] for column in range(columns)))


def _handle(kind: str, look: Look) -> Any:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if kind in ("bars", "stack", "box", "spans"):
        return Patch(facecolor=look.colour, hatch=look.hatch, edgecolor="white", linewidth=0)
    dashes: Any = "none" if kind == "scatter" else look.dashes
    return Line2D([], [], color=look.colour, linestyle=dashes, marker=look.marker)
