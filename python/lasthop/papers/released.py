"""The verdicts of the last release: a claim that held then should hold now.

With the verdicts of a paper go hashes of its claim file and of the results of that engine.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data.files import write_whole
from ..data.foreign_text import json_of
from .paper import PaperError
from .verdict import Verdict

FILE = "verdicts.json"
DIGESTS = Path("tests/data/digests.json")
"""digests of results, in a source tree"""
SHOWS_RESULTS = "flows.goodput_bps"
"""the quantity whose digests show that results have changed"""
HEX_DIGITS = 16


def read_released(directory: Path, *, quick: bool) -> dict[str, dict[str, str]]:
    """Verdict by paper and claim, of quick or of full runs; empty if none were recorded."""
    file = directory / FILE
    if not file.is_file():
        return {}
    released: dict[str, dict[str, str]] = _read(file).get(_mode(quick), {})
    return released


def record(
    directory: Path, verdicts: Mapping[str, Mapping[str, Verdict]], *, quick: bool, whole: bool, version: str
) -> Path:
    """Writes the verdicts of this release; `whole`: of all claims of these papers, else other claims stay unchanged."""
    file = directory / FILE
    known = _read(file) if file.is_file() else {}
    papers = known.setdefault(_mode(quick), {})
    origins = known.setdefault("made_from", {}).setdefault(_mode(quick), {})
    for paper, claims in verdicts.items():
        kept = {} if whole else papers.get(paper, {})
        papers[paper] = kept | {name: verdict.value for name, verdict in claims.items()}
        if whole:
            origins[paper] = origin(directory, paper)
    known["lasthop"] = version
    write_whole(file, [json.dumps(known, indent=1, sort_keys=True), "\n"])
    return file


def origin(directory: Path, paper: str) -> dict[str, str]:
    """Hashes for the verdicts of a paper: `claims` of its file, and in a source tree `results` of the digests of its runs.

    What a claim file says of its findings (`found`) decides no verdict and is left out.
    """
    document = tomllib.loads((directory / f"{paper}.toml").read_text("utf-8"))
    for claim in document["claim"]:
        claim.pop("found", None)
    found = {"claims": _hash(json.dumps(document, sort_keys=True).encode())}
    digests = directory.resolve().parent / DIGESTS
    if digests.is_file():
        document = json.loads(digests.read_text("utf-8"))
        rows = zip(document["subjects"], document["quantities"][SHOWS_RESULTS].split(), strict=True)
        of_paper = [f"{subject} {digest}" for subject, digest in rows if subject.startswith(f"papers/{paper}/")]
        found["results"] = _hash("\n".join(of_paper).encode())
    return found


def read_origins(directory: Path, *, quick: bool) -> dict[str, dict[str, str]]:
    """The `origin` of the recorded verdicts, by paper."""
    origins: dict[str, dict[str, str]] = _read(directory / FILE).get("made_from", {}).get(_mode(quick), {})
    return origins


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:HEX_DIGITS]


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
