"""The verdicts of the last release: a claim that held then should hold now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data.files import write_whole
from ..data.foreign_text import json_of
from .paper import PaperError
from .verdict import Verdict

FILE = "verdicts.json"


def read_released(directory: Path, *, quick: bool) -> dict[str, dict[str, str]]:
    """Verdict by paper and claim, of quick or of full runs; empty if none were recorded."""
    file = directory / FILE
    if not file.is_file():
        return {}
    released: dict[str, dict[str, str]] = _read(file).get(_mode(quick), {})
    return released


def record(directory: Path, verdicts: Mapping[str, Mapping[str, Verdict]], *, quick: bool, version: str) -> Path:
    """Writes the verdicts of this release; papers and claims without a new verdict stay unchanged."""
    file = directory / FILE
    known = _read(file) if file.is_file() else {}
    papers = known.setdefault(_mode(quick), {})
    for paper, claims in verdicts.items():
        papers.setdefault(paper, {}).update({name: verdict.value for name, verdict in claims.items()})
    known["lasthop"] = version
    write_whole(file, [json.dumps(known, indent=1, sort_keys=True), "\n"])
    return file


def _read(file: Path) -> dict[str, Any]:
    """The file's document; raises `PaperError` if it is invalid."""
    try:
        document: dict[str, Any] = json_of(file)
        for papers in (document.get("quick", {}), document.get("full", {})):
            for claims in papers.values():
                claims.items()
    except OSError as error:
        raise PaperError(f"{file}: {error.strerror}") from None
    except (ValueError, AttributeError):
        raise PaperError(f"{file}: not a file of verdicts by `lasthop reproduce --record`; remove it") from None
    return document


def lost(released: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, Verdict]]) -> list[str]:
    """The claims that held in the last release and do not now, as `paper id`; undecided ones are not lost."""
    return [
        f"{paper} {name}"
        for paper, claims in now.items()
        for name, verdict in claims.items()
        if released.get(paper, {}).get(name) == Verdict.HOLDS.value and verdict in (Verdict.FAILS, Verdict.IN_PART)
    ]


def _mode(quick: bool) -> str:
    return "quick" if quick else "full"
