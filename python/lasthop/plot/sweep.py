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
    lines = parts(table, paths[1]) if len(paths) > 1 else {table.name: table}
    curves = tuple(row(part, _called(value, paths), along, paths[0], metric) for value, part in lines.items())
    kind = "bars" if any(isinstance(shown, str) for shown in along.shown.values()) else "lines"
    title, label = titled(table, metric, paths[:1]), quantity(metric).label
    return Chart(kind, title, along.label, label, curves, log_x=options.log_x)


def _called(value, paths):
    """A line's name: words alone, a number with what it is."""
    return f"{paths[1].rpartition('.')[2]} {text(value)}" if len(paths) > 1 and _is_number(value) else text(value)


def _is_number(value):
    return not isinstance(value, str) or value[:1].isdigit()
