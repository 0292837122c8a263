"""Reading a store together with its shards, and with the finished runs that only its journals have yet.

They are written into the store first. If it cannot be written, as without the right to or while another process reads it, into a copy.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ...data.temporary import TemporaryFolder
from . import shards
from .database import Database, StoreError
from .journal import Waiting, have_runs, left_beside, state_beside, waiting_beside

if TYPE_CHECKING:
    import duckdb

# A writer leaves the file to others after a turn of two seconds; a reader may hold it for longer.
TURN_WAITED_FOR_S = 3.0

StoreAll = Callable[["duckdb.DuckDBPyConnection", Sequence[Waiting]], None]


class TakeShards(Protocol):
    """Lists the shards of a store, in it or in a copy."""

    def __call__(self, connection: duckdb.DuckDBPyConnection, path: Path, *, is_copy: bool = False) -> None: ...


class Reading:
    """The readers' access to a database; `store_all` adds the runs that it lacks, and `take_shards` lists the shards."""

    def __init__(self, database: Database, store_all: StoreAll, take_shards: TakeShards) -> None:
        self._database = database
        self._store_all = store_all
        self._take_shards = take_shards
        self._copy: tuple[list[Any], TemporaryFolder, Database] | None = None

    @contextmanager
    def connection(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection that only reads, with every run that has finished."""
        database = self._database
        # Within a turn of this process its writer knows what waits.
        if database.path is not None and not database.is_held and (have_runs(database.path) or self._lacks_shards()):
            database = self._completed(database.path)
        with database.connection(read_only=True) as connection:
            if database.shards is not None:
                shards.show(connection, database.shards)
            yield connection

    def _lacks_shards(self) -> bool:
        there = shards.beside(self._database.path)
        if not there:
            return False
        with self._database.connection(read_only=True) as connection:
            return bool(shards.unlisted(connection, there))

    def _completed(self, path: Path) -> Database:
        try:
            self._write(path)
        except (OSError, StoreError):
            return self._copied(path)
        return self._database

    def _write(self, path: Path) -> None:
        """Writes the waiting runs, and removes the journals of ended processes; others go on with theirs."""
        until = time.monotonic() + TURN_WAITED_FOR_S
        with ExitStack() as files:
            left = [files.enter_context(closing(each)) for each in left_beside(path)]
            with self._database.connection(give_up=lambda: time.monotonic() > until) as connection:
                self._store_all(connection, waiting_beside(path))
                self._take_shards(connection, path)
            for each in left:
                each.remove()

    def _copied(self, path: Path) -> Database:
        """A copy that has the waiting runs; one from before if nothing has changed since."""
        with self._database.connection(read_only=True):
            state = [*map(_state, _files_of(path)), *state_beside(path), *shards.beside(path)]
            if self._copy is not None and self._copy[0] == state:
                return self._copy[2]
            folder = TemporaryFolder("lasthop-store")
            for file in _files_of(path):
                if file.exists():
                    shutil.copyfile(file, folder.path / file.name)
            waiting = waiting_beside(path)
        copy = Database(folder.path / path.name, shards=self._database.shards)
        with copy.connection() as connection:
            self._store_all(connection, waiting)
            self._take_shards(connection, path, is_copy=True)
        self._copy = (state, folder, copy)
        return copy


def _files_of(path: Path) -> tuple[Path, Path]:
    """The file of a store, and the log that DuckDB keeps of it."""
    return path, path.with_name(f"{path.name}.wal")


def _state(file: Path) -> tuple[int, int] | None:
    return (file.stat().st_size, file.stat().st_mtime_ns) if file.exists() else None
