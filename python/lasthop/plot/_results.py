"""What plots of results have in common: a name for each result, means over its seeds, its seeds in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from ..confidence import Estimate, estimate
from ._chart import Curve

if TYPE_CHECKING:
    from ..result import Result


def labels(results: Sequence[Result]) -> list[str]:
    """A name for each result, told apart by where it was read from, else by number."""
    names = [result.name for result in results]
    if len(set(names)) < len(names):
        names = [_place(result) for result in results]
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, start=1)]
    return names


def _place(result: Result) -> str:
    if result.source is None:
        return result.name
    return result.source.parent.name if result.source.name == "result.json" else result.source.stem


def results_only(sources: Sequence[Any], kind: str) -> list[Result]:
    """The sources if all are results; raises `LookupError` for a sweep, which has no flows."""
    from ._stored_runs import StoredRuns
    from ._sweep_table import SweepTable

    for source in sources:
        if isinstance(source, SweepTable | StoredRuns):
            raise LookupError(
                f"{source.name}: is a sweep; {kind} needs a result of `lasthop run --out DIR` (of a sweep: heat_map, sweep)"
            )
    return list(sources)


def titled(what: str, results: Sequence[Result], *, spread: bool = True) -> str:
    """`what` is shown of which result, if it is one, and over how many seeds."""
    counts = {len(result.runs) for result in results}
    name = f"{results[0].name}: " if len(results) == 1 else ""
    return sentence(f"{name}{what}, {over_seeds(min(counts), spread=spread and len(counts) == 1)}")


def over_seeds(count: int, *, spread: bool = True) -> str:
    """How many seeds a mean covers, in words."""
    if count == 1:
        return "one seed"
    return f"mean of {count} seeds" + (", 95\N{NO-BREAK SPACE}% interval" if spread else "")


def sentence(text: str) -> str:
    """With a capital at its beginning, unless a name stands there."""
    return text if ": " in text else text[:1].upper() + text[1:]


def curve(label: str, x: Iterable[Any], found: Iterable[Estimate | None], panel: str = "") -> Curve:
    """A curve of estimates; None is a number that does not exist."""
    found = list(found)
    mean = [nan if one is None else one.mean for one in found]
    if all(one is None or one.ci95_low is None for one in found):
        return Curve(label, tuple(x), mean, panel=panel)
    low = [nan if one is None or one.ci95_low is None else one.ci95_low for one in found]
    high = [nan if one is None or one.ci95_high is None else one.ci95_high for one in found]
    return Curve(label, tuple(x), mean, low, high, panel=panel)


def mean_of(by_seed: Iterable[float | None], scale: float = 1.0) -> Estimate | None:
    """The estimate of one number for each seed, in another unit; None of none."""
    return estimate([value * scale for value in by_seed if value is not None])
