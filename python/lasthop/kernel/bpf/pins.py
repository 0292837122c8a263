"""A program's folder of pins, and the host's settings that it keeps.

The BPF file system takes pins and symbolic links, but no files; so the earlier settings are targets of links.
Names in it have no dots.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .requirements import PINS, HostError


@contextmanager
def folder(*names: str) -> Iterator[Path]:
    """A new folder; removed again, with all that was pinned there, if loading does not end well."""
    place = PINS.joinpath(*names)
    if place.exists():
        raise HostError(f"{' on '.join(names)} is loaded already; `lasthop host unload {names[0]}` takes it out")
    place.mkdir(parents=True)
    try:
        yield place
    except BaseException:
        remove(place)
        raise


def remove(place: Path) -> None:
    """Removes the pins: links first, since their objects end with them. Empty folders above go too."""
    for pin in sorted(place.iterdir(), key=lambda pin: pin.name not in ("cgroup", "controller", "egress")):
        pin.unlink()
    while place != PINS.parent:
        with suppress(OSError):
            place.rmdir()
        if place.exists():
            return
        place = place.parent


def remember(place: Path, key: str, value: str) -> None:
    """Keeps `value` with the pins."""
    os.symlink(value, place / key)


def remembered(place: Path, key: str) -> str | None:
    """Returns the kept settings, if any."""
    try:
        return os.readlink(place / key)
    except OSError:
        return None


def network_namespace() -> str:
    """The namespace of this process, as the kernel names it."""
    return os.readlink("/proc/self/ns/net")
