"""Shared parts of the commands that compare the engine with evidence: reading files, and the exit status."""

from __future__ import annotations

from collections.abc import Collection

from ...data import foreign_text
from ...data.foreign_text import Unreadable
from ...data.scenario_file import looks_like_scenario
from .._mistake import Mistake
from .._status import FAILED, SKIPPED

# The longest text that is read, unpacked: eighty times the longest trace of the repository.
LARGEST = 16 * 2**20


def text_of(file: str, needed: str) -> str:
    """The text of a file, gzipped or not; `needed` describes the expected content.

    Raises:
        Mistake: if it cannot be read, is not text, is longer than `LARGEST`, or is a scenario.
    """
    try:
        text = foreign_text.text_of(file, LARGEST)
    except Unreadable as error:
        raise Mistake(str(error)) from None
    except OSError as error:
        raise Mistake(f"{file}: {error.strerror or error}") from None
    if looks_like_scenario(file):
        raise Mistake(f"{file}: is a scenario, but {needed} is needed; `lasthop run {file}` runs it")
    return text


def status_of(verdicts: Collection[str]) -> int:
    """0 if all pass, 1 if one fails, 77 if one is skipped and the others pass."""
    if "fail" in verdicts:
        return FAILED
    return SKIPPED if "skip" in verdicts else 0
