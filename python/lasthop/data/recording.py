"""Recordings: every PPDU, segment and so on of a run, in a folder for each seed with a Parquet file for each table."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from .. import _core
from .arguments import Argument, ArgumentError
from .diagnostic import refused
from .extras import pyarrow_for
from .files import put
from .temporary import TemporaryFolder

if TYPE_CHECKING:
    import pyarrow

FOLDER = "recording"
RECORD, RECORD_FROM = Argument("record"), Argument("record_from", python="record_from_s")
RECORD_FOR = Argument("record_for", python="record_for_s")


class Request(NamedTuple):
    """A request for recordings: tables or groups of them, start and length in simulated seconds."""

    tables: tuple[str, ...]
    from_s: float = 0.0
    length_s: float | None = None

    def into(self, directory: Path) -> _core.Recording:
        """As the engine takes it, which makes a folder in `directory` for each seed."""
        return _core.Recording(directory, list(self.tables), self.from_s, self.length_s)


def table_names() -> list[str]:
    """Returns the names of the tables of a recording."""
    return [name for name, _meaning, _columns in _core.recording_tables()]


def groups() -> dict[str, list[str]]:
    """Returns the names of groups of tables."""
    return dict(_core.recording_groups())


def chosen(names: str | Iterable[str]) -> tuple[str, ...]:
    """Tables and groups by name: a list, or a text with commas. Raises `ArgumentError` for other values."""
    words = names.split(",") if isinstance(names, str) else names
    asked = tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
    if not asked:
        raise ArgumentError(RECORD, f": no table is named; give one or more of: {_there()}")
    known = [*groups(), *table_names()]
    for name in asked:
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, known, n=1)
            hint = f" did you mean {near[0]!r}?" if near else ""
            raise ArgumentError(RECORD, f": unknown {name!r};{hint} one or more of: {_there()}")
    return asked


def tables_of(names: Iterable[str]) -> set[str]:
    """Returns the tables of these names of tables and groups."""
    return {table for name in names for table in groups().get(name, [name])}


def _there() -> str:
    several = [f"{name} ({' and '.join(tables)})" for name, tables in groups().items() if name != "all"]
    told = {table for name, tables in groups().items() if name != "all" for table in tables}
    return ", ".join([*several, *(name for name in table_names() if name not in told), "all"])


def check_span(from_s: float, length_s: float | None, run_s: float) -> None:
    """Raises `ArgumentError` unless the time to be recorded overlaps a run of `run_s` seconds."""
    if not 0 <= from_s < run_s:
        outside = f"{from_s:g} s is outside the run of {run_s:g} s; choose a time from 0 s to before its end"
        raise ArgumentError(RECORD_FROM, f": {outside}")
    if length_s is not None and not length_s > 0:
        endless = f"a recording cannot last {length_s:g} s; give a length above 0, or none to record to the end"
        raise ArgumentError(RECORD_FOR, f": {endless}")


class Recordings:
    """The recordings of a result: a directory with a folder for each seed. `allowed` refuses files that may not be opened."""

    def __init__(self, directory: Path, allowed: Callable[[Path], Path] = lambda file: file) -> None:
        self.directory = allowed(directory)
        self._allowed = allowed

    @property
    def seeds(self) -> list[int]:
        """The seeds that were recorded."""
        folders = self.directory.glob("seed-*") if self.directory.is_dir() else ()
        numbers = (folder.name.removeprefix("seed-") for folder in folders if folder.is_dir())
        return sorted(int(number) for number in numbers if number.isdecimal())

    def tables(self) -> set[tuple[int, str]]:
        """Seeds and tables that are there."""
        return {(seed, table) for seed in self.seeds for table in table_names() if self.file(table, seed).is_file()}

    def file(self, table: str, seed: int) -> Path:
        """The file of a table of a seed."""
        return self._allowed(self._allowed(self.directory / f"seed-{seed}") / f"{table}.parquet")

    def seed_of(self, tables: Iterable[str], seed: int | None, where: object) -> int:
        """Returns the seed that has one of `tables`, which may be left out if there is only one. Raises `LookupError` if
        there is none.
        """
        wanted = list(tables)
        recorded = sorted({of for of, name in self.tables() if name in wanted})
        if not recorded:
            names = repr(wanted[0]) if len(wanted) == 1 else f"any of {', '.join(wanted)}"
            raise LookupError(
                f"{where}: holds no recording of {names}; run again with --record {','.join(wanted)} --out DIR"
            )
        if seed is None and len(recorded) > 1:
            raise LookupError(f"{where}: {len(recorded)} seeds are recorded; choose one, e.g. seed={recorded[0]}")
        if seed is not None and seed not in recorded:
            raise LookupError(f"{where}: seed {seed} is not recorded; recorded are {', '.join(map(str, recorded))}")
        return recorded[0] if seed is None else seed

    def read(self, table: str, seed: int | None, where: object, columns: Sequence[str] | None = None) -> pyarrow.Table:
        """Returns a table of a seed, with some of its columns or all; `seed` may be left out if there is only one.

        Raises `LookupError` if it was not recorded.
        """
        if table not in table_names():
            raise LookupError(f"a recording has no table {table!r}; it has {', '.join(table_names())}")
        return _read(self.file(table, self.seed_of([table], seed, where)), columns)


def _read(file: Path, columns: Sequence[str] | None) -> pyarrow.Table:
    """A table with its names as dictionaries, in one piece."""
    pyarrow = pyarrow_for("a recorded table")
    with refusing_damage(file):
        kinds = pyarrow.parquet.read_schema(file)
        names = [field.name for field in kinds if field.type == pyarrow.string()]
        table = pyarrow.parquet.read_table(file, columns=columns and list(columns), read_dictionary=names)
        return table.unify_dictionaries().combine_chunks()


@contextlib.contextmanager
def refusing_damage(file: Path) -> Iterator[None]:
    """Raises `ScenarioError` in place of an error of Arrow about a recorded table, which has the name of no file."""
    pyarrow = pyarrow_for("a recorded table")
    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        said = str(error).partition("\n")[0]
        raise refused(f"not a table of a recording: {said}", "record the run again", file=str(file)) from None


class NewRecordings(Recordings):
    """Recordings being made: in a temporary directory, which may be `beside` a result, or in the folder `kept`, which stays."""

    def __init__(self, beside: Path | None = None, *, kept: Path | None = None) -> None:
        self._temporary = TemporaryFolder(FOLDER, beside) if kept is None else None
        super().__init__(kept or self._temporary.path)  # type: ignore[union-attr]  # one of them is there

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if failure is not None:
            self.discard()

    def keep(self, seeds: Iterable[int]) -> None:
        """Removes the folders of all seeds but these from a temporary directory."""
        if self._temporary is not None:
            for seed in set(self.seeds).difference(seeds):
                shutil.rmtree(self.directory / f"seed-{seed}", ignore_errors=True)

    def discard(self) -> None:
        """Removes uncommitted recordings from a temporary directory."""
        if self._temporary is not None:
            self._temporary.remove()


class Chosen(NamedTuple):
    """The recordings that a result gets: of these seeds, and of these tables or of all."""

    seeds: frozenset[int]
    tables: frozenset[str] | None = None

    def includes(self, seed: int, table: str) -> bool:
        """Whether the result gets this table of this seed."""
        return seed in self.seeds and (self.tables is None or table in self.tables)


def put_into(directory: Path, new: Recordings | None, chosen: Chosen | None = None) -> list[Path]:
    """Puts the recordings of a result into its directory, and removes those of an earlier result. Returns their folders.

    Each file appears whole or not at all. Other files are left alone.
    """
    there = Recordings(directory / FOLDER)
    of_new = new.tables() if new else set()
    files = {key for key in of_new if chosen is None or chosen.includes(*key)}
    for seed, table in there.tables() - files:
        there.file(table, seed).unlink()
    for seed, table in sorted(files):
        assert new is not None  # the files are its own
        there.file(table, seed).parent.mkdir(parents=True, exist_ok=True)
        put(new.file(table, seed), there.file(table, seed))
    for seed in there.seeds:
        _remove_if_empty(there.directory / f"seed-{seed}")
    _remove_if_empty(there.directory)
    return [there.directory, *{there.file(table, seed).parent for seed, table in files}] if files else []


def copied_beside(recordings: Recordings, beside: Path) -> NewRecordings:
    """A copy of recordings, to be moved into its own directory."""
    copied = NewRecordings(beside)
    for seed, table in recordings.tables():
        copied.file(table, seed).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(recordings.file(table, seed), copied.file(table, seed))
    return copied


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
