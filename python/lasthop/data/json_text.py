"""The document of a result as JSON with a line for each entry, piece by piece.

Python's encoder writes lines in Python, thirty times as slowly as compact text: enough for the head, while the engine
writes the runs. The bytes are the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from .confidence import Estimate
from .runs import Run

# Number of entries of a summary that are written at once.
ENTRIES = 1000

_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=2).encode


def pieces(head: dict[str, Any], runs: Iterable[Run], summary: Iterable[tuple[str, Estimate]]) -> Iterator[bytes]:
    """Returns `json.dumps({**head, "runs": …, "summary": …}, indent=2, ensure_ascii=False)` as UTF-8, in pieces.

    Runs and estimates are written one by one, as they are computed. Raises `ValueError` for a number that is not finite.
    """
    yield b"{"
    for key, value in head.items():
        lines = _text(value).replace("\n", "\n  ")  # a new line within a text is written \\n
        yield f"\n  {_text(key)}: {lines},".encode()
    yield from _entries(b'\n  "runs": [', (b"\n    " + run.lines(2) for run in runs), b"],")
    yield from _entries(b'\n  "summary": {', _estimates(summary), b"}")
    yield b"\n}\n"


def _entries(opens: bytes, entries: Iterable[bytes], closes: bytes) -> Iterator[bytes]:
    """Entries of one table or list; an empty one stays on its line."""
    yield opens
    number = 0
    for number, entry in enumerate(entries, 1):
        yield entry if number == 1 else b"," + entry
    yield (b"\n  " if number else b"") + closes


def _estimates(summary: Iterable[tuple[str, Estimate]]) -> Iterator[bytes]:
    some: list[str] = []
    for name, (mean, low, high, n) in summary:
        ends = f'"ci95_low": {_number(low)},\n      "ci95_high": {_number(high)},\n      "n": {n}'
        some.append(f'\n    {_text(name)}: {{\n      "mean": {_number(mean)},\n      {ends}\n    }}')
        if len(some) == ENTRIES:
            yield ",".join(some).encode()
            some = []
    if some:
        yield ",".join(some).encode()


def _number(value: float | None) -> str:
    return "null" if value is None else _text(value)
