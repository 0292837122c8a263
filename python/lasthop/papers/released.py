"""The verdicts of the last release: a claim that held then should hold now.

With each verdict go hashes of its claim in the claim file and of the results of that engine.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data.files import write_whole
from ..data.foreign_text import json_of, toml_of
from ..data.quantities import FLOW
from .paper import PaperError
from .verdict import Verdict

FILE = "verdicts.json"
DIGESTS = Path("tests/data/digests.json")
"""digests of results, in a source tree"""
SHOWS_RESULTS = f"flows.{FLOW.goodput_bps}"
"""the quantity whose digests show that results have changed"""
HEX_DIGITS = 16


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
    made_from = known.setdefault("made_from", {}).setdefault(_mode(quick), {})
    for paper, claims in verdicts.items():
        papers.setdefault(paper, {}).update({name: verdict.value for name, verdict in claims.items()})
        origins = origins_of(directory, paper)
        made_from.setdefault(paper, {}).update({name: origins[name] for name in claims if name in origins})
    known["lasthop"] = version
    write_whole(file, [json.dumps(known, indent=1, sort_keys=True), "\n"])
    return file


def origins_of(directory: Path, paper: str) -> dict[str, str]:
    """By claim of a paper, two hashes that decide its verdict, with a space between.

    The first is of the claim and its cases in the claim file, the second of the digests of those cases in a source tree. Both leave out
    `found` and `today`, on which no verdict depends.
    """
    file = directory / f"{paper}.toml"
    if not file.is_file():
        return {}
    document = toml_of(file)
    digests = _digests(directory.resolve().parent / DIGESTS)
    found: dict[str, str] = {}
    for claim in document["claim"]:
        measures = " ".join(part["measure"] for part in claim["part"])
        cases = {name: case for name, case in document["case"].items() if re.search(rf"\b{name}\b", measures)}
        judged = {key: value for key, value in claim.items() if key not in ("found", "today")}
        results = {name: digests.get(f"papers/{paper}/{name}") for name in cases}
        found[claim["id"]] = f"{_hash([judged, cases, document.get('quick')])} {_hash(results)}"
    return found


def read_origins(directory: Path, *, quick: bool) -> dict[str, dict[str, str]]:
    """The hashes of `origins_of` that were recorded with the verdicts, by paper and claim."""
    origins: dict[str, dict[str, str]] = _read(directory / FILE).get("made_from", {}).get(_mode(quick), {})
    return origins


def _digests(file: Path) -> dict[str, str]:
    """The digest of the results of each subject; empty outside a source tree."""
    if not file.is_file():
        return {}
    document = json_of(file)
    return dict(zip(document["subjects"], document["quantities"][SHOWS_RESULTS].split(), strict=True))


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:HEX_DIGITS]


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
