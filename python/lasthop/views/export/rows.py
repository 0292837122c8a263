"""Rows of a recording for export: a batch at a time, in the order of their times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from ...data.extras import pyarrow_for
from ...data.recording import Recordings, refusing_damage

if TYPE_CHECKING:
    import pyarrow

BATCH = 1 << 15
# With several channels a row may be reported a SIFS early: rows wait this long for those before them.
AHEAD_NS = 1_000_000


class Reader:
    """Reads tables of one seed and reports progress: `show` receives the share of the rows of `tables` read so far."""

    def __init__(
        self, recordings: Recordings, seed: int, tables: Sequence[str], show: Callable[[float], None] | None = None
    ) -> None:
        pyarrow = pyarrow_for("an export of a recording")
        recorded = {table for table in tables if recordings.file(table, seed).is_file()}
        self._files = {}
        for table in recorded:
            with refusing_damage(file := recordings.file(table, seed)):
                self._files[table] = pyarrow.parquet.ParquetFile(file)
        self._recordings, self._seed = recordings, seed
        self._rows = max(1, sum(file.metadata.num_rows for file in self._files.values()))
        self._read = 0
        self._show = show or (lambda _share: None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    @property
    def tables(self) -> set[str]:
        """The recorded tables."""
        return set(self._files)

    def batches(self, table: str, columns: Sequence[str]) -> Iterator[pyarrow.Table]:
        """The rows in stored order; no rows of a table that was not recorded. They do not count as read."""
        import pyarrow

        if table in self._files:
            with refusing_damage(self._recordings.file(table, self._seed)):
                for batch in self._files[table].iter_batches(BATCH, columns=list(columns)):
                    yield pyarrow.Table.from_batches([batch])

    def rows(self, table: str, columns: Sequence[str], *, by: str | None = None) -> Iterator[tuple[Any, ...]]:
        """The values of `columns` of each row, None for a missing one and in a column that an earlier build did not record; in the order
        of `by`, a column of times."""
        batches = self._counted(table, columns)
        for batch in in_order(batches, by) if by else batches:
            there = set(batch.column_names)
            absent = [None] * batch.num_rows
            yield from zip(*(values(batch[column]) if column in there else absent for column in columns), strict=True)

    def _counted(self, table: str, columns: Sequence[str]) -> Iterator[pyarrow.Table]:
        for batch in self.batches(table, columns):
            yield batch
            self._read += batch.num_rows
            self._show(self._read / self._rows)


def in_order(batches: Iterator[pyarrow.Table], by: str) -> Iterator[pyarrow.Table]:
    """The same rows sorted by their times; rows of one time keep their order."""
    import numpy as np
    import pyarrow

    waiting = None
    for batch in batches:
        joined = batch if waiting is None else pyarrow.concat_tables([waiting, batch])
        times = joined[by].to_numpy()
        if (np.diff(times) < 0).any():
            order = np.argsort(times, kind="stable")
            joined, times = joined.take(order), times[order]
        ready = int(np.searchsorted(times, times[-1] - AHEAD_NS)) if len(times) else 0
        yield joined.slice(0, ready)
        waiting = joined.slice(ready)
    if waiting is not None:
        yield waiting


def values(column: pyarrow.ChunkedArray) -> list[Any]:
    """The values of a column as Python objects; equal names are the same object."""
    import pyarrow

    if pyarrow.types.is_string(column.type):
        return _names(column)
    if column.null_count:
        return list(column.to_pylist())
    return list(column.to_numpy().tolist())


def _names(column: pyarrow.ChunkedArray) -> list[str | None]:
    """Names by their places in a dictionary, whose last entry, None, serves for missing names."""
    coded = column.combine_chunks().dictionary_encode()
    coded = coded.combine_chunks() if hasattr(coded, "combine_chunks") else coded
    names = [*coded.dictionary.to_pylist(), None]
    places = coded.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False)
    return [names[place] for place in places.tolist()]
