"""A metric of a sweep over two settings as a map of colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...data.arguments import Argument, ArgumentLookupError
from ._chart import Chart
from ._quantity import quantity
from ._sweep_chart import METRIC, axis_of, chosen, parts, row, titled
from ._sweep_table import text

if TYPE_CHECKING:
    from ._options import Options

SUMMARY = "a metric of a sweep over two settings (--x, --y) as a field of colours, mean over seeds"
OPTIONS = ("metric", "x", "by", "only")
WITHOUT = ("y_min", "y_max", "log_y", "legend")


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """A row for each value of the second setting."""
    table, paths = chosen(sources, options, most=2)
    if table.drawn:
        raise ArgumentLookupError(
            f"{table.name}: its points were drawn at random; a heat map needs every combination of values (for drawn points: ",
            Argument("kind"),
            " sweep)",
        )
    if len(paths) < 2:
        raise ArgumentLookupError(
            f"{table.name}: varies only {paths[0]}; a heat map needs two settings (for one: ",
            Argument("kind"),
            " sweep)",
        )
    metric = table.metric(options.metric or METRIC)
    along, up = (axis_of(table, path) for path in paths)
    rows = parts(table, paths[1])
    curves = tuple(row(part, text(up.shown[value]), along, paths[0], metric) for value, part in rows.items())
    title = titled(table, metric, paths, spread=False)
    return Chart("heat_map", title, along.label, up.label, curves, value_label=quantity(metric).label)
