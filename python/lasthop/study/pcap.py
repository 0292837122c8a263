"""Captures of a run: its air and its wire as pcapng files for Wireshark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Self

from .. import _core
from ..data.arguments import Argument, ArgumentError, whole
from ..data.arguments import path as file_name
from ..data.files import temporary_name

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
    """Captures being made under a temporary name in their directory, which is created if necessary."""

    def __init__(self, request: Request) -> None:
        self._directory = request.directory
        self._directory.mkdir(parents=True, exist_ok=True)
        self._temporary = self._directory / temporary_name("pcap")
        #: The arguments for the engine.
        self.asked = (self._temporary, request.snap)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)

    def commit(self, seeds: Iterable[int], *, several: bool) -> None:
        """Gives the files of these seeds their names, each seed in its own folder if there are `several`; each appears whole."""
        for seed in seeds:
            into = self._directory / f"seed-{seed}" if several else self._directory
            into.mkdir(exist_ok=True)
            for file in sorted((self._temporary / f"seed-{seed}").iterdir()):
                os.replace(file, into / file.name)
