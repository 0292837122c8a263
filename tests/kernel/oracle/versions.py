"""A kernel's version: our profile and ticks for it, the files of its recordings, and their tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lasthop.kernel.emulation import Kernel, find_kernel

RECORDED = Path(__file__).parent / "recorded"
# From this version on Linux has the profile of that name.
PROFILES = (((7, 0), "linux-7.3"), ((6, 18), "linux-6.18"), ((0, 0), "linux-6.12"))


def kept_file(name: str, version: str) -> Path:
    """Where a comparison of this name with kernels of this version's series is kept: recorded/SERIES/NAME.json."""
    return RECORDED / ".".join(version.split(".")[:2]) / f"{name}.json"


def kept_files(name: str) -> list[Path]:
    """The comparisons of this name that are kept, oldest kernel first."""
    return sorted(RECORDED.glob(f"*/{name}.json"), key=lambda file: number(file.parent.name))


def for_each_kernel(name: str, template: str, rows: Callable[[dict[str, Any]], Iterator[str]]) -> str:
    """A section: the template up to its table's head, then that table for each kernel with a recording."""
    intro, _, head = template.partition("\n|")
    parts = [intro]
    for file in kept_files(name):
        kept = json.loads(file.read_text())
        ticks = f", {kept['hz']} Hz" if kept.get("hz") else ""
        parts.append(f"\nLinux {kept['kernel']}{ticks}, {kept['date']}:\n\n|{head}{''.join(rows(kept))}")
    return "".join(parts)


def number(version: str) -> tuple[int, ...]:
    """The first two numbers of a version such as 6.12.117."""
    return tuple(int(part) for part in version.split(".")[:2])


def profile_of(version: str) -> str:
    """The profile of a kernel."""
    return next(name for since, name in PROFILES if number(version) >= since)


def settings(kernel: Kernel | str) -> list[str]:
    """Settings of a scenario whose senders are of this kernel's version and count time as it does."""
    found = find_kernel(kernel) if isinstance(kernel, str) else kernel
    ticks = [f"tcp.{key}={1000 / found.hz:g} ms" for key in ("timer_tick", "controller_tick")]
    return [f"tcp.profile={profile_of(found.version)}", *ticks]


def timer(duration_ms: int, kernel: Kernel) -> str:
    """When a kernel's timer for this duration fires: rounded up to ticks, and one tick late."""
    tick_ms = 1000 / kernel.hz
    return f"{-(-duration_ms // tick_ms) * tick_ms + tick_ms:g} ms"
