"""Finished runs on their way into a store, in a file beside it: DuckDB takes them by the second, and a kill loses none.

A writer appends each run as it comes in, and empties the file once the store has it. The file is locked as long as its process lives;
the next process that opens the store writes the runs of a file without a lock, and removes it. Appended runs outlive their process. The disk
takes runs that wait for more than `SYNCED_AFTER_S`, so that a power cut costs at most the last second.
"""

from __future__ import annotations

import glob
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from ...data.records import framed, whole
from ...data.runs import Run
from ...data.temporary import HAS_LOCKS, is_free, is_locked_by_us, open_folder
from .finished import Blocks, packed, unpacked

SUFFIX = ".waiting"
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
FOREIGN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
THERE = os.O_RDWR | FOREIGN
# Leaves the disk as much again within a second. Most runs are in the store before, whose transactions wait for the disk.
SYNCED_AFTER_S = 0.5


class Waiting(NamedTuple):
    """A finished run as the tables take it."""

    row: dict[str, Any]
    scenario: str
    """its resolved scenario as JSON"""
    kept: tuple[str, ...]
    """the metrics whose time series were asked for"""
    run: Run | None
    series: Blocks | None
    error: str | None


class Journal:
    """The file of one writer, made for its first run."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._path: Path | None = None
        self._file: IO[bytes] | None = None
        #: scenarios that are in the file, which has each once
        self._scenarios: set[str] = set()
        #: when the first run was appended that the disk may not have
        self._unsynced_since: float | None = None

    def add(self, waiting: Waiting) -> bool:
        """Appends a run; false if that cannot be, as on a full disk: then only the store can keep it."""
        try:
            file = self._file or self._made()
        except OSError:
            return False
        if file is None:
            return False
        end = file.tell()
        try:
            record = framed(self._record(waiting))
            # A write to a full disk may take a part.
            if file.write(record) == len(record):
                self._scenarios.add(waiting.row["scenario"])
                self._unsynced_since = self._unsynced_since or time.monotonic()
                return True
        except OSError:
            pass
        with suppress(OSError):
            file.truncate(end)
            file.seek(end)
        return False

    def sync(self, blocked_s: float = 0.0) -> None:
        """Has the disk take the runs, unless the oldest is recent. The next call may come `blocked_s` from now."""
        if self._file is None or self._unsynced_since is None:
            return
        if time.monotonic() + blocked_s - self._unsynced_since >= SYNCED_AFTER_S:
            self._unsynced_since = None
            with suppress(OSError):  # a broken disk: the store reports it
                os.fsync(self._file.fileno())

    def clear(self) -> None:
        """Empties the file: the store has its runs."""
        if self._file is not None:
            self._file.truncate(0)
            self._file.seek(0)
            self._scenarios.clear()
            self._unsynced_since = None

    def close(self) -> None:
        """Removes the file if it is empty; one with runs stays for the next process."""
        if self._file is None or self._path is None:
            return
        if self._file.tell() == 0:
            self._path.unlink(missing_ok=True)
        self._file.close()
        self._file = None

    def _record(self, waiting: Waiting) -> bytes:
        head = {
            "row": waiting.row,
            "scenario": None if waiting.row["scenario"] in self._scenarios else waiting.scenario,
            "kept": waiting.kept,
            "has_series": waiting.series is not None,
            "error": waiting.error,
        }
        run = b"" if waiting.run is None else waiting.run.json().encode()
        return packed(head, run, waiting.series or [])

    def _made(self) -> IO[bytes] | None:
        """The file, unless the system has no locks, by which a file of a dead process is known."""
        if not HAS_LOCKS:
            return None
        while True:
            path = self._store.with_name(f"{self._store.name}.{os.urandom(8).hex()}{SUFFIX}")
            descriptor = os.open(path, NEW, 0o666)
            if is_locked_by_us(descriptor, path):
                break
            os.close(descriptor)
        self._path, self._file = path, os.fdopen(descriptor, "w+b", buffering=0)
        _sync_folder(path.parent)
        return self._file


class LeftJournal:
    """The file of a process that has ended, locked by this one."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._file = os.fdopen(descriptor, "r+b")

    def runs(self) -> list[Waiting]:
        """Its runs, up to the one that was being appended."""
        return _waiting_in(self._file)

    def remove(self) -> None:
        """Removes the file: the store has its runs."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Leaves the file to others."""
        self._file.close()


def left_beside(store: Path) -> Iterator[LeftJournal]:
    """The files that ended processes of this user have left beside a store."""
    if not HAS_LOCKS:
        return
    for path in _files_beside(store):
        try:
            descriptor = os.open(path, THERE)
        except OSError:
            continue
        if os.fstat(descriptor).st_uid == os.geteuid() and is_free(descriptor, path, without_locks=False):
            yield LeftJournal(path, descriptor)
        else:
            os.close(descriptor)


def have_runs(store: Path) -> bool:
    """Whether a journal has runs, which the store may lack."""
    return any(size for _, size, _ in state_beside(store))


def state_beside(store: Path) -> list[tuple[str, int, int]]:
    """The journals of a store with their sizes and times."""
    found = []
    for path in _files_beside(store):
        with suppress(OSError):
            status = path.lstat()
            found.append((path.name, status.st_size, status.st_mtime_ns))
    return found


def waiting_beside(store: Path) -> list[Waiting]:
    """The runs in all files of this user and of the store's owner, also of processes that live: for a caller that has the
    store open, so that no writer empties its file meanwhile.
    """
    owners = {os.geteuid(), store.stat().st_uid} if HAS_LOCKS else set()
    return [run for path in _files_beside(store) for run in _runs_of(path, owners)]


def _runs_of(path: Path, owners: set[int]) -> list[Waiting]:
    try:
        descriptor = os.open(path, os.O_RDONLY | FOREIGN)
    except OSError:
        return []
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        return _waiting_in(file) if status.st_uid in owners and stat.S_ISREG(status.st_mode) else []


def _files_beside(store: Path) -> list[Path]:
    return sorted(store.parent.glob(f"{glob.escape(store.name)}.*{SUFFIX}"))


def _sync_folder(folder: Path) -> None:
    """Has the disk take the name of a new file."""
    with suppress(OSError):
        if (descriptor := open_folder(folder)) is not None:
            os.fsync(descriptor)
            os.close(descriptor)


def _waiting_in(file: IO[bytes]) -> list[Waiting]:
    """The runs of a file, up to one that is being appended."""
    scenarios: dict[str, str] = {}
    return [_waiting(record, scenarios) for _, record in whole(file)]


def _waiting(record: bytes, scenarios: dict[str, str]) -> Waiting:
    head, run, series = unpacked(record)
    key = head["row"]["scenario"]
    if head["scenario"] is not None:
        scenarios[key] = head["scenario"]
    return Waiting(
        head["row"],
        scenarios[key],
        tuple(head["kept"]),
        Run.parse(run.decode()) if run else None,
        series if head["has_series"] else None,
        head["error"],
    )
