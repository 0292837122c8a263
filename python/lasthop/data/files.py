"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self


class PendingFile:
    """A file under a temporary name in its directory; `commit` renames it, leaving the block without one removes it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # The target of a symbolic link is replaced, not the link.
        self.path = Path(os.path.realpath(path))
        self.temporary = self.path.with_name(temporary_name(self.path.name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def discard(self) -> None:
        """Removes uncommitted recordings."""
        self.temporary.unlink(missing_ok=True)

    def commit(self) -> None:
        """Gives the file its name."""
        os.replace(self.temporary, self.path)


def temporary_name(name: str) -> str:
    """A name beside `name` that others who may write in the folder cannot foresee, with the number of this process."""
    return f".{name}.{os.getpid()}.{secrets.token_hex(8)}.part"


def new_file(path: Path) -> IO[bytes]:
    """A new file to write to; a file or a link that is there is never opened."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666), "wb")


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
    with named(pending.path), new_file(pending.temporary) as file:
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
        with new_file(pending.temporary) as file:
            yield file
        pending.commit()


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether `path` is a device, a pipe or a socket, which must be written to and never replaced."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def check_writable(file: Path) -> None:
    """Raises `OSError` unless `file` can be made; leaves no file behind."""
    with PendingFile(file) as pending:
        new_file(pending.temporary).close()
