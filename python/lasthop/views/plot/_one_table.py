"""The one table that a plot of settings reads: a sweep, the runs of a store, or several results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...data.arguments import Argument, ArgumentLookupError
from ...data.result import Result
from ._stored_runs import StoredRuns
from ._sweep_table import SweepTable, setting


def table_of(sources: Sequence[Any], paths: Sequence[str], metric: str) -> SweepTable:
    """The sweep itself; a store or several results as a sweep over the settings `paths` of their scenarios."""
    others = [source for source in sources if isinstance(source, SweepTable | StoredRuns)]
    if others and len(sources) > 1:
        raise LookupError(f"{others[0].name}: one sweep at a time")
    stored = None
    for source in others:
        if isinstance(source, SweepTable):
            return source
        stored = source
    if not paths:
        example = " PATH is needed: a setting by which the scenarios of the runs differ, e.g. station.0.count"
        raise ArgumentLookupError(Argument("x"), example)
    if stored is not None:
        return stored.table(paths, metric)
    rows = [row for result in sources for row in _rows(result, paths)]
    names = dict.fromkeys(name for row in rows for name in row)
    return SweepTable.of("these results", [{name: row.get(name) for name in names} for row in rows])


def _rows(result: Result, paths: Sequence[str]) -> list[dict[str, Any]]:
    point = {path: setting(result, path) for path in paths}
    return [{**point, "seed": run["seed"], **run.numbers()} for run in result.told_runs]
