"""A field of colours over two settings, with its numbers where they fit."""

from __future__ import annotations

from math import floor, isfinite, log10, nan
from typing import TYPE_CHECKING

from . import names
from .axis import categories, plain
from .data import Chart
from .style import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Its lightness rises evenly: it reads in grey and to the colour-blind [Nuñez, Anderton, Renslow 2018].
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


def _some(called: list) -> tuple[list[float], list[str]]:
    """The places and the names of a row or column each, or of every second, third ... where they are many."""
    every = -(-len(called) // MOST_NAMES)
    return [place + 0.5 for place in range(0, len(called), every)], [plain(name) for name in called[::every]]


def stretch(chart: Chart) -> float:
    """How much higher or lower than usual the figure is: rows keep a readable height."""
    return min(2.0, max(0.75, 0.3 + 0.1 * len(chart.curves)))


def _row(x, mean, columns) -> list[float]:
    known = dict(zip(x, mean, strict=True))
    return [float(known.get(column, nan)) for column in columns]


def _numbers(axes: Axes, image, field: list[list[float]]) -> None:
    """Writes the numbers into their cells, and a cross where there is none."""
    wide, high = len(field[0]), len(field)
    decimals = _decimals([abs(value) for row in field for value in row if isfinite(value)])
    fits = wide <= MOST_NUMBERS_ACROSS and wide * high <= MOST_NUMBERS
    for y, row in enumerate(field):
        for x, value in enumerate(row):
            if isfinite(value) and not fits:
                continue
            text = f"{value:.{decimals}f}" if isfinite(value) else "×"
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
    """As many for all as give the greatest three digits."""
    most = max(values, default=0.0)
    return max(0, 2 - floor(log10(most))) if most > 0 else 0
