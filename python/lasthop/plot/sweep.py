"""A metric of a sweep over one setting, a line for each value of another, with 95 % bands."""

from __future__ import annotations

from ._chart import Chart
from ._quantity import quantity
from ._sweep_chart import METRIC, axis_of, chosen, parts, row, titled
from ._sweep_table import text

SUMMARY = "a metric of a sweep over a setting (--x), a line with its 95 % band for each value of another (--by)"
OPTIONS = ("metric", "x", "by", "only", "log_x")


def chart(sources, options):
    """Lines over numbers, bars over names; a single line where one setting was varied."""
    table, paths = chosen(sources, options, most=2)
    metric = table.metric(options.metric or METRIC)
    along = axis_of(table, paths[0])
    label, _, most = quantity(metric)
    lines = (
        {label: table}
        if len(paths) == 1
        else {_called(paths[1], v): part for v, part in parts(table, paths[1]).items()}
    )
    curves = tuple(row(part, name, along, paths[0], metric) for name, part in lines.items())
    kind = "bars" if any(isinstance(shown, str) for shown in along.shown.values()) else "lines"
    return Chart(kind, titled(table, metric, paths[:1]), along.label, label, curves, options.log_x, y_most=most)


def _called(path, value):
    """A line's name: words alone, a number with what it is."""
    is_word = isinstance(value, str) and not value[:1].isdigit()
    return value if is_word else f"{path.rpartition('.')[2]} {text(value)}"
