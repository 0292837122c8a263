"""Shared parts of plots of results: a name for each result, means over its seeds, its seeds in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from ...data.confidence import Estimate, estimate
from ._chart import Curve
from ._stored_runs import StoredRuns
from ._sweep_table import SweepTable

if TYPE_CHECKING:
    from ...data.result import Result


def labels(results: Sequence[Result]) -> list[str]:
    """A name for each result, made unique by its file's name, else by a number."""
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
    sweeps = [source.name for source in sources if isinstance(source, SweepTable | StoredRuns)]
    if sweeps:
        raise LookupError(
            f"{sweeps[0]}: is a sweep; {kind} needs a result of `lasthop run --out DIR` (of a sweep: heat_map, sweep)"
        )
    return list(sources)


def titled(what: str, results: Sequence[Result], *, spread: bool = True, called: str = "") -> str:
    """A title: `what`, the name of a single result, and the number of seeds; `called` is the interval."""
    name = f"{results[0].name}: " if len(results) == 1 else ""
    return sentence(
        f"{name}{what}, {over_seeds([result.seeds for result in results], spread=spread, called=called or INTERVAL)}"
    )


def of_first_seeds(what: str, results: Sequence[Result], seeds: set[int]) -> str:
    """A title: `what`, the name of a single result, and its first seed."""
    name = f"{results[0].name}: " if len(results) == 1 else ""
    return sentence(f"{name}{what}" + (f", seed {min(seeds)}" if len(seeds) == 1 else ", the first seed of each"))


INTERVAL = "95\N{NO-BREAK SPACE}%\N{NO-BREAK SPACE}interval"
BAND = "pointwise 95\N{NO-BREAK SPACE}%\N{NO-BREAK SPACE}band"


def over_seeds(seeds: Sequence[Sequence[int]], *, spread: bool = True, called: str = INTERVAL) -> str:
    """The seeds of a mean, in words; `seeds` has one list for each result, `called` is its interval."""
    counts = {len(each) for each in seeds}
    if counts == {1}:
        return f"seed {seeds[0][0]}" if len({each[0] for each in seeds}) == 1 else "one seed each"
    of = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    # A title breaks at other spaces.
    return f"mean of {of} seeds".replace(" ", "\N{NO-BREAK SPACE}") + (f", {called}" if spread else "")


def sentence(text: str) -> str:
    """The text with a capital first letter, unless a name begins it."""
    return text if ": " in text else text[:1].upper() + text[1:]


def curve(label: str, x: Iterable[Any], estimates: Iterable[Estimate | None], panel: str = "") -> Curve:
    """A curve of estimates; None is a missing number."""
    estimates = list(estimates)
    mean = [nan if one is None else one.mean for one in estimates]
    if all(one is None or one.ci95_low is None for one in estimates):
        return Curve(label, tuple(x), mean, panel=panel)
    low = [nan if one is None or one.ci95_low is None else one.ci95_low for one in estimates]
    high = [nan if one is None or one.ci95_high is None else one.ci95_high for one in estimates]
    return Curve(label, tuple(x), mean, low, high, panel=panel)


def mean_of(by_seed: Iterable[float | None], scale: float = 1.0) -> Estimate | None:
    """The estimate of one number for each seed, scaled; None without a number."""
    return estimate([value * scale for value in by_seed if value is not None])


def traffic_of(flow: Mapping[str, Any]) -> str:
    """The kind of a flow's traffic; if it is unknown, as in a capture, its transport."""
    return str(flow["traffic"] or flow["transport"])


PING, CALLS, VIDEO, QUIC = "ping", "calls", "video", "QUIC"
# Panels of latency, below the panels of goodput.
OF_LATENCY = (PING, CALLS, VIDEO, QUIC)


def panel_of(flow: Mapping[str, Any]) -> str:
    """A flow's panel in a plot like Flent's: ping, else its direction."""
    if flow["traffic"] == "ping":
        return PING
    return "upload" if flow["direction"] == "up" else "download"


def latency_panel_of(flow: Mapping[str, Any]) -> str | None:
    """A flow's panel of latency; applications that people wait for have one, and QUIC."""
    panel = {"ping": PING, "voip": CALLS, "video": VIDEO}.get(flow["traffic"])
    return panel or (QUIC if flow["transport"] == "quic" else None)


def in_panels(panels: Sequence[str]) -> str:
    """The panels in words, for a title: `download, upload, and latency of ping and calls`."""
    goodput = [panel for panel in panels if panel not in OF_LATENCY]
    latency = [panel for panel in panels if panel in OF_LATENCY]
    parts = [f"goodput of {_listed([f'all {panel}s' for panel in goodput])}"] if goodput else []
    return ", ".join([*parts, *([f"latency of {_listed(latency)}"] if latency else [])])


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
