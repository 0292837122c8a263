"""Rows of a recording as they are exported: a batch at a time, in the order of their times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from ...data.recording import Recordings

if TYPE_CHECKING:
    import pyarrow

BATCH = 1 << 15
# With several channels a row may be reported a SIFS ahead: rows wait this long for those before them.
AHEAD_NS = 1_000_000


class Reader:
    """Reads tables of one seed and says how far it is: `show` is told what share of the rows of `tables` has been read."""

    def __init__(
        self, recordings: Recordings, seed: int, tables: Sequence[str], show: Callable[[float], None] | None = None
    ) -> None:
        import pyarrow.parquet

        there = {table for table in tables if recordings.file(table, seed).is_file()}
        self._files = {table: pyarrow.parquet.ParquetFile(recordings.file(table, seed)) for table in there}
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
        """Those that were recorded."""
        return set(self._files)

    def batches(self, table: str, columns: Sequence[str]) -> Iterator[pyarrow.Table]:
        """The rows as they stand, no rows of a table that was not recorded. They do not count as read."""
        import pyarrow

        if table in self._files:
            for batch in self._files[table].iter_batches(BATCH, columns=list(columns)):
                yield pyarrow.Table.from_batches([batch])

    def rows(self, table: str, columns: Sequence[str], *, by: str | None = None) -> Iterator[tuple[Any, ...]]:
        """The values of `columns` of each row, None where there is none; in the order of `by` if that is a column of times."""
        batches = self._counted(table, columns)
        for batch in in_order(batches, by) if by else batches:
            yield from zip(*(values(batch[column]) for column in columns), strict=True)

    def _counted(self, table: str, columns: Sequence[str]) -> Iterator[pyarrow.Table]:
        for batch in self.batches(table, columns):
            yield batch
            self._read += batch.num_rows
            self._show(self._read / self._rows)


def in_order(batches: Iterator[pyarrow.Table], by: str) -> Iterator[pyarrow.Table]:
    """The same rows sorted by their times; those of one time keep their order."""
    import numpy as np
    import pyarrow

    held = None
    for batch in batches:
        joined = batch if held is None else pyarrow.concat_tables([held, batch])
        times = joined[by].to_numpy()
        if (np.diff(times) < 0).any():
            order = np.argsort(times, kind="stable")
            joined, times = joined.take(order), times[order]
        ready = int(np.searchsorted(times, times[-1] - AHEAD_NS)) if len(times) else 0
        yield joined.slice(0, ready)
        held = joined.slice(ready)
    if held is not None:
        yield held


def values(column: pyarrow.ChunkedArray) -> list[Any]:
    """The values of a column as Python has them; names are the same objects."""
    import pyarrow

    if pyarrow.types.is_string(column.type):
        return _names(column)
    if column.null_count:
        return column.to_pylist()
    return column.to_numpy().tolist()


def _names(column: pyarrow.ChunkedArray) -> list[str | None]:
    """Names by their places in a dictionary; None, its last, where there is none."""
    coded = column.combine_chunks().dictionary_encode()
    coded = coded.combine_chunks() if hasattr(coded, "combine_chunks") else coded
    names = [*coded.dictionary.to_pylist(), None]
    places = coded.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False)
    return [names[place] for place in places.tolist()]
