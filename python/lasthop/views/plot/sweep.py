"""A metric of a sweep over one setting, a line for each value of another, with 95 % bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._chart import Chart
from ._quantity import quantity, setting
from ._sweep_chart import METRIC, axis_of, chosen, parts, points, row, titled
from ._sweep_table import text

if TYPE_CHECKING:
    from ._options import Options

SUMMARY = "a metric of a sweep over a setting (--x), a line with its 95 % band for each value of another (--by)"
NUMBERS_ALONG = True
OPTIONS = ("metric", "x", "by", "only", "log_x")


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """Lines over numbers, bars over names, points for drawn values; a single line if the sweep varied one setting."""
    table, paths = chosen(sources, options, most=2)
    metric = table.metric(options.metric or METRIC)
    along = axis_of(table, paths[0])
    label, _, most = quantity(metric)
    lines = {label: table} if len(paths) == 1 else {text(value): part for value, part in parts(table, paths[1]).items()}
    kind = "bars" if any(isinstance(shown, str) for shown in along.shown.values()) else "lines"
    if paths[0] in table.drawn and kind == "lines":
        kind = "scatter"
    along_it = points if kind == "scatter" else row
    curves = tuple(along_it(part, name, along, paths[0], metric) for name, part in lines.items())
    of_lines = setting(paths[1], table.paths) if len(paths) > 1 else ""
    title = titled(table, metric, paths[:1], lines=paths[1:])
    return Chart(kind, title, along.label, label, curves, options.log_x, y_most=most, legend_title=of_lines)
