"""Runs as tables: data frames for pandas, Parquet files for everybody. Heavy imports wait until a table is asked for."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .files import PendingFile
from .runs import Run, table

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Samples(NamedTuple):
    """A quantity of one entity at times of its own, as files of a testbed have it; those of the engine are blocks."""

    entity: str
    metric: str
    times_s: list[float]
    values: list[float]


Series = _core.SeriesBlock | Samples


def frame(runs: Iterable[Run], kind: str) -> pandas.DataFrame:
    """The rows of `kind` (flows, nodes or links) of every run as a data frame, each with its seed."""
    import pandas

    found = pandas.DataFrame(table(runs, kind))
    # A number that no row has is still a number.
    unknown = {name: "float64" for name in found if found[name].isna().all()}
    return found.astype(unknown)


def write_table(path: Path, runs: Iterable[Run], kind: str) -> None:
    """The same as a Parquet file."""
    _core.write_table(path, list(table(runs, kind).items()))


def series_table(series: Iterable[tuple[int, Iterable[Series]]]) -> pyarrow.Table:
    """Time series as a tidy table: seed, time_s, entity, metric, value."""
    import pyarrow

    blocks = [_block_table(seed, block) for seed, blocks in series for block in blocks]
    return pyarrow.concat_tables(blocks).unify_dictionaries()


def read_series(file: Path) -> pandas.DataFrame:
    """The tidy table of a Parquet file; names stay categories."""
    import pyarrow.parquet

    return pyarrow.parquet.read_table(file, read_dictionary=["entity", "metric"]).to_pandas()


class SeriesFile:
    """timeseries.parquet while it grows, a row group at a time, so that little is held."""

    def __init__(self, path: Path) -> None:
        self._pending = PendingFile(path)
        self._writer: _core.SeriesFile | None = None
        self._samples: list[tuple[int, Samples]] = []

    def add(self, seed: int, blocks: Iterable[Series]) -> None:
        """Appends one seed."""
        for block in blocks:
            if isinstance(block, Samples):
                self._samples.append((seed, block))
                continue
            if self._writer is None:
                self._writer = _core.SeriesFile(self._pending.temporary)
            self._writer.add(seed, block)

    def copy(self, file: Path) -> None:
        """Takes the whole of another such file."""
        shutil.copyfile(file, self._pending.temporary)

    def commit(self) -> None:
        """Gives the file its name; without a series, removes what an earlier run left under it."""
        if self._writer is not None:
            self._writer.close()
        elif self._samples:
            _write_samples(self._pending.temporary, self._samples)
        if self._pending.temporary.exists():
            self._pending.commit()
        else:
            self._pending.path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Removes what has no name yet."""
        self._pending.discard()


def _write_samples(file: Path, samples: Iterable[tuple[int, Samples]]) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(series_table((seed, [each]) for seed, each in samples), file, compression="zstd")


def _block_table(seed: int, block: Series) -> pyarrow.Table:
    import numpy
    import pyarrow

    if isinstance(block, Samples):
        places = numpy.zeros(len(block.values), dtype=numpy.int32)
        columns = {
            "seed": pyarrow.array(numpy.full(len(places), seed, dtype=numpy.int64)),
            "time_s": pyarrow.array(block.times_s, pyarrow.float64()),
            "entity": _names(places, [block.entity]),
            "metric": _names(places, [block.metric]),
            "value": pyarrow.array(block.values, pyarrow.float64()),
        }
        return pyarrow.table(columns)
    entities, cells = len(block.entities), block.times * len(block.entities)
    values = numpy.frombuffer(block.values, dtype=numpy.float64)
    instants = block.start_s + block.interval_s * numpy.arange(block.times)
    which = numpy.tile(numpy.arange(entities, dtype=numpy.int32), block.times)
    return pyarrow.table(
        {
            "seed": pyarrow.array(numpy.full(cells, seed, dtype=numpy.int64)),
            "time_s": pyarrow.array(numpy.repeat(instants, entities)),
            "entity": _names(which, block.entities),
            "metric": _names(numpy.zeros(cells, dtype=numpy.int32), [block.metric]),
            "value": pyarrow.array(values),
        }
    )


def _names(which: Any, names: list[str]) -> pyarrow.Array:
    import pyarrow

    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(which), pyarrow.array(names, pyarrow.string()))
