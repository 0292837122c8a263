"""The place of a guest's memory: a file without a name, in a directory with room from which code may run."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .error import EmulationError

# The memory that a guest with ten hosts touches, with a margin; the file is as large as the guest's memory, but sparse.
LEAST_FREE_MIB = 256
SHARED_MEMORY = Path("/dev/shm")


def memory_directory() -> Path:
    """The first of `/dev/shm` and the directory for temporary files that will do; the second one may lie on a disk."""
    places = (SHARED_MEMORY, Path(tempfile.gettempdir()))
    for place in places:
        if _suits(place):
            return place
    raise EmulationError(
        f"a guest's memory fits nowhere: no directory of {', '.join(map(str, places))} is writable, has {LEAST_FREE_MIB} MiB free "
        "and is mounted without noexec; set TMPDIR to a directory that has"
    )


def _suits(place: Path) -> bool:
    try:
        of = os.statvfs(place)
    except OSError:
        return False
    free_mib = of.f_bavail * of.f_frsize >> 20
    return free_mib >= LEAST_FREE_MIB and not of.f_flag & os.ST_NOEXEC and os.access(place, os.W_OK)
