"""Draws a chart: its panels one below the other, its title above, its legend below, never on the data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from . import bars, heat_map, labels, legend, lines, marks, names, notes, scatter, spans
from .axis import limit_along, within_bounds
from .data import Chart, Curve
from .style import COLUMN_INCHES, POINTS_PER_INCH, Look, looks, style
from .text import wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

TITLE_POINTS, SUBTITLE_POINTS = 8, 7
# Kinds whose curves may be many.
OF_LINES = ("time_series", "lines", "cdf", "scatter")
# A label broken into lines moves the axes, and thereby the centres of the other labels.
MOST_LAYOUTS = 6
# Height of the axes of a single panel and of each of several, in inches.
PANEL_INCHES, PANEL_OF_MANY_INCHES = 2.05, 1.5


@contextmanager
def new_figure() -> Iterator[Figure]:
    """A figure one column wide, with matplotlib's settings until it is saved."""
    import matplotlib

    from .shown import ShownFigure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # the user's own settings would change the bytes
        settings: dict[Any, Any] = style()
        matplotlib.rcParams.update(settings)
        yield ShownFigure(figsize=(COLUMN_INCHES, PANEL_INCHES), layout="constrained")


def draw_chart(chart: Chart, figure: Figure) -> None:
    """Draws `chart` on an empty figure, of its own size or one column wide and as high as it needs."""
    panels = chart.panels
    axes = figure.subplots(len(panels), 1, sharex=chart.kind != "heat_map", squeeze=False)[:, 0]
    look = looks(list(dict.fromkeys(curve.label for curve in chart.curves)), list(dict.fromkeys(_ranked(chart))))
    for panel, name in zip(axes, panels, strict=True):
        curves = tuple(curve for curve in chart.curves if curve.panel == name)
        part = replace(chart, curves=curves, y_label=chart.y_labels.get(name, chart.y_label))
        _draw_panel(panel, part, look)
        panel.set_title(name, loc="left")
    if chart.kind != "heat_map":
        axes[-1].set_xlabel(axes[-1].get_xlabel() or chart.x_label)
    figure.align_ylabels(axes)
    if chart.same_y:
        limits = [panel.get_ylim() for panel in axes]
        for panel in axes:
            panel.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    figure.set_size_inches(chart.width, PANEL_INCHES)
    title = _title(figure, chart)
    rest = _lines_of(title) * TITLE_POINTS * 1.25 / POINTS_PER_INCH + _legend(figure, chart, look)
    height = PANEL_INCHES if len(panels) == 1 else PANEL_OF_MANY_INCHES * len(panels)
    wide, high = chart.size or (chart.width, height * _stretch(chart) + rest + names.height(figure))
    figure.set_size_inches(wide, high - notes.height(chart) if chart.size else high)
    # Laid out once for all formats: they agree, and each is written faster.
    figure.draw_without_rendering()
    written: dict[Text, labels.Written] = {}
    for _ in range(MOST_LAYOUTS):
        if not labels.fit(figure, written) | names.keep_apart(figure, chart):
            break
        figure.draw_without_rendering()
    names.leave_out_wide(figure)
    figure.set_layout_engine("none")
    _subtitle(figure, title, chart)
    notes.write(figure, chart)


def _ranked(chart: Chart) -> list[str]:
    """The labels of lines and points by their largest mean, of each panel in turn; empty for other kinds, which need every name."""
    if chart.kind not in OF_LINES:
        return []
    of_panels = [
        # The lowest curves of distributions have the longest latencies.
        sorted((curve for curve in chart.curves if curve.panel == panel), key=_prominence, reverse=chart.kind != "cdf")
        for panel in chart.panels
    ]
    return [curve.label for row in zip_longest(*of_panels) for curve in row if curve is not None]


def _prominence(curve: Curve) -> float:
    """The mean of a curve."""
    means = [value for value in curve.mean if isfinite(value)]
    return sum(means) / len(means) if means else -inf


def save_picture(figure: Figure, target: Any, ending: str) -> None:
    """Writes a figure as `ending`, without a date inside."""
    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(ending, {})
    figure.savefig(os.fspath(target) if isinstance(target, os.PathLike) else target, format=ending, metadata=undated)


def _draw_panel(axes: Axes, chart: Chart, look: dict[str, Look]) -> None:
    if chart.is_empty:
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", va="center", color="0.4")
        axes.set(xlabel=chart.x_label, ylabel=chart.y_label, xticks=[], yticks=[])
        return
    draw = {
        "bars": bars.draw_bars,
        "stack": bars.draw_stack,
        "box": bars.draw_boxes,
        "scatter": scatter.draw,
        "heat_map": heat_map.draw,
        "spans": spans.draw,
    }
    draw.get(chart.kind, lines.draw)(axes, within_bounds(chart), look)
    marks.draw(axes, chart)
    limit_along(axes, chart)


def _stretch(chart: Chart) -> float:
    if chart.kind in ("bars", "stack", "box"):
        return bars.stretch(chart)
    stretches = {"heat_map": heat_map.stretch, "spans": spans.stretch}
    return stretches[chart.kind](chart) if chart.kind in stretches else 1.0


def _title(figure: Figure, chart: Chart) -> Text | None:
    """Writes the title in as many lines as it needs, with a blank one for each line of the subtitle."""
    if not chart.title:
        return None
    lines = _across(chart, chart.title, TITLE_POINTS) + [""] * len(_below(chart))
    return figure.suptitle("\n".join(lines), x=0.015, ha="left", fontsize=TITLE_POINTS)


def _subtitle(figure: Figure, title: Text | None, chart: Chart) -> None:
    """Writes the subtitle into the blank lines of the title."""
    if title is not None and chart.subtitle:
        y = title.get_window_extent().y0 / figure.bbox.height
        style: dict[str, Any] = {
            "fontsize": SUBTITLE_POINTS,
            "color": "0.3",
            "linespacing": 1.25 * TITLE_POINTS / SUBTITLE_POINTS,
        }
        figure.text(0.015, y, "\n".join(_below(chart)), va="bottom", **style)


def _below(chart: Chart) -> list[str]:
    return _across(chart, chart.subtitle, SUBTITLE_POINTS) if chart.subtitle else []


def _across(chart: Chart, text: str, points: float) -> list[str]:
    """A text in lines as wide as the chart."""
    return wrapped(text, labels.GRACE * (chart.width - 0.1) * POINTS_PER_INCH, points)


def _lines_of(text: Text | None) -> int:
    return 0 if text is None else text.get_text().count("\n") + 1


def _legend(figure: Figure, chart: Chart, look: dict[str, Look]) -> float:
    """Draws the legend below everything, in as many columns as fit; returns its height in inches."""
    if chart.kind == "heat_map" or chart.legend == "none" or (len(look) < 2 and not chart.marks):
        return 0.0
    return legend.draw(figure, chart, look)
