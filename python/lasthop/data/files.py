"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self

from .temporary import HAS_LOCKS, TO_LOCK, is_locked_by_us, temporary_name

# Waiting for a disk takes no processor, and a file system writes several files at once.
SYNCED_AT_ONCE = 16


class PendingFile:
    """A file under a temporary name in its directory; `commit` renames it, leaving the block without one removes it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # The target of a symbolic link is replaced, not the link.
        self.path = Path(os.path.realpath(path))
        self.temporary = self.path.with_name(temporary_name(self.path.name))
        self._lock: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def begin(self) -> IO[bytes]:
        """Makes the file, locked until it has its name or is removed; a file or a link that is there is never opened."""
        while True:
            descriptor = os.open(self.temporary, NEW, 0o666)
            if is_locked_by_us(descriptor, self.temporary):
                break
            os.close(descriptor)
        # A lock lasts until all descriptors of the opened file are closed.
        self._lock = os.dup(descriptor) if HAS_LOCKS else None
        return os.fdopen(descriptor, "wb")

    def begun(self) -> Path:
        """Makes the file, and returns its temporary name for a writer that opens it by name."""
        self.begin().close()
        return self.temporary

    def discard(self) -> None:
        """Removes the file if it has no name yet."""
        self.temporary.unlink(missing_ok=True)
        self._unlock()

    def commit(self) -> None:
        """Gives the file its name."""
        os.replace(self.temporary, self.path)
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


def put(file: Path, target: Path) -> None:
    """Gives `file` the name `target` too, whole and at once; it loses its own on a file system with one name for a file."""
    temporary = target.with_name(temporary_name(target.name))
    with locked(file):
        try:
            os.link(file, temporary)
        except OSError:
            os.replace(file, target)
            return
        os.replace(temporary, target)
        # Two names of one file are not exchanged: both stay.
        temporary.unlink(missing_ok=True)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Locks a file for the time in which it has a temporary name."""
    if not HAS_LOCKS:
        yield
        return
    descriptor = os.open(file, TO_LOCK)
    try:
        is_locked_by_us(descriptor, file)
        yield
    finally:
        os.close(descriptor)


def sync(paths: Iterable[Path]) -> None:
    """Waits until these files and folders are on the disk."""
    paths = list(paths)
    if len(paths) == 1:
        _sync(paths[0])
    elif paths:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(min(SYNCED_AT_ONCE, len(paths))) as threads:
            list(threads.map(_sync, paths))


def _sync(path: Path) -> None:
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):
        return  # a system that opens no folders
    descriptor = os.open(path, os.O_RDONLY if hasattr(os, "O_DIRECTORY") else os.O_RDWR)
    try:
        with named(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Gives an `OSError` without a file's name, as of a full disk, the name of `path`."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno == errno.EPIPE:
            raise
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), str(path)) from None


def write_pieces(file: IO[bytes], pieces: Iterable[str | bytes]) -> None:
    """Writes text, or its UTF-8, piece by piece."""
    file.writelines(piece if isinstance(piece, bytes) else piece.encode() for piece in pieces)


def write_new(pending: PendingFile, pieces: Iterable[str | bytes]) -> None:
    """Writes the content of a pending file."""
    with named(pending.path), pending.begin() as file:
        write_pieces(file, pieces)


def write_whole(path: str | os.PathLike[str], pieces: Iterable[str | bytes]) -> None:
    """Writes text to `path`, which never holds a part of it; a device or a pipe takes it as it comes."""
    with whole_file(path) as file:
        write_pieces(file, pieces)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write bytes to, which never holds a part of them; a device or a pipe takes them as they come."""
    if is_special(path):
        with open(path, "wb") as file:
            yield file
        return
    with PendingFile(path) as pending, named(pending.path):
        with pending.begin() as file:
            yield file
        pending.commit()


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether `path` is a device, a pipe or a socket, which must be written to and never replaced."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def check_writable(file: Path) -> None:
    """Raises `OSError` unless `file` can be made; leaves no file behind."""
    with PendingFile(file) as pending:
        pending.begun()
