"""The runs of a store as the rows of a sweep."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.diagnostic import ScenarioError
from ...study.store import Store, StoreError
from ._sweep_table import SweepTable

if TYPE_CHECKING:
    import pandas

# Bytes 8 to 11 of every DuckDB file.
MARK = b"DUCK"
# Tables of a store for metrics of one entity, and the columns that identify its rows.
ENTITIES = {"flows": "id", "nodes": "name", "links": "node || '.' || peer"}


class StoredRuns:
    """A store of `lasthop sweep --store`; of its latest version, if it has runs of several."""

    warnings = ()

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises `ScenarioError` if the file is not a store."""
        self.name = os.fspath(path)
        try:
            self._store = Store.existing(path)
        except StoreError as error:
            raise ScenarioError(str(error)) from None

    def table(self, paths: Sequence[str], metric: str) -> SweepTable:
        """A row for each run: the settings at `paths`, the seed, `totals.…`, `medium.…` and `metric`, if it is none of
        these.
        """
        settings = "".join(f"setting(scenarios.document, {_text(path)}) AS {_name(path)}, " for path in paths)
        rows = self._store.query(
            f"SELECT run, {settings}seed, row_number() OVER () AS place FROM run JOIN scenarios USING (scenario)"
            " WHERE engine = (SELECT engine FROM run ORDER BY finished DESC LIMIT 1)"
        )
        # A store does not keep the order of a sweep's values; the order of their first runs is much the same.
        first = {path: rows.groupby(path)["place"].min() for path in paths}
        ranks = rows.assign(**{path: rows[path].map(first[path]) for path in paths})
        rows = rows.loc[ranks.sort_values([*paths, "seed"]).index].drop(columns="place").reset_index(drop=True)
        for path in paths:
            if rows[path].isna().all():
                raise LookupError(f"{self.name}: no run has a setting {path}")
        for values in (*map(self._part, ("totals", "medium")), *self._entity(metric)):
            rows = rows.merge(values, on="run", how="left")
        return SweepTable.of_frame(self.name, rows.drop(columns="run"))

    def _part(self, part: str) -> pandas.DataFrame:
        return self._store.query(f"SELECT * FROM {part}").rename(
            columns=lambda name: name if name == "run" else f"{part}.{name}"
        )

    def _entity(self, metric: str) -> list[pandas.DataFrame]:
        kind, _, rest = metric.partition(".")
        entity, _, key = rest.rpartition(".")
        if kind not in ENTITIES:
            return []
        try:
            select = f"SELECT run, {_name(key)} AS {_name(metric)} FROM {kind} WHERE {ENTITIES[kind]} = {_text(entity)}"
            return [self._store.query(select)]
        except ValueError:  # no such column; the error lists the existing ones
            return []


def is_store(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a store by its content; a missing one by its name."""
    file = Path(path)
    if not file.is_file():
        return file.suffix.lower() == ".duckdb"
    with file.open("rb") as content:
        return content.read(12)[8:] == MARK


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
