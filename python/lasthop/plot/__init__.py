"""Plots of results and of sweeps: one file each, found by listing this folder.

Each module has `SUMMARY` (one line for the help text), `OPTIONS` (the names of the fields of `Options` that it heeds)
and `chart(sources, options)`, which gives the data of what is seen. Drawing is one for all: `_chart`.
"""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from ._chart import KINDS, Chart, Curve, cdf_curve, csv_text, draw_chart, new_figure, save_picture, write_chart
from ._options import FOR_ALL, Options
from ._stored_runs import StoredRuns, is_store
from ._sweep_table import TABLES, SweepTable, read_sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..result import Result

    Source = Result | SweepTable | StoredRuns

__all__ = [
    "FORMATS",
    "KINDS",
    "TABLES",
    "Chart",
    "Curve",
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
    "read_sweep",
    "save_picture",
    "summary",
    "write",
    "write_chart",
]

FORMATS = ("png", "pdf", "svg", "csv")
NO_OPTIONS = Options()


def kinds() -> list[str]:
    """The names of all plots."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def summary(kind: str) -> str:
    """What a plot shows, in a line."""
    return _module(kind).SUMMARY


def chart(kind: str, sources: Sequence[Source], options: Options = NO_OPTIONS) -> Chart:
    """The data of plot `kind` of one result or sweep, or several.

    Raises `ValueError` for an unknown kind and for an option that it does not heed, `LookupError` where a source
    lacks what the plot shows.
    """
    module = _module(kind)
    for name in options.given():
        if name not in {*module.OPTIONS, *FOR_ALL}:
            raise ValueError(f"--{name.replace('_', '-')} has no effect on plot {kind}; heeded by: {_heeding(name)}")
    found = module.chart(list(sources), options)
    if found.is_empty:
        raise LookupError(f"{found.title}: there is no number to show")
    return replace(found, title=found.title if options.title is None else options.title)


def draw(
    kind: str,
    results: Sequence[Source],
    out: str | os.PathLike[str] | None = None,
    options: Options = NO_OPTIONS,
) -> Figure:
    """Draws `kind` of one result or several, and writes it to `out` if given; raises as `chart` does."""
    ending = file_format(out) if out is not None else None
    data = chart(kind, results, options)
    with new_figure() as figure:
        draw_chart(data, figure)
        if out is not None:
            _write(data, figure, out, ending)
    return figure


def write(data: Chart, out: str | os.PathLike[str]) -> None:
    """Writes a chart as what the ending of `out` says: a picture, or its data as CSV. Whole or not at all."""
    ending = file_format(out)
    if ending == "csv":
        _write(data, None, out, ending)
        return
    with new_figure() as figure:
        draw_chart(data, figure)
        _write(data, figure, out, ending)


def file_format(out: str | os.PathLike[str]) -> str:
    """The format that a file's ending asks for; raises `ValueError`."""
    ending = os.path.splitext(out)[1].lower().lstrip(".")
    if ending not in FORMATS:
        raise ValueError(f"{os.fspath(out)}: a picture ends in one of: {', '.join('.' + known for known in FORMATS)}")
    return ending


def _module(kind: str):
    if kind not in kinds():
        raise ValueError(f"unknown plot {kind!r}; one of: {', '.join(kinds())}")
    return import_module(f".{kind}", __name__)


def _heeding(option: str) -> str:
    return ", ".join(kind for kind in kinds() if option in _module(kind).OPTIONS)


def _write(data: Chart, figure: Figure | None, out: str | os.PathLike[str], ending: str) -> None:
    from ..files import PendingFile, is_special, write_whole

    if ending == "csv":
        write_whole(out, [csv_text(data)])
    elif is_special(out):
        save_picture(figure, out, ending)
    else:
        with PendingFile(out) as pending:
            save_picture(figure, pending.temporary, ending)
            pending.commit()
