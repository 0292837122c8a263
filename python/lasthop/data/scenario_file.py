"""Recognises a scenario file that was given for a result."""

from __future__ import annotations

import os
import tomllib

# Characters that are read of a file.
LOOKED_AT = 1_000_000


def looks_like_scenario(path: str | os.PathLike[str]) -> bool:
    """Returns whether a file given for another purpose is a scenario, by its name or its sections."""
    if str(path).endswith(".toml"):
        return True
    try:
        with open(path, encoding="utf-8") as file:
            sections = tomllib.loads(file.read(LOOKED_AT))
    except (OSError, ValueError, RecursionError):
        return False
    return "bss" in sections or "station" in sections
