"""A task for a guest, and its place."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Enough to give the kernel's TCP memory the limits of an ordinary machine (`tcp_rmem` up to 6 MiB). The guest takes
# only the memory that it touches from the host.
MEMORY_MIB = 1024
# 2026-01-01T00:00:00Z. A guest always begins at the same date.
START_S = 1_767_225_600
# Longest last line of a file of times, with the part written of the next one.
LONGEST_END = 80


@dataclass(frozen=True)
class GuestJob:
    """A program that runs as PID 1 of a guest whose root is the host's `/`, and ends by switching the guest off.

    Its environment is `HOME=/` and `TERM=linux`, its standard output and error are the guest's console. Files that it
    writes below `directory` appear on the host. Whenever some virtual time has passed it appends a line to `time_file`: the
    seconds since its start. A guest without this file is not watched.
    """

    program: Sequence[str]
    """the program, by its whole path, and its arguments"""
    directory: Path
    """an existing directory, of this guest alone"""
    memory_mib: int = MEMORY_MIB
    start_s: int = START_S
    """the date at which the guest's clock starts, in seconds since 1970"""

    @property
    def time_file(self) -> Path:
        """The file in which the guest reports its virtual time; the last line is in seconds."""
        return self.directory / "virtual-time"

    @property
    def console(self) -> Path:
        """The output of the guest's kernel and its PID 1."""
        return self.directory / "console"

    @property
    def launcher(self) -> Path:
        """The script that the kernel starts; its path is the same for each guest, as that enters the random pool."""
        return self.directory / "init"

    def write_launcher(self) -> None:
        """Writes the script, and removes the files of an earlier guest."""
        for stale in (self.time_file, self.console):
            stale.unlink(missing_ok=True)
        self.launcher.write_text(f"#!/bin/sh\nexec {shlex.join(self.program)}\n")
        self.launcher.chmod(0o700)

    def virtual_time_s(self) -> float | None:
        """The last time that the guest reported, in seconds, or None."""
        try:
            with self.time_file.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - LONGEST_END))
                *_, last, _ = file.read().rsplit(b"\n", 2)
                return float(last)
        except (FileNotFoundError, ValueError):
            return None
