"""Two results side by side: each number with its interval, and the difference with its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..data.arguments import names, shown
from ..data.attached import Attached
from ..data.confidence import Difference, Estimate, difference
from ..data.result import Result
from .headline import chosen, label, mean_and_interval
from .pairing import Pairing, paired
from .progress import Progress
from .scenario import Scenario
from .sequential import Metrics, Standing, Until
from .simulation import InterruptRequests, Runs


class Comparison(NamedTuple):
    """One number in A and in B, and B - A."""

    label: str
    unit: str
    decimals: int
    a: Estimate | None
    b: Estimate | None
    difference: Difference | None
    scale: float = 1.0
    """from the unit in which they are kept to the one that is shown"""
    stored_unit: str | None = None


class Comparisons(list[Comparison]):
    """The numbers of two results side by side; a notebook shows them as a table."""

    #: those of the results, each headed by its side, A or B
    warnings: tuple[str, ...] = ()
    #: which flow of A is which of B, if one of them was read from captures
    pairing: Pairing | None = None

    _repr_html_ = Attached()


def compare(a: Result, b: Result, patterns: Iterable[str] = ()) -> Comparisons:
    """Compares the headline numbers of two results, or all metrics whose dotted name matches one of `patterns`.

    Flows of captures take the names that the same flows have in a simulation; `pairing` lists them.
    """
    for name, result in (("a", a), ("b", b)):
        if not isinstance(result, Result):
            raise TypeError(f"{name}: a Result is needed, of lasthop.run or lasthop.read, not {shown(result)}")
    patterns = names("patterns", patterns, "the name of a metric")
    a, b, pairing = paired(a, b)
    first, second = ({item.label: item for item in chosen(result, patterns)} for result in (a, b))
    rows = Comparisons()
    rows.pairing = pairing
    rows.warnings = tuple(f"{side}: {each}" for side, result in (("A", a), ("B", b)) for each in result.warnings)
    for name in dict.fromkeys([*first, *second]):
        kind = first.get(name) or second[name]
        left, right = (side[name].by_seed if name in side else {} for side in (first, second))
        rows.append(
            Comparison(
                kind.label,
                kind.unit,
                kind.decimals,
                a.estimate(left.values()),
                b.estimate(right.values()),
                difference(left, right, stopped=a.until is not None or b.until is not None),
                kind.scale,
                kind.stored_unit,
            )
        )
    return rows


def comparison_table(rows: Sequence[Comparison]) -> tuple[list[str], list[list[str]]]:
    """Returns headings and rows as text."""

    def cell(row: Comparison, found: Estimate | None) -> str:
        return mean_and_interval(found and found.scaled(row.scale), row.decimals)

    lines = [
        [
            label(row.label, row.unit),
            cell(row, row.a),
            cell(row, row.b),
            cell(row, row.difference and row.difference.estimate),
            _share(row),
            _narrowing(row),
        ]
        for row in rows
    ]
    return ["", "A", "B", "B - A", "B / A - 1", "pairing"], lines


def how_compared(rows: Sequence[Comparison]) -> str:
    """Returns a sentence about the intervals and the differences, and one more if no difference has an interval."""
    equal = " A and B have the same numbers, seed by seed." if rows and all(map(_is_equal, rows)) else ""
    return f"Means ± 95 % CI; differences are taken {_pairing(rows)}.{equal}"


def _is_equal(row: Comparison) -> bool:
    """Whether both sides have this number alike for every seed of either."""
    difference = row.difference
    if difference is None or not difference.paired or row.a is None or row.b is None or row.a.n != row.b.n:
        return False
    estimate = difference.estimate
    return estimate.n == row.a.n and {estimate.mean, estimate.ci95_low or 0.0, estimate.ci95_high or 0.0} == {0.0}


def _pairing(rows: Sequence[Comparison]) -> str:
    paired = [row for row in rows if row.difference is not None and row.difference.paired]
    if not paired:
        return "of independent means (the seeds differ)"
    n = max(row.difference.estimate.n for row in paired if row.difference is not None)
    of_all = all(side is None or side.n <= n for row in paired for side in (row.a, row.b))
    seeds = "" if of_all else f" over the {n} seeds that both have"
    gain = "; pairing: how many times narrower their interval is for it" if n > 1 else ""
    return f"seed by seed{seeds}{gain}"


def _narrowing(row: Comparison) -> str:
    narrowing = row.difference and row.difference.narrowing
    return f"{narrowing:.1f} ×" if narrowing else "-"


def _share(row: Comparison) -> str:
    if row.a is None or row.b is None or row.a.mean == 0:
        return "-"
    return f"{100 * (row.b.mean / row.a.mean - 1):+.1f} %"


def compare_until(
    scenarios: Sequence[Scenario], seeds: list[int], jobs: int, until: Until, progress: Progress
) -> list[Result]:
    """Runs A and B with the same seeds until the interval of B - A is within a share of A's mean; `seeds` is the largest
    number.

    Raises `UnknownMetric` after the first run.
    """
    sides = [Runs(scenario, jobs, None, metrics=until.metrics) for scenario in scenarios]
    done, standing = 0, until.standing([], {})
    with InterruptRequests() as requests:
        while standing.state == "more":
            progress.say(standing.words())
            _extend(sides, seeds[done : standing.seeds], done, standing, requests, progress)
            if requests.count:
                break
            done = standing.seeds
            standing = until.standing(seeds[:done], *_differences(*(side.result for side in sides)))
    for side in sides:
        side.result.until = standing.to_dict(until.target, done)
    return [side.judged() for side in sides]


def _extend(
    sides: Sequence[Runs],
    new: list[int],
    done: int,
    standing: Standing,
    requests: InterruptRequests,
    progress: Progress,
) -> None:
    for half, side in enumerate(sides):

        def show(fraction: float, finished: int, half: int = half) -> None:
            share = (done + (half + fraction) / 2 * len(new)) / standing.expected
            progress.update(share, done + half * finished, standing.expected)

        if not requests.count:
            side.extend(new, requests, show)


def _differences(a: Result, b: Result) -> tuple[Metrics, Metrics]:
    """B - A of each metric that both have, by seed; and A."""
    first, second = a.metrics, b.metrics
    both = {
        name: {seed: second[name][seed] - value for seed, value in first[name].items() if seed in second[name]}
        for name in first
        if name in second
    }
    return both, first
