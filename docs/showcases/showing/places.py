"""Where what a page writes goes.

The environment's `LASTHOP_SHOWCASES` names the folder; empty, it asks for nothing to be written. Without it files go to `out/showcases`
of the source tree, and the page says where they are.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "LASTHOP_SHOWCASES"
DEFAULT = Path(__file__).resolve().parents[3] / "out" / "showcases"


def page() -> str:
    """The name of the page that runs: of the script, which sphinx-gallery names as the interpreter does."""
    return Path(sys.argv[0]).stem


def place(ending: str) -> Path | None:
    """A file of the page that runs, in a folder that is there; None where nothing is to be written."""
    folder = os.environ.get(VARIABLE)
    if folder == "":
        return None
    where = Path(folder or DEFAULT)
    where.mkdir(parents=True, exist_ok=True)
    return where / f"{page()}{ending}"


def say(what: str, file: Path) -> None:
    """Says where a file is, to who runs a page as a script."""
    if VARIABLE not in os.environ:
        print(f"{what}: {file}")
