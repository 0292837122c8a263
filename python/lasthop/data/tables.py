"""Runs as tables: data frames for pandas, Parquet files. Heavy imports wait until a frame is read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .. import _core
from .extras import pandas_for
from .files import PendingFile, named
from .runs import Run

if TYPE_CHECKING:
    import pandas


class Samples(NamedTuple):
    """A quantity of one entity at times of its own, as files of a testbed have it; those of the engine are blocks."""

    entity: str
    metric: str
    times_s: list[float]
    values: list[float]


Series = _core.SeriesBlock | Samples


def frame(runs: Sequence[Run], kind: str) -> pandas.DataFrame:
    """The rows of `kind` (flows, nodes or links) of every run as a data frame, each with its seed."""
    table = _core.Table.of_runs(runs, kind)
    pandas = pandas_for(f"a data frame of {kind}")
    found = pandas.DataFrame({name: table.column(name) for name in table.names})
    # A number that no row has is still a number.
    unknown = {name: "float64" for name, type_ in zip(table.names, table.types, strict=True) if type_ == "nothing"}
    return found.astype(unknown)


def write_table(path: Path, runs: Sequence[Run], kind: str, warnings: Sequence[str] = ()) -> None:
    """The same as a Parquet file; the warnings are a JSON list in its metadata."""
    metadata = {"warnings": json.dumps(list(warnings), ensure_ascii=False)} if warnings else {}
    _core.Table.of_runs(runs, kind).write_parquet(path, metadata)


def series_table(series: Iterable[tuple[int, Iterable[Series]]]) -> _core.Table:
    """Time series as a tidy table: seed, time_s, entity, metric, value."""
    return _core.Table.of_series([(seed, block) for seed, blocks in series for block in blocks])


class SeriesFile:
    """timeseries.parquet while it grows, a row group at a time, so that little is held."""

    def __init__(self, path: Path) -> None:
        self._pending = PendingFile(path)
        self._writer: _core.SeriesFile | None = None

    def add(self, seed: int, blocks: Iterable[Series]) -> None:
        """Appends one seed."""
        with named(self._pending.path):
            for block in blocks:
                if self._writer is None:
                    self._writer = _core.SeriesFile(self._pending.begun())
                self._writer.add(seed, block)

    def copy(self, file: Path) -> None:
        """Takes the whole of another such file."""
        shutil.copyfile(file, self._pending.begun())

    def close(self) -> Path | None:
        """Ends the file, and returns its temporary name; None without a series."""
        if self._writer is not None:
            with named(self._pending.path):
                self._writer.close()
        return self._pending.temporary if self._pending.temporary.exists() else None

    def commit(self) -> None:
        """Gives the closed file its name; without a series, removes what an earlier run left under it."""
        if self._pending.temporary.exists():
            self._pending.commit()
        else:
            self._pending.path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Removes what has no name yet."""
        self._pending.discard()
