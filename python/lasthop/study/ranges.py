"""Ranges of a setting, such as `1 ms..100 ms log`, and points drawn within them.

Points are drawn at random or as a Latin hypercube [McKay, Beckman, Conover 1979]: of N points exactly one lies in each
Nth of each range. Each range draws from a stream of its own, known by the seed and the path of the setting, so that a range
more leaves the others' draws as they were. `random.Random` is what Python promises to keep as it is from one version to the next.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from random import Random

DESIGNS = ("lhs", "random")
MOST_POINTS = 100_000
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_UNIT = r"(?!(?:log|int)\b)[A-Za-zµ][A-Za-zµ/]*"
RANGE = re.compile(rf"\s*({_NUMBER})\s*({_UNIT})?\s*\.\.\s*({_NUMBER})\s*({_UNIT})?((?:\s+(?:log|int))*)\s*")
# Units of counts, which are whole if the ends are.
COUNTED = (None, "B", "packet", "packets")


class Range(NamedTuple):
    """From `low` to `high`, both in it, in `unit`, which may be missing."""

    low: float
    high: float
    unit: str | None
    log: bool
    whole: bool

    def at(self, part: float) -> Any:
        """The value at this part of the range, from 0 to below 1: a number, or text with the unit."""
        low, high = self.low, self.high + (1 if self.whole else 0)
        found = math.exp(math.log(low) + part * math.log(high / low)) if self.log else low + part * (high - low)
        # A logarithm is rounded; no value may leave its range by that.
        found = min(max(found, self.low), self.high)
        number = math.floor(found) if self.whole else float(f"{found:.6g}")
        return number if self.unit is None else f"{number!r} {self.unit}"


def is_range(text: Any) -> bool:
    """Whether a value is written as a range."""
    return isinstance(text, str) and RANGE.fullmatch(text) is not None


def range_of(path: str, text: str) -> Range:
    """The range that `text` writes for the setting `path`; raises `ValueError`."""
    match = RANGE.fullmatch(text)
    if match is None:
        raise ValueError(f"{path}: {text!r} is no range; write e.g. '1 ms..100 ms', '1..10' or '1 ms..1000 ms log'")
    low, high, unit = float(match[1]), float(match[3]), match[4] or match[2]
    if match[2] and match[2] != unit:
        raise ValueError(f"{path}: {text!r} has two units; write both ends in the same")
    if match[2] and not match[4]:
        raise ValueError(
            f"{path}: {text!r} has no unit behind its upper end; write {match[1]} {unit}..{match[3]} {unit}"
        )
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"{path}: {text!r}: write the lower end first; it must be below the upper one")
    words = match[5].split()
    if "log" in words and low <= 0:
        raise ValueError(f"{path}: {text!r}: a logarithmic range begins above 0")
    ends_are_whole = all(re.fullmatch(r"[+-]?[0-9]+", end) for end in (match[1], match[3]))
    if "int" in words and not (low.is_integer() and high.is_integer()):
        raise ValueError(f"{path}: {text!r}: a range of whole numbers has whole ends")
    return Range(low, high, unit, "log" in words, "int" in words or (ends_are_whole and unit in COUNTED))


def drawn(ranges: Mapping[str, Range], points: int, design: str, seed: int) -> list[tuple[Any, ...]]:
    """A value of each of `ranges` for each of `points`, drawn with `seed`; raises `ValueError`."""
    if design not in DESIGNS:
        raise ValueError(f"design: unknown {design!r}; one of: {', '.join(DESIGNS)}")
    if isinstance(points, bool) or not isinstance(points, int) or not 1 <= points <= MOST_POINTS:
        raise ValueError(f"sample: {points!r}: the number of points is from 1 to {MOST_POINTS}")
    from random import Random

    columns = [
        [found.at(part) for part in _parts(points, design, Random(f"{seed} {path}"))] for path, found in ranges.items()
    ]
    return list(zip(*columns, strict=True))


def _parts(points: int, design: str, stream: Random) -> list[float]:
    """Where in a range the points lie, from 0 to below 1."""
    if design == "random":
        return [stream.random() for _ in range(points)]
    keys = [stream.random() for _ in range(points)]
    stratum = sorted(range(points), key=keys.__getitem__)
    return [min((which + stream.random()) / points, math.nextafter(1, 0)) for which in stratum]
