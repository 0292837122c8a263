"""Runs of a result as they come from the engine, text that is read as far as is asked for, or as documents from a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._core import RunText

# One element of "runs" of a result. Values of a `RunText` are made at each access.
Run = Mapping[str, Any] | RunText


def document_of(run: Run) -> dict[str, Any]:
    """All of a run as Python's values."""
    return json.loads(run.text()) if isinstance(run, RunText) else run


def columns(run: Run, part: str, keys: Sequence[str]) -> list[list[Any]]:
    """The values of each of `keys` in the rows of a part, such as `flows`; None where a row has none."""
    if isinstance(run, RunText):
        return run.columns(part, list(keys))
    rows = run.get(part) or []
    return [[row.get(key) for row in rows] for key in keys]


def first_rows(run: Run, part: str, most: int) -> list[dict[str, Any]]:
    """The first rows of a part, at most so many."""
    return run.rows_at_most(part, most) if isinstance(run, RunText) else run[part][:most]


def table(runs: Iterable[Run], part: str) -> dict[str, list[Any]]:
    """The rows of a part of every run as columns, headed by the seeds; None where a row lacks what others have."""
    found: dict[str, list[Any]] = {"seed": []}
    for run in runs:
        before, (new, count) = len(found["seed"]), _table(run, part)
        found["seed"] += [run["seed"]] * count
        for name in new:
            found.setdefault(name, [None] * before)
        for name, column in found.items():
            if name != "seed":
                column += new.get(name) or [None] * count
    return found if found["seed"] else {}


def _table(run: Run, part: str) -> tuple[dict[str, list[Any]], int]:
    """The columns of one run, and how many rows they have."""
    if isinstance(run, RunText):
        found = run.table(part)
        return found, max(map(len, found.values()), default=0)
    rows = run.get(part, [])
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}, len(rows)
