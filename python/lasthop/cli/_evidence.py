"""What the commands share that hold the engine against evidence: reading files, and the exit status."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection
from pathlib import Path

from ..scenario import looks_like_scenario
from ._mistake import Mistake

FAILED = 1
SKIPPED = 77


def text_of(file: str, needed: str) -> str:
    """The text of a file, gzipped or not; `needed` says what should be in it.

    Raises:
        Mistake: if it cannot be read, is no text, or is a scenario.
    """
    try:
        data = Path(file).read_bytes()
        if looks_like_scenario(file):
            raise Mistake(f"{file}: is a scenario, and {needed} is needed; `lasthop run {file}` runs it")
        return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    except UnicodeDecodeError:
        raise Mistake(f"{file}: is not text in UTF-8") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Mistake(f"{file}: {error}") from None
    except OSError as error:
        raise Mistake(f"{file}: {error.strerror or error}") from None


def status_of(verdicts: Collection[str]) -> int:
    """0 if all pass, 1 if one fails, 77 if none fails but one is skipped."""
    if "fail" in verdicts:
        return FAILED
    return SKIPPED if "skip" in verdicts else 0
