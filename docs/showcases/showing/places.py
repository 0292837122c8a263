"""Where what a page writes goes: `LASTHOP_SHOWCASES` names the folder, and empty asks for nothing to be written."""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE, DEFAULT = "LASTHOP_SHOWCASES", "out/showcases"


def page() -> str:
    """The name of the page that runs: of the script, which sphinx-gallery names as the interpreter does."""
    return Path(sys.argv[0]).stem


def place(ending: str) -> Path | None:
    """A file of the page that runs, in a folder that is there; None where nothing is to be written."""
    folder = os.environ.get(VARIABLE, DEFAULT)
    if not folder:
        return None
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder) / f"{page()}{ending}"
