"""Shared parts of lines and the heat map of a sweep: two axes, the rest held fixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...data.arguments import Argument, ArgumentLookupError
from ...data.quantities import TOTALS
from ._chart import Curve
from ._one_table import table_of
from ._quantity import quantity, setting
from ._results import curve, mean_of, over_seeds, sentence
from ._sweep_table import Axis, SweepTable, axis

METRIC = TOTALS.goodput_bps.path


def chosen(sources: Sequence[Any], options: Any, most: int) -> tuple[SweepTable, list[str]]:
    """The table and its axes: `--x` and `--by`, then the others in the table's order; at most `most` of them."""
    named = [path for path in (options.x, options.by) if path is not None]
    settings = [*named, *(path for path in options.only if path not in named)]
    table = table_of(sources, settings, options.metric or METRIC).only(options.only)
    for path in named:
        table.path(path)
    others = [path for path in table.paths if path not in named and table.varies(path)]
    # --by alone leaves the first other path to the horizontal axis.
    paths = [others.pop(0), *named] if options.x is None and named and others else list(named)
    if not paths and table.drawn:
        paths = [table.drawn[0]]
    for path in others:
        # A path that varies in step with the axes needs no axis, and neither does one drawn together with another.
        if path not in (*paths, *table.drawn) and not table.follows(path, paths):
            paths.append(path)
    paths = paths or list(table.paths[:1])
    if len(paths) > most:
        rest = paths[most:]
        varied = f"{table.name}: also varies {', '.join(rest)}; choose one value of each, e.g."
        remedy = [part for path in rest for part in (" ", Argument("only"), f" {path}={table.rows[0][path]}")]
        raise ArgumentLookupError(varied, *remedy)
    table.check_single([*paths, *(path for path in table.drawn if path in table.paths)])
    return table, paths


def in_step(table: SweepTable, paths: Sequence[str]) -> list[str]:
    """The settings that vary with the axes."""
    return [path for path in table.paths if path not in paths and table.varies(path)]


def row(table: SweepTable, label: str, along: Axis, path: str, metric: str) -> Curve:
    """A curve over the axis of `path`."""
    scale = quantity(metric).scale
    values = {value: numbers for (value,), numbers in table.values([path], metric).items()}
    order = [value for value in along.in_order if value in values]
    return curve(label, [along.shown[value] for value in order], (mean_of(values[value], scale) for value in order))


def points(table: SweepTable, label: str, along: Axis, path: str, metric: str) -> Curve:
    """A point for each drawn value, over the axis of `path`."""
    scale = quantity(metric).scale
    paths = [path, *(other for other in table.drawn if other in table.paths and other != path)]
    estimates = [(point[0], mean_of(numbers, scale)) for point, numbers in table.values(paths, metric).items()]
    return curve(label, [along.shown[value] for value, _ in estimates], (mean for _, mean in estimates))


def axis_of(table: SweepTable, path: str) -> Axis:
    """The axis of a path over all rows, its label in words."""
    return axis(setting(path, table.paths), table.column(path))


def parts(table: SweepTable, path: str) -> dict[Any, SweepTable]:
    """The rows of each value of `path`, in the order of its axis."""
    return {value: table.where(path, value) for value in axis_of(table, path).in_order}


def titled(table: SweepTable, metric: str, paths: list[str], *, lines: Sequence[str] = (), spread: bool = True) -> str:
    """A title: the metric, the settings on the axes and the number of seeds; the legend names `lines`."""
    what = quantity(metric).label.split(" (")[0]
    settings = " and ".join(setting(path, table.paths) for path in paths)
    others = [setting(path, table.paths) for path in in_step(table, [*paths, *lines])]
    settings += f" (with {', '.join(others)})" if others else ""
    return sentence(f"{what} over {settings}, {over_seeds([sorted(set(table.column('seed')))], spread=spread)}")
