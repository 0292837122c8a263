"""Papers as machine-checked claims: the parts of `lasthop reproduce`.

`read_paper` reads a claim file, `Reproduction` runs its cases and judges its claims, `report` writes the findings.
"""

from __future__ import annotations

from pathlib import Path

from ..data import ready
from .claim_file import read_paper
from .paper import Paper, PaperError
from .recorded import Runs
from .reproduction import ClaimOutcome, Reproduction
from .verdict import Verdict

__all__ = ["ClaimOutcome", "Paper", "PaperError", "Reproduction", "Runs", "Verdict", "paper_files", "read_paper"]

FOLDER = "papers"


def folder() -> Path | None:
    """The folder of the claim files: in the working directory, else in the package."""
    return next((place for place in (Path.cwd() / FOLDER, ready.PAPERS) if any(place.glob("*.toml"))), None)


def paper_files(name: str | None = None) -> list[Path]:
    """The claim file `name` (a key, or a path), or all of them; raises `PaperError` for an unknown one."""
    if name is not None and (name.endswith(".toml") or Path(name).is_file()):
        return [Path(name)]
    place = folder()
    if place is None:
        raise PaperError(f"there is no folder {FOLDER}/ here; give the path of a claim file")
    files = {file.stem: file for file in sorted(place.glob("*.toml"))}
    if name is None:
        return list(files.values())
    if name not in files:
        raise PaperError(f"unknown paper {name!r}; one of: {', '.join(files)}, or the path of a claim file")
    return [files[name]]
