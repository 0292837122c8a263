"""The patch that lets radios of mac80211_hwsim leave frames in mac80211's queues.

It is GPL-2.0, so a source tree of lasthop has it in `kernel/patches`, and the wheel does not. `--build-kernel --wifi` applies it to what
was unpacked; a finished kernel lies beside a copy of its patch.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from .error import EmulationError

NAME = "patch"
IN_TREE = Path(__file__).parents[4] / "kernel" / "patches" / "mac80211_hwsim-hw_queue.patch"
MARK = "hw_queue"


def find_patch(given: Path | None) -> Path | None:
    """The given patch, or that of the source tree; None if there is neither.

    Raises `EmulationError` if the given one is no such patch.
    """
    if given is None:
        return IN_TREE if IN_TREE.is_file() else None
    try:
        text = given.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EmulationError(f"--patch: {given} cannot be read: {error}") from error
    if MARK not in text:
        raise EmulationError(
            f"--patch: {given} gives radios of mac80211_hwsim no parameter {MARK}; lasthop's is in kernel/patches of its source"
        )
    return given


def apply(patch: Path, tree: Path) -> bool:
    """Applies it to a source of Linux; False if it does not fit, and the source stays as it was.

    Raises `EmulationError` without the program.
    """
    if shutil.which("patch") is None:
        raise EmulationError("a kernel cannot be changed without patch: `apt install patch` as root, or the like")
    return all(_patch(patch, tree, *how) for how in (("--dry-run",), ()))


def _patch(patch: Path, tree: Path, *how: str) -> bool:
    command = ("patch", "-p1", "--batch", "--forward", "--directory", str(tree), "--input", str(patch.resolve()), *how)
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0
