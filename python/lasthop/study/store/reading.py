"""Reading a store together with the finished runs that only its journals have yet.

They are written into the store first. If it cannot be written, as without the right to or while another process reads it, into a copy.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...data.temporary import TemporaryFolder
from .database import Database, StoreError
from .journal import Waiting, have_runs, left_beside, state_beside, waiting_beside

if TYPE_CHECKING:
    import duckdb

# A writer leaves the file to others after a turn of two seconds; a reader may hold it for longer.
TURN_WAITED_FOR_S = 3.0

StoreAll = Callable[["duckdb.DuckDBPyConnection", Sequence[Waiting]], None]


class Reading:
    """The readers' access to a database; `store_all` adds the runs that it lacks."""

    def __init__(self, database: Database, store_all: StoreAll) -> None:
        self._database = database
        self._store_all = store_all
        self._copy: tuple[list[Any], TemporaryFolder, Database] | None = None

    @contextmanager
    def connection(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection that only reads, with every run that has finished."""
        database = self._database
        # Within a turn of this process its writer knows what waits.
        if database.path is not None and not database.is_held and have_runs(database.path):
            database = self._completed(database.path)
        with database.connection(read_only=True) as connection:
            yield connection

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
            for each in left:
                each.remove()

    def _copied(self, path: Path) -> Database:
        """A copy that has the waiting runs; one from before if nothing has changed since."""
        with self._database.connection(read_only=True):
            state = [*map(_state, _files_of(path)), *state_beside(path)]
            if self._copy is not None and self._copy[0] == state:
                return self._copy[2]
            folder = TemporaryFolder("lasthop-store")
            for file in _files_of(path):
                if file.exists():
                    shutil.copyfile(file, folder.path / file.name)
            waiting = waiting_beside(path)
        copy = Database(folder.path / path.name)
        with copy.connection() as connection:
            self._store_all(connection, waiting)
        self._copy = (state, folder, copy)
        return copy


def _files_of(path: Path) -> tuple[Path, Path]:
    """The file of a store, and the log that DuckDB keeps of it."""
    return path, path.with_name(f"{path.name}.wal")


def _state(file: Path) -> tuple[int, int] | None:
    return (file.stat().st_size, file.stat().st_mtime_ns) if file.exists() else None
