"""Flows, nodes and kinds of traffic chosen by patterns, as a shell chooses files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

MOST_NAMES = 12


def matching(what: str, patterns: str | Sequence[str], names: Iterable[str], place: str = "") -> list[str]:
    """The `names` that match one of the `patterns`, in their order, each once.

    Raises `LookupError` for a pattern without a match; the message names `what` and the `place`.
    """
    names = list(dict.fromkeys(names))
    patterns = [patterns] if isinstance(patterns, str) else list(patterns)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            where = f"{place}: " if place else ""
            raise LookupError(f"{where}no {what} matches {pattern!r}; {_instead(pattern, names)}")
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def _instead(pattern: str, names: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(pattern.translate(str.maketrans("", "", "*?[]")), names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    more = " …" if len(names) > MOST_NAMES else ""
    return f"{hint}there are: {', '.join(names[:MOST_NAMES]) or 'none'}{more}"
