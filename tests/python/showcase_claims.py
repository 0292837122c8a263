"""Of which state of a page of docs/showcases, and of the engine, all claims were held by all their seeds.

`showcase_page.py --run` writes it down. A page that is still in that state needs not be held again by every test.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from lasthop.papers.released import DIGESTS, SHOWS_RESULTS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "showcases"
KEPT = ROOT / "tests" / "data" / "showcases.json"


def state_of(page: Path) -> str:
    """A hash of the page, of what all pages share, of the stored results that some read, and of the engine's digests."""
    document = json.loads((ROOT / DIGESTS).read_text(encoding="utf-8"))
    files = [page, *sorted((FOLDER / "showing").glob("*.py")), *sorted((FOLDER / "kernel").glob("*.json"))]
    parts = [
        *(file.read_bytes() for file in files),
        json.dumps([document["subjects"], document["quantities"][SHOWS_RESULTS]]).encode(),
    ]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:16]


def held() -> dict[str, str]:
    """The state of each page in which its claims were held, by its name."""
    known: dict[str, str] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    return known


def keep(page: Path) -> None:
    """Writes down that the claims of `page` hold in its present state."""
    known = {**held(), page.stem: state_of(page)}
    KEPT.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
