"""Spans of time in rows, the first row at the top."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from .axis import categories, plain
from .data import Chart, Curve
from .style import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_HEIGHT = 0.8
# A span narrower than the first part of the axis would be invisible; a hatch would break up one narrower than the
# second.
NARROWEST, HATCHED = 0.001, 0.015
# With more rows than this, names are smaller.
FEW_ROWS, SMALL_POINTS = 16, 5


def draw(axes: Axes, chart: Chart, looks: dict[str, Look]) -> None:
    """Draws each curve's spans, from its `low` to its `high`, in the rows that its `x` names."""
    places = {row: place for place, row in enumerate(chart.rows or categories(chart.curves))}
    spans = {curve.label: _spans(curve) for curve in chart.curves}
    ends = [end for of_curve in spans.values() for _, *span in of_curve for end in span]
    length = max(ends) - min(ends)
    for label, of_curve in spans.items():
        look = looks[label]
        bars: dict[tuple[Any, bool], list[tuple[float, float]]] = {}
        for row, low, high in of_curve:
            lasts = max(high - low, NARROWEST * length)
            bars.setdefault((row, lasts >= HATCHED * length), []).append((low, lasts))
        for (row, is_wide), part in bars.items():
            extent = (places[row] - ROW_HEIGHT / 2, ROW_HEIGHT)
            hatch = look.hatch if is_wide else ""
            axes.broken_barh(part, extent, facecolor=look.colour, hatch=hatch, edgecolor="white", linewidth=0)
    small = SMALL_POINTS if len(places) > FEW_ROWS else None
    axes.set_yticks(list(places.values()), [plain(row) for row in places], fontsize=small)
    axes.set_ylim(len(places) - 0.5, -0.5)
    if length > 0:
        axes.set_xlim(min(ends), max(ends))
    axes.set_ylabel(chart.y_label)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _spans(curve: Curve) -> list[tuple[Any, float, float]]:
    """Rows with starts and ends."""
    spans = zip(curve.x, curve.low or curve.mean, curve.high or curve.mean, strict=True)
    return [span for span in spans if isfinite(span[1]) and isfinite(span[2])]


def stretch(chart: Chart) -> float:
    """The figure's height as a multiple of the usual height: rows stay readable."""
    return min(3.0, max(0.75, 0.25 + 0.075 * len(chart.rows or categories(chart.curves))))
