"""Captures of a run: its air and its wire as pcapng files for Wireshark."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Self

from .. import _core
from ..data.arguments import Argument, ArgumentError, whole
from ..data.arguments import path as file_name
from ..data.files import put
from ..data.temporary import TemporaryFolder

#: Default number of bytes kept of a frame: all headers, including those of the first MSDU of an A-MSDU.
SNAP = _core.CAPTURE_SNAP
#: The fewest bytes that may be kept, so that a BlockAck is whole; 0 keeps everything.
LEAST_SNAP = _core.LEAST_CAPTURE_SNAP
MOST_SNAP = 65_535


class Request(NamedTuple):
    """Where captures are written, and how many bytes of each frame."""

    directory: Path
    snap: int = SNAP


def requested(directory: str | os.PathLike[str] | None, snap: int | None) -> Request | None:
    """The request of the arguments `pcap` and `pcap_snap`; raises `ArgumentError` and `TypeError`."""
    name = Argument("pcap_snap")
    if directory is None:
        if snap is not None:
            directories = Argument("pcap", option="--pcap DIR")
            raise ArgumentError(name, ": has no effect without ", directories, ", which is where captures go")
        return None
    file_name("pcap", directory, "the name of a directory")
    snap = SNAP if snap is None else whole("pcap_snap", snap, "a number of bytes")
    if snap != 0 and not LEAST_SNAP <= snap <= MOST_SNAP:
        out_of_range = f"{snap} bytes per frame is out of range"
        raise ArgumentError(name, f": {out_of_range}; give {LEAST_SNAP} to {MOST_SNAP}, or 0 for whole frames")
    return Request(Path(directory), snap)


class NewCaptures:
    """Captures being made in their directory, which is created if necessary: under a temporary name, or in the folder `kept`."""

    def __init__(self, request: Request, kept: Path | None = None) -> None:
        self._directory = request.directory
        self._directory.mkdir(parents=True, exist_ok=True)
        self._temporary = TemporaryFolder("pcap", self._directory) if kept is None else None
        self._made = kept or self._temporary.path  # type: ignore[union-attr]  # one of them is there
        #: The arguments for the engine.
        self.asked = (self._made, request.snap)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._temporary is not None:
            self._temporary.remove()

    def commit(self, seeds: Iterable[int], *, several: bool) -> list[Path]:
        """Gives the files of these seeds their names, each seed in its own folder if there are `several`; each appears whole.

        Returns the folders.
        """
        folders = [self._directory]
        for seed in seeds:
            into = self._directory / f"seed-{seed}" if several else self._directory
            into.mkdir(exist_ok=True)
            folders += [into] if several else []
            for file in sorted((self._made / f"seed-{seed}").iterdir()):
                put(file, into / file.name)
        return folders
