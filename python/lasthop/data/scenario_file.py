"""Recognises a scenario file that was given for a result."""

from __future__ import annotations

import os

from .foreign_text import toml_of


def looks_like_scenario(path: str | os.PathLike[str]) -> bool:
    """Returns whether a file given for another purpose is a scenario, by its name or its sections."""
    if str(path).endswith(".toml"):
        return True
    try:
        sections = toml_of(path)
    except (OSError, ValueError):
        return False
    return "bss" in sections or "station" in sections
