"""How many seeds are enough: the rule behind `--until 2%`.

Seeds are added until Student's 95 % interval of each named metric is no wider than mean ± 2 % of the mean
[Chow, Robbins 1965; Law 2015 §9.4.1]. Looking at the data to choose n makes the plain interval too narrow: a sample
whose spread happens to look small stops early, and covers 93.4 % at worst instead of 95 %. Three measures make up for
it: no look before `FEWEST` seeds, looks at n growing by a quarter, and an interval widened by 1 + 1.5/n, a correction
of the order that the theory gives [Woodroofe 1977], its constant chosen by simulation (docs/statistics.md).

The decision depends on the values in the order of their seeds alone: not on threads, on how many runs are in a store
already, or on where a campaign was interrupted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite
from typing import Any, Literal, NamedTuple

from ..data import arguments as given
from ..data.confidence import estimate
from ..data.metric import check_names, matching
from ..data.plain_number import plain
from ..data.quantities import TOTALS

FEWEST = 10
MOST = 200
GOODPUT = TOTALS.goodput_bps.path

Metrics = Mapping[str, Mapping[int, float]]


class Standing(NamedTuple):
    """The state of a campaign after a look at its first seeds."""

    state: Literal["more", "reached", "given up"]
    seeds: int
    """how many of its seeds are wanted in all: to be run where more are, else those to be reported"""
    expected: int
    """how many it may take in the end, as the spread is now"""
    half_widths: dict[str, float | None]
    """of each metric at the last look, relative to its mean: `inf` if the mean is zero, None below `FEWEST` values"""

    def to_dict(self, target: float, n: int) -> dict[str, Any]:
        """Returns its entry in the result: `n` runs were made; an undefined width, or one of a mean of zero, is None."""
        widths = self.half_widths.items()
        known = {name: width if width is not None and isfinite(width) else None for name, width in widths}
        return {"target": target, "reached": self.state == "reached", "n": n, "half_widths": known}

    def words(self) -> str:
        """The widest interval, such as `± 3.1 %`; an empty text before the first look."""
        widths = self.half_widths.values()
        if not widths:
            return ""
        known = [width for width in widths if width is not None and width != inf]
        if len(known) < len(widths):
            return "no width yet"
        return f"± {percent(max(known))}"


@dataclass(frozen=True)
class Until:
    """Enough is when each of `metrics` is known to ± `target` of its mean; `most` seeds end it in any case.

    `metrics` are dotted names such as `totals.goodput_bps`, or globs of them. Each interval covers its mean with 95 %
    by itself, all of m at once with at least 100 - 5 m %.
    Raises `ValueError` for an impossible target or number.
    """

    target: float
    metrics: tuple[str, ...] = (GOODPUT,)
    most: int = MOST

    def __post_init__(self) -> None:
        if not 0 < given.real("until", self.target, "a share of the mean, such as 0.02 for 2 %,") < 1:
            raise ValueError(
                f"until: {self.target} is not a share of a mean; give a number between 0 and 1, e.g. 0.02 for 2 %"
            )
        if self.most < FEWEST:
            raise ValueError(
                f"until: needs at least {FEWEST} seeds, but {self.most} were allowed; allow {FEWEST} or more"
            )
        if not self.metrics:
            raise ValueError("until: needs a metric")

    def check(self, names: Collection[str]) -> None:
        """Raises `UnknownMetric` unless each of `metrics` is among `names`, those that a run has, values or not."""
        check_names(self.metrics, names)

    def standing(self, seeds: Sequence[int], metrics: Metrics, relative_to: Metrics | None = None) -> Standing:
        """The decision after `seeds` were run, in their order; one that failed is in `seeds` and not in `metrics`.

        `metrics`: by name, what each seed gave; a seed may lack it. `relative_to`: whose means the half-widths are
        relative to, where not to their own: for B - A, those of A. A metric of which no seed has a value at the first
        look ends it at once.
        """
        standing = Standing("more", FEWEST, FEWEST, {})
        while standing.state == "more" and standing.seeds <= len(seeds):
            standing = self._look(seeds[: standing.seeds], metrics, relative_to or metrics)
        return standing

    def _look(self, seeds: Sequence[int], metrics: Metrics, reference: Metrics) -> Standing:
        n, widths = len(seeds), {}
        names = (name for pattern in self.metrics for name in matching(pattern, metrics) or [pattern])
        for name in dict.fromkeys(names):
            values = _of(seeds, metrics.get(name, {}))
            widths[name] = relative_half_width(values, _of(seeds, reference.get(name, {})))
            if not values:
                return Standing("given up", n, n, widths)
        if all(width is not None and width <= self.target for width in widths.values()):
            return Standing("reached", n, n, widths)
        if n == self.most:
            return Standing("given up", n, n, widths)
        further = min(next_look(n), self.most)
        return Standing("more", further, min(max(_expected(n, widths, self.target), further), self.most), widths)


def next_look(n: int) -> int:
    """A quarter more, rounded up."""
    return n + ceil(n / 4)


def relative_half_width(values: Sequence[float], reference: Sequence[float]) -> float | None:
    """Half the interval of `values` over the mean of `reference`; 0 of a constant, None below `FEWEST` values."""
    found, whole = estimate(values, stopped=True), estimate(reference)
    if found is None or whole is None or found.n < FEWEST:
        return None
    half = found.half_width or 0.0
    # The rounding error of a constant is not a spread.
    if half <= 1e-12 * abs(found.mean):
        return 0.0
    return half / abs(whole.mean) if whole.mean else inf


def percent(share: float) -> str:
    """`3.1 %`, with as many decimals as three digits need."""
    return f"{plain(100 * share, 3)} %"


def _of(seeds: Iterable[int], by_seed: Mapping[int, float]) -> list[float]:
    return [by_seed[seed] for seed in seeds if seed in by_seed]


def _expected(n: int, widths: Mapping[str, float | None], target: float) -> int:
    """The half-width falls with the root of n."""
    widest = max((inf if width is None else width for width in widths.values()), default=inf)
    return ceil(min(n * (widest / target) ** 2, 1e9))
