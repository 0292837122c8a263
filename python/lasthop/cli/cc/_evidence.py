"""Shared parts of the commands that compare the engine with evidence: reading files, and the exit status."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Collection
from pathlib import Path

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
        with Path(file).open("rb") as stream:
            data = stream.read(LARGEST + 1)
        if len(data) <= LARGEST and _is_scenario(file):
            raise Mistake(f"{file}: is a scenario, but {needed} is needed; `lasthop run {file}` runs it")
        if data[:2] == b"\x1f\x8b":
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(LARGEST + 1)
        if len(data) > LARGEST:
            raise Mistake(f"{file}: is longer than {LARGEST >> 20} MiB unpacked, the limit; give a part of it")
        return data.decode()
    except UnicodeDecodeError:
        raise Mistake(f"{file}: is not text in UTF-8") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Mistake(f"{file}: {error}") from None
    except OSError as error:
        raise Mistake(f"{file}: {error.strerror or error}") from None


def _is_scenario(file: str) -> bool:
    try:
        return looks_like_scenario(file)
    except RecursionError:  # endlessly nested lists: TOML, but no scenario
        return False


def status_of(verdicts: Collection[str]) -> int:
    """0 if all pass, 1 if one fails, 77 if one is skipped and the others pass."""
    if "fail" in verdicts:
        return FAILED
    return SKIPPED if "skip" in verdicts else 0
