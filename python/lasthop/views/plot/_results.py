"""Shared parts of plots of results: a name for each result, means over its seeds, its seeds in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from ...data.confidence import Estimate, estimate
from ...data.quantities import FLOW
from ._chart import Curve

if TYPE_CHECKING:
    from ...data.result import Result


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


def titled(what: str, results: Sequence[Result], *, spread: bool = True, called: str = "") -> str:
    """`what` is shown of which result, if it is one, and over how many seeds; `called` is the interval."""
    name = f"{results[0].name}: " if len(results) == 1 else ""
    return sentence(
        f"{name}{what}, {over_seeds([result.seeds for result in results], spread=spread, called=called or INTERVAL)}"
    )


def of_first_seeds(what: str, results: Sequence[Result], seeds: set[int]) -> str:
    """`what` is shown of which result, if it is one, and of which seeds, the first of each."""
    name = f"{results[0].name}: " if len(results) == 1 else ""
    return sentence(f"{name}{what}" + (f", seed {min(seeds)}" if len(seeds) == 1 else ", the first seed of each"))


INTERVAL = "95\N{NO-BREAK SPACE}%\N{NO-BREAK SPACE}interval"
BAND = "pointwise 95\N{NO-BREAK SPACE}%\N{NO-BREAK SPACE}band"


def over_seeds(seeds: Sequence[Sequence[int]], *, spread: bool = True, called: str = INTERVAL) -> str:
    """Which seeds a mean covers, in words; `seeds` has those of each result, `called` is its interval."""
    counts = {len(each) for each in seeds}
    if counts == {1}:
        return f"seed {seeds[0][0]}" if len({each[0] for each in seeds}) == 1 else "one seed each"
    of = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    # A title is broken elsewhere.
    return f"mean of {of} seeds".replace(" ", "\N{NO-BREAK SPACE}") + (f", {called}" if spread else "")


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


def without_bar(results: Sequence[Result]) -> str:
    """Says of flows that deliver nothing by their nature that they have no bar of goodput, for a title."""
    flows = [flow for result in results for run in result.runs for flow in run["flows"]]
    kinds = dict.fromkeys(traffic_of(flow) for flow in flows if flow.get(FLOW.goodput_bps) is None)
    return f"; {' and '.join(kinds)} delivers nothing and has no bar" if kinds else ""


def traffic_of(flow: Mapping[str, Any]) -> str:
    """The kind of a flow's traffic; where it is not known, as of a capture, its transport."""
    return flow["traffic"] or flow["transport"]


def panel_of(flow: Mapping[str, Any]) -> str:
    """Where a flow stands in Flent's panels: what answers pings, else which way it goes."""
    if flow["traffic"] == "ping":
        return "ping"
    return "upload" if flow["direction"] == "up" else "download"
