"""Merges statements that apply to several names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NAMED = 4


def named(noun: str, names: Sequence[str], of: int) -> str:
    """`flow a`, `flows a and b`, `all 16 flows`, `12 of 16 flows (a, b, c, d and more)`."""
    if len(names) == 1:
        return f"{noun} {names[0]}"
    if len(names) == of:
        return f"all {of} {noun}s"
    if len(names) <= NAMED:
        return f"{noun}s {', '.join(names[:-1])} and {names[-1]}"
    return f"{len(names)} of {of} {noun}s ({', '.join(names[:NAMED])} and more)"


def alike(said: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Each sentence with the names that it applies to, in the order of its first appearance."""
    found: dict[str, list[str]] = {}
    for name, sentence in said:
        found.setdefault(sentence, []).append(name)
    return found
