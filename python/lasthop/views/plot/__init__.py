"""Plots of results and of sweeps: one module each. The files of this folder are the list of plots.

Each module has `SUMMARY` (one line for the help text), `OPTIONS` (the fields of `Options` that affect it, besides those
that affect every plot) and `chart(sources, options)`, which returns the data of the plot. If `OPTIONS` has a selection
of flows or nodes, the module receives results with those alone. `_chart` draws every plot.
"""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from math import isfinite
from typing import TYPE_CHECKING, Any

from ...data.arguments import Argument, ArgumentError
from ...data.arguments import path as file_name
from ...data.files import PendingFile, is_special, write_whole
from ._chart import (
    KINDS,
    PLACES,
    Chart,
    Curve,
    Mark,
    cdf_curve,
    csv_text,
    draw_chart,
    new_figure,
    save_picture,
    write_chart,
)
from ._chosen import CHOICES, chosen, in_words
from ._options import FOR_ALL, OF_CURVES, OF_NUMBERS_ALONG, OF_VALUES, Options
from ._renamed import renamed
from ._stored_runs import StoredRuns, is_store
from ._sweep_table import TABLES, SweepTable, read_sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...data.result import Result

    Source = Result | SweepTable | StoredRuns

__all__ = [
    "FORMATS",
    "KINDS",
    "PLACES",
    "TABLES",
    "Chart",
    "Curve",
    "Mark",
    "Options",
    "StoredRuns",
    "SweepTable",
    "cdf_curve",
    "chart",
    "csv_text",
    "draw",
    "draw_chart",
    "file_format",
    "is_store",
    "kinds",
    "new_figure",
    "plot",
    "read_sweep",
    "save_picture",
    "summary",
    "write",
    "write_chart",
]

FORMATS = ("png", "pdf", "svg", "csv")
NO_OPTIONS = Options()
LEAST_INCHES, MOST_INCHES = 1.5, 40


def kinds() -> list[str]:
    """The names of all plots."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def summary(kind: str) -> str:
    """Returns a one-line summary of a plot."""
    return str(_module(kind).SUMMARY)


def heeded(kind: str) -> tuple[str, ...]:
    """The options that have an effect on a plot."""
    module = _module(kind)
    without = getattr(module, "WITHOUT", ())
    along = OF_NUMBERS_ALONG if getattr(module, "NUMBERS_ALONG", False) else ()
    return tuple(name for name in (*module.OPTIONS, *FOR_ALL, *along, *OF_VALUES, *OF_CURVES) if name not in without)


def chart(kind: str, sources: Sequence[Source], options: Options = NO_OPTIONS) -> Chart:
    """The data of plot `kind` of one result or sweep, or several.

    Raises `ValueError` for an unknown kind, an option without effect and an invalid value, `LookupError` for a source
    that lacks the plotted data.
    """
    module = _module(kind)
    for name in options.given():
        if name not in heeded(kind):
            raise ArgumentError(Argument(name), f" has no effect on plot {kind}; heeded by: {_heeding(name)}")
    _check(options)
    sources = [_read(source) for source in sources]
    if set(CHOICES) & set(module.OPTIONS):
        sources = [
            source if isinstance(source, SweepTable | StoredRuns) else chosen(source, options) for source in sources
        ]
    data: Chart = module.chart(list(sources), options)
    if data.is_empty:
        files = ", ".join(str(getattr(source, "source", None) or source.name) for source in sources)
        raise LookupError(f"{files}: {data.title}: there is no number to show")
    return replace(_adapted(data, options), notes=_warnings_of(sources))


def _warnings_of(sources: Sequence[Any]) -> tuple[str, ...]:
    """The warnings about the numbers of these sources, each once."""
    return tuple(dict.fromkeys(warning for source in sources for warning in source.warnings))


def _adapted(data: Chart, options: Options) -> Chart:
    """The chart with the user's title, labels, legend, limits and size."""
    title = data.title + in_words(options) if options.title is None else options.title
    changes: dict[str, Any] = {
        name: getattr(options, name) for name in ("x_label", "y_label") if getattr(options, name) is not None
    }
    if options.legend is not None:
        changes["legend"] = options.legend
    asked, y_limits = (options.x_min, options.x_max), (options.y_min, options.y_max)
    x_limits = tuple(own if end is None else end for end, own in zip(asked, data.x_limits, strict=True))
    if asked != (None, None) and data.is_named:
        raise ArgumentError(Argument("x_min"), ", ", Argument("x_max"), ": have no effect on an axis of names")
    changes |= {"x_limits": x_limits, "y_limits": y_limits, "log_y": options.log_y or data.log_y}
    return replace(renamed(data, options.label), title=title, size=options.size, **changes)


