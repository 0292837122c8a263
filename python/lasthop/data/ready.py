"""Files that come with lasthop: ready scenarios and papers, found by name from any folder."""

from __future__ import annotations

import errno
import os
from pathlib import Path

DATA = Path(__file__).parents[1] / "bundled"
SCENARIOS, PAPERS, SHOWCASES = DATA / "scenarios", DATA / "papers", DATA / "showcases"
NEAR = 3


def scenarios() -> dict[str, Path]:
    """The ready scenarios by name."""
    return {file.stem: file for file in sorted(SCENARIOS.glob("*.toml"))}


def papers() -> dict[str, Path]:
    """The claim files of the papers by key."""
    return {file.stem: file for file in sorted(PAPERS.glob("*.toml"))}


def showcases() -> dict[str, Path]:
    """The scripts of the showcases by name."""
    return {file.stem: file for file in sorted(SHOWCASES.glob("*.py"))}


def showcase_title(script: Path) -> str:
    """The first line of a showcase: its title."""
    return _docstring(script).partition("\n")[0]


def showcase_question(script: Path) -> str:
    """The paragraph of a showcase that begins with **Question.**, in a line without that word."""
    paragraph = _docstring(script).partition("**Question.**")[2].partition("\n\n")[0]
    return " ".join(paragraph.split())


def _docstring(script: Path) -> str:
    import ast

    return ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""


def scenario_path(given: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Returns the file to read for the name of a file or of a ready scenario; an existing file comes first.

    `tcp-nup` and `scenarios/tcp-nup.toml`, as in the README, both work if there is no such folder. Raises
    `FileNotFoundError` with near names for any other name.
    """
    text = os.fspath(given)
    if not isinstance(text, str) or "\0" in text or os.path.lexists(text):
        return given
    folder, name = os.path.split(text)
    stem = name.removesuffix(".toml")
    is_ready_name = (folder == "" and "." not in name) or (folder == "scenarios" and name.endswith(".toml"))
    known = scenarios()
    if is_ready_name and stem in known:
        return known[stem]
    import difflib

    near = difflib.get_close_matches(stem, known, n=NEAR, cutoff=0.6) if folder in ("", "scenarios") else []
    if near or (folder == "" and "." not in name):
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        told = (
            f"{os.strerror(errno.ENOENT)}, and no ready scenario is called so; {hint}`lasthop list scenario` names them"
        )
        raise FileNotFoundError(errno.ENOENT, told, text)
    return given
