"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self


class PendingFile:
    """A file under a temporary name in its directory; `commit` renames it, leaving the block without one removes it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # The target of a symbolic link is replaced, not the link.
        self.path = Path(os.path.realpath(path))
        self.temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")

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


def write_pieces(path: Path, pieces: Iterable[str | bytes]) -> None:
    """Writes text, or its UTF-8, piece by piece."""
    with path.open("wb") as file:
        file.writelines(piece if isinstance(piece, bytes) else piece.encode() for piece in pieces)


def write_whole(path: str | os.PathLike[str], pieces: Iterable[str | bytes]) -> None:
    """Writes text to `path`, which never holds a part of it; a device or a pipe takes it as it comes."""
    if is_special(path):
        write_pieces(Path(path), pieces)
        return
    with PendingFile(path) as pending:
        write_pieces(pending.temporary, pieces)
        pending.commit()


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write bytes to, which never holds a part of them; a device or a pipe takes them as they come."""
    if is_special(path):
        with open(path, "wb") as file:
            yield file
        return
    with PendingFile(path) as pending:
        with pending.temporary.open("wb") as file:
            yield file
        pending.commit()


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether `path` is a device, a pipe or a socket, which must be written to and never replaced."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def check_writable(file: Path) -> None:
    """Raises `OSError` unless `file` can be made; leaves no file behind."""
    with PendingFile(file) as pending:
        pending.temporary.touch()