def _check(options: Options) -> None:
    if options.legend is not None and options.legend not in PLACES:
        raise ArgumentError(Argument("legend"), f" {options.legend}: must be one of: {', '.join(PLACES)}")
    for axis in "xy":
        low, high = getattr(options, f"{axis}_min"), getattr(options, f"{axis}_max")
        for end, bound in (("min", low), ("max", high)):
            if bound is not None and not isfinite(bound):
                raise ArgumentError(Argument(f"{axis}_{end}"), f" {bound:g}: the limits of an axis must be numbers")
        if low is not None and high is not None and low >= high:
            least, most = Argument(f"{axis}_min"), Argument(f"{axis}_max")
            raise ArgumentError(least, f" {low:g} is not below ", most, f" {high:g}")
        if getattr(options, f"log_{axis}") and any(bound is not None and bound <= 0 for bound in (low, high)):
            raise ArgumentError(Argument(f"log_{axis}"), ": the limits of a logarithmic axis must be above 0")
    if options.size is not None and not all(LEAST_INCHES <= inches <= MOST_INCHES for inches in options.size):
        wide, high = options.size
        inches = f" {wide:g}x{high:g}: from {LEAST_INCHES} to {MOST_INCHES} inches each way"
        raise ArgumentError(Argument("size"), inches)


def _read(source: Source) -> Source:
    """The source as a plot reads it: the table that `lasthop.sweep` returns becomes the table of its file, axes first."""
    return SweepTable.of_frame("this sweep", source) if hasattr(source, "varied") else source


def draw(
    kind: str,
    results: Sequence[Source],
    out: str | os.PathLike[str] | None = None,
    options: Options = NO_OPTIONS,
) -> Figure:
    """Draws `kind` of one result or several, and writes it to `out` if set; raises as `chart` does."""
    if out is not None:
        file_format(out)  # refuses an unknown ending before the work
    data = chart(kind, results, options)
    with new_figure() as figure:
        draw_chart(data, figure)
        if out is not None:
            _write(data, figure, out)
    return figure


def write(data: Chart, out: str | os.PathLike[str]) -> None:
    """Writes a chart in the format of `out`'s ending: a picture, or its data as CSV. Whole or not at all."""
    if file_format(out) == "csv":
        _write_csv(data, out)
        return
    with new_figure() as figure:
        draw_chart(data, figure)
        _write(data, figure, out)


def file_format(out: str | os.PathLike[str]) -> str:
    """The format of a file's ending; raises `ValueError` for an unknown one."""
    ending = os.path.splitext(out)[1].lower().lstrip(".")
    if ending not in FORMATS:
        raise ValueError(f"{os.fspath(out)}: a picture ends in one of: {', '.join('.' + known for known in FORMATS)}")
    return ending


def _module(kind: str) -> Any:
    if kind not in kinds():
        raise ValueError(f"unknown plot {kind!r}; one of: {', '.join(kinds())}")
    return import_module(f".{kind}", __name__)


def _heeding(option: str) -> str:
    return ", ".join(kind for kind in kinds() if option in heeded(kind))


def _write_csv(data: Chart, out: str | os.PathLike[str]) -> None:
    write_whole(out, [csv_text(data)])


def _write(data: Chart, figure: Figure, out: str | os.PathLike[str]) -> None:
    ending = file_format(out)
    if ending == "csv":
        _write_csv(data, out)
    elif is_special(out):
        save_picture(figure, out, ending)
    else:
        with PendingFile(out) as pending:
            save_picture(figure, pending.begun(), ending)
            pending.commit()


def plot(
    result: Result, kind: str = "goodput_over_time", out: str | os.PathLike[str] | None = None, **options: Any
) -> Figure | None:
    """Returns a matplotlib figure of a result, also written to `out` if set (PNG, PDF, SVG or CSV by its ending).

    `options` are the options of `lasthop plot`, with `_` for `-`: `metric="rtt_s"`, `flow="slow.*"`, `size=(7, 3)`.
    """
    if out is not None:
        file_name("out", out, "the name of a file")
    return draw(kind, [result], out=out, options=Options.of(**options))
