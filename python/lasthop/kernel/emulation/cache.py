"""Where kernels that were built are kept: a directory for each source and recipe."""

from __future__ import annotations

import os
from pathlib import Path

from . import recipe
from .patch import NAME as PATCH

NAME = "linux"


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/lasthop`, or the same below `~/.cache`."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification has relative paths ignored.
    base = Path(home) if home.startswith("/") else Path.home() / ".cache"
    return base / "lasthop"


def cache() -> Path:
    """The folder of kernels."""
    return cache_folder() / "kernels"


def place_of(source_name: str, *, wifi: bool = False, patch: Path | None = None) -> Path:
    """The directory of the kernel that the present recipe makes of that source, changed by that patch."""
    return cache() / f"{source_name}-{recipe.digest(source_name, wifi=wifi, patch=patch)}"


def built_kernels(*, wifi: bool = False) -> list[Path]:
    """The kernels that are ready, made by the present recipe: those with a Wi-Fi stack of their own, or those without."""
    found = (path for path in cache().glob(f"*/{NAME}") if path.is_file())
    return sorted(path for path in found if _place_of(path, wifi=wifi) == path.parent)


def patch_of(kernel: Path) -> Path | None:
    """The patch that has changed a kernel of ours."""
    patch = kernel.with_name(PATCH)
    return patch if patch.is_file() else None


def _place_of(kernel: Path, *, wifi: bool) -> Path:
    return place_of(kernel.parent.name.rpartition("-")[0], wifi=wifi, patch=patch_of(kernel))
