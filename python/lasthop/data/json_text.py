"""Documents as JSON with a line for each entry, piece by piece.

Python's encoder writes lines in Python, thirty times as slowly as compact text. So each piece is written compactly and
then broken into lines by the engine; the bytes are the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from .. import _core

# Number of entries of a table that are written at once.
ENTRIES = 1000

_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class Written:
    """A value of a document that is written elsewhere: pieces of UTF-8, with lines as it stands one deep."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = pieces


def pieces(document: dict[str, Any]) -> Iterator[bytes]:
    """Returns `json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)` as UTF-8, in pieces.

    Lists and tables that the document holds itself come entry by entry, so a table may give its entries as they are
    worked out. Raises `ValueError` for what is not a finite number.
    """
    if not document:
        yield b"{}"
        return
    for number, (key, value) in enumerate(document.items()):
        yield f"{',' if number else '{'}\n  {_compact(key)}: ".encode()
        yield from value_pieces(value)
    yield b"\n}"


def value_pieces(value: Any) -> Iterator[bytes]:
    """A value that a document holds itself."""
    if isinstance(value, Written):
        yield from value.pieces
    elif value and isinstance(value, dict):
        yield from _entries(b"{", (dict(some) for some in _chunks(value.items(), ENTRIES)), b"}")
    elif value and isinstance(value, list):
        yield from _entries(b"[", ([item] for item in value), b"]")
    else:
        yield _compact(value).encode()


def _entries(opens: bytes, parts: Iterable[dict[str, Any] | list[Any]], closes: bytes) -> Iterator[bytes]:
    """Parts of one table or list, in one pair of brackets."""
    yield opens
    for number, part in enumerate(parts):
        lines = _core.indented(_compact(part), 1)
        yield (b"," if number else b"") + lines[1 : -len(b"\n  }")]
    yield b"\n  " + closes


def _chunks(entries: Iterable[Any], size: int) -> Iterator[Any]:
    rest = iter(entries)
    while some := list(islice(rest, size)):
        yield some
