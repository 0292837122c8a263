"""Temporary files and folders, and the removal of those that a killed process left.

A process locks each of them (`flock`) while it uses it, and the system releases the locks of a process that ends, however it
ends. So a file or folder with such a name and without a lock is a leftover. On a system without these locks none is removed.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Self

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None
NAME = re.compile(r"\..+\.\d+\.[0-9a-f]{16}\.part")
TO_LOCK = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
# Folders in which commands write below the folder that an option names.
BELOW = ("figures", "seed-*", "programs/seed-*")


def temporary_name(name: str) -> str:
    """A name for the same folder, with the ID of this process, which other users cannot foresee."""
    return f".{name}.{os.getpid()}.{os.urandom(8).hex()}.part"


def is_locked_by_us(descriptor: int, path: Path) -> bool:
    """Locks a new file or folder; false if another process took it for a leftover and removed it meanwhile."""
    if fcntl is None:
        return True
    with suppress(OSError):  # a file system without locks, where no process can remove it either
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return _is_at(descriptor, path)


def is_free(descriptor: int, path: Path, *, without_locks: bool) -> bool:
    """Locks a file or folder unless another process has; false also if it has gone.

    `without_locks`: the answer on a file system or a system that has no locks.
    """
    if fcntl is None:
        return without_locks
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return without_locks
    return _is_at(descriptor, path)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether `path` is still the name of the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except OSError:
        return False


class TemporaryFolder:
    """A folder that goes with this object: in `beside`, or among the system's temporary files, where others cannot read it."""

    def __init__(self, name: str, beside: Path | None = None) -> None:
        from tempfile import gettempdir

        while True:
            self.path = (beside or Path(gettempdir())) / temporary_name(name)
            self.path.mkdir(0o700 if beside is None else 0o777)
            descriptor = open_folder(self.path)
            if descriptor is None or is_locked_by_us(descriptor, self.path):
                break
            os.close(descriptor)
        self._finalizer = weakref.finalize(self, _remove_folder, self.path, descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Removes it with its files."""
        self._finalizer()


def open_folder(path: Path) -> int | None:
    """A descriptor of a folder to lock; None on a system that opens no folders."""
    return os.open(path, TO_LOCK | os.O_DIRECTORY) if hasattr(os, "O_DIRECTORY") else None


def _remove_folder(path: Path, descriptor: int | None) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if descriptor is not None:
        os.close(descriptor)


def remove_leftovers(folder: Path) -> int:
    """Removes what killed processes of this user left in `folder` and in the folders that commands make in it; how many."""
    if fcntl is None:
        return 0
    folders = [folder, *(below for pattern in BELOW for below in folder.glob(pattern))]
    return sum(_is_removed(path) for one in folders for path in _with_temporary_names(one))


def _with_temporary_names(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if NAME.fullmatch(entry.name)]
    except OSError:
        return []


def _is_removed(path: Path) -> bool:
    try:
        status = path.lstat()
        is_folder = stat.S_ISDIR(status.st_mode)
        if status.st_uid != os.geteuid() or not (is_folder or stat.S_ISREG(status.st_mode)):
            return False
        descriptor = os.open(path, TO_LOCK)
    except OSError:
        return False
    try:
        if not is_free(descriptor, path, without_locks=False):
            return False
        if is_folder:
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        return not path.exists()
    except OSError:
        return False
    finally:
        os.close(descriptor)
