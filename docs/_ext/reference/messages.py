"""What the program says to wrong input."""

from __future__ import annotations

from collections.abc import Iterator

from .markup import title


def pages() -> Iterator[tuple[str, str]]:
    """One page."""
    yield "index", title("Error messages") + "\nTo come.\n"
