"""The DuckDB file of a store: opened for a turn at a time, since DuckDB lets one process write and keeps others out.

A process that finds it locked waits; the lock of a killed process is released.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.extras import lacks
from ...data.terminal import printable
from ..scenario import readable_text
from .tables import ATTACHED

if TYPE_CHECKING:
    import duckdb

PATIENCE_S = 60.0
TOLD_AFTER_S = 2.0
RETRY_S = 0.02
MAKING_S = 0.5
IN_MEMORY = ":memory:"
# With each turn DuckDB writes the last group of rows again, documents and all. Its default groups have 122,880 rows,
# and a run would cost more with every run stored.
ROW_GROUP = 2048
# The oldest DuckDB that can read a store; earlier ones do not know how the documents are compressed.
STORAGE = "v1.2.0"
# DuckDB's messages for a file of another kind or program, or one cut short when it was made.
NOT_DUCKDB = (
    "not a valid DuckDB database",
    "Cannot launch in-memory database",
    "_scanner",
    "Could not read enough bytes",
)
# Errors of the system for a write that is impossible.
SYSTEM_ERRORS = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EACCES)


class StoreError(ValueError):
    """A file that is not a store, a store of another format, or one that others hold; the message has a remedy."""


def shards_of(store: Path) -> Path:
    """The folder with the shards of a store."""
    return store.parent / f"{store.name}.runs"


class Database:
    """A DuckDB file, or a database in memory if there is no path."""

    def __init__(
        self, path: str | os.PathLike[str] | None, patience_s: float = PATIENCE_S, shards: Path | None = None
    ) -> None:
        self.path = None if path is None else Path(path)
        #: the folder with the shards of the store
        self.shards = shards or (self.path and shards_of(self.path))
        if reason := lacks("store"):
            raise StoreError(f"{IN_MEMORY if path is None else path}: a store {reason}")
        if path is not None and os.fspath(path) != readable_text(os.fspath(path)):
            raise StoreError(f"{readable_text(os.fspath(path))}: is not a name in UTF-8, as DuckDB needs it")
        self._patience_s = patience_s
        # Shared by queries while a turn lasts; in memory the turn never ends.
        self._held = None if path is not None else _connect(IN_MEMORY, read_only=False)

    @contextmanager
    def connection(
        self, *, read_only: bool = False, give_up: Callable[[], bool] = lambda: False
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection for one turn; raises `StoreError` if none can be had, and `OSError` if a write fails."""
        import duckdb

        try:
            if self._held is not None:
                with self._held.cursor() as share:
                    if self.path is not None:
                        share.execute(f"USE {ATTACHED}")
                    yield share
                return
            with self._patiently(self._file, read_only, give_up) as connection:
                self._held = None if read_only else connection
                try:
                    yield connection
                finally:
                    self._held = None
        except (duckdb.Error, RuntimeError) as error:
            # DuckDB stops at Ctrl-C by itself, and reports it in either of two ways.
            if isinstance(error, duckdb.InterruptException) or str(error) == "Query interrupted":
                raise KeyboardInterrupt from None
            if not isinstance(error, duckdb.Error):
                raise
            raise _failure(self._file, error) from None

    @property
    def is_held(self) -> bool:
        """Whether a turn of this process lasts."""
        return self._held is not None

    @property
    def _file(self) -> Path:
        return Path(IN_MEMORY) if self.path is None else self.path

    def _patiently(self, file: Path, read_only: bool, give_up: Callable[[], bool]) -> duckdb.DuckDBPyConnection:
        import duckdb

        begun, told = time.monotonic(), False
        while True:
            try:
                return _connect(os.fspath(file), read_only=read_only, shards=self.shards)
            except (duckdb.IOException, duckdb.ConnectionException) as error:
                waited_s = time.monotonic() - begun
                holder = _holder(error) or (_is_being_made(file, waited_s) and "another process")
                if not holder:
                    raise _system_error(file, error) or _unusable(file, error) from None
                if waited_s > self._patience_s or give_up():
                    raise StoreError(
                        f"{file}: {holder} has held it for {waited_s:.0f} s; try again when it is done"
                    ) from None
                if waited_s > TOLD_AFTER_S and not told:
                    told = True
                    sys.stderr.write(printable(f"lasthop: {file}: waiting for {holder}\n"))
            except duckdb.Error as error:
                raise _unusable(file, error) from None
            time.sleep(RETRY_S)


def _is_being_made(file: Path, waited_s: float) -> bool:
    """Whether another process may have made the file just now and not locked it yet."""
    return waited_s < MAKING_S and file.is_file() and file.stat().st_size == 0


def _connect(path: str, *, read_only: bool, shards: Path | None = None) -> duckdb.DuckDBPyConnection:
    import duckdb

    # By default DuckDB would fetch an extension from the network for a file that it takes for another program's.
    config: dict[str, str | bool | int | float | list[str]] = {"autoinstall_known_extensions": False}
    readable = f"{os.path.abspath(shards)}{os.sep}" if shards is not None and shards.is_dir() else None
    # Views of the file and its shards have a database of their own.
    attached = path != IN_MEMORY and (readable is not None or not read_only)
    connection = duckdb.connect(IN_MEMORY if attached else path, read_only=read_only and not attached, config=config)
    try:
        if attached:
            name = path.replace("'", "''")
            version = "" if os.path.exists(path) and os.path.getsize(path) else f", STORAGE_VERSION '{STORAGE}'"
            options = "READ_ONLY" if read_only else f"ROW_GROUP_SIZE {ROW_GROUP}{version}"
            connection.execute(f"ATTACH '{name}' AS {ATTACHED} (TYPE duckdb, {options})")
            connection.execute(f"USE {ATTACHED}")
        connection.execute("SET enable_progress_bar = false")  # it would be part of the answer to a long query
        if read_only:
            # No COPY to files, no reading except the store.
            if readable is not None:
                connection.execute("SET allowed_directories = [?]", [readable])
            connection.execute("SET enable_external_access = false")
    except BaseException:
        connection.close()
        raise
    return connection


def _holder(error: Exception) -> str | None:
    """Returns the holder of the file, if `error` is about that."""
    text = str(error)
    if "different configuration" in text:
        return "another part of this program"
    if "Conflicting lock" not in text and "being used by another process" not in text:
        return None
    number = re.search(r"PID (\d+)", text)
    return f"process {number[1]}" if number else "another process"


def _unusable(path: Path, error: Exception) -> StoreError:
    text = str(error)
    if any(words in text for words in NOT_DUCKDB):
        return StoreError(f"{path}: is not a store of lasthop; give another name, or remove the file")
    if path.is_dir():
        return StoreError(f"{path}: is a directory; a store is a file")
    if not path.parent.is_dir():
        return StoreError(f"{path}: cannot be made, as there is no directory {path.parent}")
    return StoreError(f"{path}: cannot be opened as a store: {_first_line(text)}")


def _failure(path: Path, error: Exception) -> Exception:
    """A statement failed: by the system's word, or by ours."""
    return _system_error(path, error) or StoreError(f"{path}: {_first_line(str(error))}")


def _system_error(path: Path, error: Exception) -> OSError | None:
    """Returns the system's error of a write, if any."""
    number = next((number for number in SYSTEM_ERRORS if os.strerror(number) in str(error)), None)
    return None if number is None else cannot_write(path, number)


def cannot_write(path: Path, number: int) -> OSError:
    """The system's error of a write into a store."""
    said = f"{os.strerror(number)}; runs that were stored before are kept: make room, then give the same command again"
    return OSError(number, said, os.fspath(path))


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason was given"
