"""Means over seeds with Student's t interval at 95 %, and differences of them.

Left out on purpose: intervals inside one run. Seeds are independent, samples of one run are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import atan, floor, fsum, pi, sqrt
from typing import NamedTuple

# Keeps 95 % if the data decided the number of seeds: by simulation, see tests/python/test_sequential.py.
STOPPED = 1.5
# Limit on the number of seeds asked for.
MOST_SEEDS = 200
# No value of a run is larger, and the square of a larger one may be infinite.
LARGEST = 1e150


class Estimate(NamedTuple):
    """A mean over `n` seeds; the bounds are None for one seed, which has no spread."""

    mean: float
    ci95_low: float | None
    ci95_high: float | None
    n: int

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""
        return None if self.ci95_high is None else self.ci95_high - self.mean

    def scaled(self, factor: float) -> Estimate:
        """The same in another unit."""
        low, high = (None if bound is None else bound * factor for bound in (self.ci95_low, self.ci95_high))
        return Estimate(self.mean * factor, low, high, self.n)


class Difference(NamedTuple):
    """An estimate of B - A, and whether it was taken seed by seed."""

    estimate: Estimate
    paired: bool
    narrowing: float | None = None
    """how many times wider the interval would be without pairing, for the same seeds; None if either is 0"""

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the interval; of two independent means at most that."""
        return (self.estimate.n - 1) * (1 if self.paired else 2)

    def is_told(self, among: int = 1) -> bool:
        """Whether the interval leaves 0 out; of several that are looked at together, as wide as all need (Bonferroni)."""
        half = self.estimate.half_width
        if half is None:
            return False
        wider = t_bound(self.freedom, 1 - 0.05 / among) / t_bound(self.freedom, 0.95) if half else 1.0
        return abs(self.estimate.mean) > half * wider


def estimate(values: Sequence[float], *, stopped: bool = False) -> Estimate | None:
    """Mean and interval of `values`, one for each seed; None for no values.

    `stopped`: their number was chosen by their spread (see `sequential`), for which the interval is widened by
    1 + 1.5/n.
    """
    values = [value for value in values if is_value(value)]
    if not values:
        return None
    mean = fsum(values) / len(values)
    if len(values) == 1:
        return Estimate(mean, None, None, 1)
    error = sqrt(_variance(values) / len(values)) * widening(len(values), stopped)
    return _interval(mean, error, len(values) - 1, len(values))


def difference(a: Mapping[int, float], b: Mapping[int, float], *, stopped: bool = False) -> Difference | None:
    """B - A: seed by seed over those that both have; where these are under two, as of independent means.

    `stopped`: as for `estimate`.
    """
    common = sorted(seed for seed in set(a) & set(b) if is_value(a[seed]) and is_value(b[seed]))
    if len(common) < 2 and set(a) != set(b):
        return _unpaired(list(a.values()), list(b.values()), stopped=stopped)
    paired = estimate([b[seed] - a[seed] for seed in common], stopped=stopped)
    if paired is None:
        return None
    apart = _unpaired([a[seed] for seed in common], [b[seed] for seed in common], stopped=stopped)
    wide, narrow = apart and apart.estimate.half_width, paired.half_width
    return Difference(paired, paired=True, narrowing=wide / narrow if wide and narrow else None)


def seeds_to_tell(found: Difference) -> int | None:
    """About how many seeds would leave 0 out of the interval, if mean and spread stay as they are; None above `MOST_SEEDS`.

    The least n of which Student's t with n - 1 degrees times the standard error, which falls with the root of n, is below
    the mean. A guess: with few seeds the spread itself is hardly known.
    """
    half, mean, n = found.estimate.half_width, abs(found.estimate.mean), found.estimate.n
    if half is None or mean == 0:
        return None
    deviation = half / t_bound(found.freedom, 0.95) * sqrt(n)
    per_seed = 1 if found.paired else 2
    below = (m for m in range(2, MOST_SEEDS + 1) if t_bound((m - 1) * per_seed, 0.95) * deviation / sqrt(m) < mean)
    return next(below, None)


def _unpaired(a: Sequence[float], b: Sequence[float], *, stopped: bool) -> Difference | None:
    """For two independent samples [Welch 1947]."""
    a, b = ([value for value in side if is_value(value)] for side in (a, b))
    first, second = estimate(a), estimate(b)
    if first is None or second is None:
        return None
    mean, n = second.mean - first.mean, min(first.n, second.n)
    if n == 1:
        return Difference(Estimate(mean, None, None, 1), paired=False)
    squares = [_variance(side) / len(side) for side in (a, b)]
    total = fsum(squares)
    if total == 0:
        return Difference(Estimate(mean, mean, mean, n), paired=False)
    freedom = total**2 / fsum(square**2 / (len(side) - 1) for square, side in zip(squares, (a, b), strict=True))
    # Rounded down, the interval is a little too wide rather than too narrow.
    return Difference(_interval(mean, sqrt(total) * widening(n, stopped), max(1, floor(freedom)), n), paired=False)


def t_quantile_975(freedom: int) -> float:
    """The 97.5 % point of Student's t with `freedom` degrees."""
    return t_bound(freedom, 0.95)


@lru_cache(maxsize=256)
def t_bound(freedom: int, confidence: float) -> float:
    """Returns the quantile of |t| at `confidence`, by bisection; nine decimals, the same on any machine."""
    low, high = 0.0, 1e4
    for _ in range(80):
        middle = (low + high) / 2
        if _central_probability(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return round(high, 9)


def is_value(value: float) -> bool:
    """Whether a number can be one of a run: not infinite, no NaN, and not larger than any of them."""
    # A NaN fails both comparisons, and an integer may be too large for a float.
    return -LARGEST < value < LARGEST


def widening(n: int, stopped: bool) -> float:
    """By what an interval over `n` seeds is widened, where their number was chosen by their spread."""
    return 1 + STOPPED / n if stopped else 1.0


def _interval(mean: float, error: float, freedom: int, n: int) -> Estimate:
    half = t_quantile_975(freedom) * error
    return Estimate(mean, mean - half, mean + half, n)


def _variance(values: Sequence[float]) -> float:
    mean = fsum(values) / len(values)
    return fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _central_probability(t: float, freedom: int) -> float:
    """P(|T| <= t) by the finite series in cos θ = √(ν / (ν + t²)) [Abramowitz & Stegun 1964 §26.7.3-4]."""
    cos2 = freedom / (freedom + t * t)
    sin = t / sqrt(freedom + t * t)
    odd = freedom % 2 == 1
    term, total = (sqrt(cos2), 0.0) if odd else (1.0, 0.0)
    for k in range(freedom // 2):
        total += term
        term *= cos2 * ((2 * k + 2) / (2 * k + 3) if odd else (2 * k + 1) / (2 * k + 2))
    return (atan(t / sqrt(freedom)) + sin * total) * 2 / pi if odd else sin * total
