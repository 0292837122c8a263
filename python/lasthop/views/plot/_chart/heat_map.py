"""A map of colours over two settings, with numbers in the cells if they fit."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, log10, nan
from typing import TYPE_CHECKING, Any

from . import names
from .axis import categories, plain
from .data import Chart
from .style import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Its lightness rises evenly, so it works in grey and for the colour-blind [Nuñez, Anderton, Renslow 2018].
COLOURS = "cividis"
MOST_NUMBERS = 80
MOST_NUMBERS_ACROSS = 8
MOST_NAMES = 16


def draw(axes: Axes, chart: Chart, looks: dict[str, Look]) -> None:
    """Draws each curve as a row, the first at the bottom."""
    columns, rows = categories(chart.curves), [curve.label for curve in chart.curves]
    field = [_row(curve.x, curve.mean, columns) for curve in chart.curves]
    axes.set_facecolor("white")
    image = axes.pcolormesh(
        range(len(columns) + 1), range(len(rows) + 1), field, cmap=COLOURS, edgecolors="white", linewidth=0.4
    )
    _numbers(axes, image, field)
    names.write(axes, *_some(columns), chart)
    axes.set_yticks(*_some(rows))
    axes.set(xlabel=chart.x_label, ylabel=chart.y_label)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = axes.figure.colorbar(image, ax=axes, pad=0.03, aspect=18)
    bar.set_label(chart.value_label)
    bar.outline.set_visible(False)


def _some(values: list[Any]) -> tuple[list[float], list[str]]:
    """The positions and names of rows or columns, or of every second, third ... if there are many."""
    every = -(-len(values) // MOST_NAMES)
    return [place + 0.5 for place in range(0, len(values), every)], [plain(name) for name in values[::every]]


def stretch(chart: Chart) -> float:
    """The figure's height as a multiple of the usual height: rows stay readable."""
    return min(2.0, max(0.75, 0.3 + 0.1 * len(chart.curves)))


def _row(x: Sequence[Any], mean: Sequence[float], columns: list[Any]) -> list[float]:
    known = dict(zip(x, mean, strict=True))
    return [float(known.get(column, nan)) for column in columns]


def _numbers(axes: Axes, image: Any, field: list[list[float]]) -> None:
    """Writes the numbers into their cells, and a cross for a missing number."""
    wide, high = len(field[0]), len(field)
    decimals = _decimals([abs(value) for row in field for value in row if isfinite(value)])
    fits = wide <= MOST_NUMBERS_ACROSS and wide * high <= MOST_NUMBERS
    for y, row in enumerate(field):
        for x, value in enumerate(row):
            if isfinite(value) and not fits:
                continue
            text = f"{value:.{decimals}f}" if isfinite(value) else "\N{MULTIPLICATION SIGN}"
            shade = "0.4" if not isfinite(value) else "white" if image.norm(value) < 0.5 else "black"
            axes.text(
                x + 0.5,
                y + 0.5,
                text,
                ha="center",
                va="center",
                fontsize=6,
                color=shade,
                label=names.IN_CELLS if isfinite(value) else "",
            )


def _decimals(values: list[float]) -> int:
    """The number of decimals with which the greatest value has three digits."""
    most = max(values, default=0.0)
    return max(0, 2 - floor(log10(most))) if most > 0 else 0
