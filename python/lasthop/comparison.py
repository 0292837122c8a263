"""Two results side by side: each number with its interval, and the difference with its own."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

from .confidence import Difference, Estimate, difference, estimate
from .headline import Headline, headlines
from .result import Result


class Comparison(NamedTuple):
    """One number in A and in B, and B - A."""

    label: str
    unit: str
    decimals: int
    a: Estimate | None
    b: Estimate | None
    difference: Difference | None


def compare(a: Result, b: Result, patterns: Iterable[str] = ()) -> list[Comparison]:
    """The headline numbers of both, or all metrics whose dotted name matches one of `patterns`."""
    patterns = list(patterns)
    first, second = ({item.label: item for item in _chosen(result, patterns)} for result in (a, b))
    rows = []
    for label in dict.fromkeys([*first, *second]):
        kind = first.get(label) or second[label]
        left, right = (side[label].by_seed if label in side else {} for side in (first, second))
        rows.append(
            Comparison(
                kind.label,
                kind.unit,
                kind.decimals,
                estimate(list(left.values())),
                estimate(list(right.values())),
                difference(left, right),
            )
        )
    return rows


def _chosen(result: Result, patterns: list[str]) -> list[Headline]:
    if not patterns:
        return headlines(result)
    return [
        Headline(name, "", 6, by_seed)
        for name, by_seed in result.metrics.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    ]
