"""The dozen numbers that are shown of a result, for each seed, in the units people speak."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ..data.confidence import Estimate
from ..data.metric import chosen as chosen_names
from ..data.metric import shown
from ..data.quantities import FLOW, LINK, MEDIUM, NODE, TOTALS, Quantity, quantity_of
from ..data.queue_report import is_ap
from ..data.result import Result
from ..data.runs import Run, is_number

OF_AIR = (
    *(TOTALS.goodput_bps, TOTALS.goodput_up_bps, TOTALS.goodput_down_bps),
    *(MEDIUM.busy_fraction, MEDIUM.idle_fraction),
)
"""what each capture of the air may give, and lacks if its packets or durations are unknown"""


PAGE_LOAD = "page load time, mean of all pages"
SENT_AGAIN = "MPDUs sent again"


class Headline(NamedTuple):
    """A number to show: `label (unit)` and its value in each seed."""

    label: str
    unit: str
    decimals: int
    by_seed: dict[int, float]
    """in `stored_unit`"""
    scale: float = 1.0
    """from the stored unit to the one that is shown"""
    stored_unit: str | None = None
    """if it is another than `unit`"""


def headlines(result: Result) -> list[Headline]:
    """The headline numbers of `result`; those that no seed has are left out, unless a capture of the air should have given them."""
    whole = (
        *(TOTALS.goodput_bps, TOTALS.goodput_up_bps, TOTALS.goodput_down_bps),
        *(TOTALS.jain_index, TOTALS.jain_index_up, TOTALS.jain_index_down),
        MEDIUM.collision_probability,
    )
    nodes = {run["seed"]: _Nodes(run) for run in result.told_runs}
    found = [
        *(_of_whole(result, quantity) for quantity in whole),
        _scaled(
            FLOW.page_load_time_mean_s, _known({run["seed"]: _page_load(run) for run in result.told_runs}), PAGE_LOAD
        ),
        _sent_again(result.told_runs) or _retried(nodes),
        _summed(nodes, NODE.queue_drops, "AP queue drops", is_ap),
        _summed(nodes, NODE.queue_drops, "station queue drops", lambda name: not is_ap(name)),
        *_marked(nodes),
        _summed(nodes, NODE.wired_queue_drops, NODE.wired_queue_drops.label, is_ap),
        _summed(nodes, NODE.frames_dropped_retry_limit, NODE.frames_dropped_retry_limit.label),
        *(_of_whole(result, quantity) for quantity in (MEDIUM.busy_fraction, MEDIUM.idle_fraction)),
    ]
    expected = {quantity.label for quantity in OF_AIR} if _is_of_air(result) else set()
    return [headline for headline in found if headline.by_seed or headline.label in expected]


def _is_of_air(result: Result) -> bool:
    """Whether it was read from a capture of the air."""
    return any((run.get("capture") or {}).get("air") for run in result.told_runs)


def chosen(result: Result, patterns: Iterable[str] = ()) -> list[Headline]:
    """The headline numbers, or all metrics whose dotted name is or matches one of `patterns`, values or not."""
    patterns = list(patterns)
    if not patterns:
        return headlines(result)
    metrics = result.metrics
    return [_named(name, metrics.get(name, {})) for name in chosen_names(patterns, result.metric_names)]


def _named(name: str, by_seed: dict[int, float]) -> Headline:
    unit, scale, decimals = shown(name)
    quantity = quantity_of(name)
    return Headline(name, unit, decimals, by_seed, scale, quantity.unit if quantity is not None else "")


def label(name: str, unit: str) -> str:
    """`name (unit)`."""
    return f"{name} ({unit})" if unit else name


def number(value: float, decimals: int) -> str:
    """`value` with so many decimals, and more if it would read as zero."""
    if value != 0 and abs(value) < 0.5 * 10**-decimals:
        return f"{value:.2g}"
    return f"{value:.{decimals}f}"


def mean_and_interval(estimate: Estimate | None, decimals: int) -> str:
    """`mean ± half width`, or the mean alone of one seed."""
    if estimate is None:
        return "-"
    half_width = estimate.half_width
    if half_width is None:
        return number(estimate.mean, decimals)
    if half_width < 1e-12 * abs(estimate.mean):
        half_width = 0.0  # the rest of rounding
    return f"{number(estimate.mean, decimals)} ± {number(half_width, decimals)}"


def _scaled(quantity: Quantity, by_seed: dict[int, float], label: str = "") -> Headline:
    """A quantity in the unit that is shown."""
    unit, scale, decimals = quantity.shown
    scaled = {seed: value * scale for seed, value in by_seed.items()}
    return Headline(label or quantity.label, unit, decimals, scaled)


def _of_whole(result: Result, quantity: Quantity) -> Headline:
    """A quantity of all flows or of the medium."""
    values = {run["seed"]: run[quantity.table].get(quantity) for run in result.told_runs}
    return _scaled(quantity, {seed: value for seed, value in values.items() if is_number(value)})


def _known(values: Mapping[int, float | None]) -> dict[int, float]:
    return {seed: value for seed, value in values.items() if value is not None}


def _sent_again(runs: Iterable[Run]) -> Headline | None:
    """MPDUs without an acknowledgement over MPDUs sent, of all links; None unless some link aggregates.

    An attempt with an A-MPDU is a retry if one of its MPDUs was sent before, so that most attempts of a good link are retries.
    """
    counts = {run["seed"]: _mpdus(run) for run in runs}
    if not any(sent > attempts for attempts, sent, _ in counts.values()):
        return None
    shares = {seed: lost / sent for seed, (_, sent, lost) in counts.items() if sent and lost is not None}
    return _scaled(LINK.mpdu_loss_fraction, shares, SENT_AGAIN)


def _mpdus(run: Run) -> tuple[float, float, float | None]:
    """Attempts of all links, their MPDUs, and those that were not acknowledged, which None stands for if unknown."""
    columns = run.columns("links", [LINK.frames_sent, LINK.mpdus_per_ampdu_mean, LINK.mpdu_loss_fraction])
    rows = [row for row in zip(*columns, strict=True) if row[0]]
    if not all(is_number(value) for row in rows for value in row[:2]):
        return 0, 0, None
    sent = [attempts * mpdus for attempts, mpdus, _ in rows]
    lost = [share * of for (*_, share), of in zip(rows, sent, strict=True) if is_number(share)]
    attempts = sum(row[0] for row in rows)
    return attempts, sum(sent), sum(lost) if len(lost) == len(rows) else None


def _retried(nodes: Mapping[int, _Nodes]) -> Headline:
    """Attempts that were retries over attempts, of all nodes."""
    return _scaled(LINK.retry_fraction, _known({seed: each.retry_fraction() for seed, each in nodes.items()}))


def _page_load(run: Run) -> float | None:
    """The mean load time of the pages of all flows; None without one."""
    pages, means = run.columns("flows", [FLOW.pages, FLOW.page_load_time_mean_s])
    loaded = [(n, mean) for n, mean in zip(pages, means, strict=True) if is_number(n) and is_number(mean)]
    return sum(n * mean for n, mean in loaded) / sum(n for n, _ in loaded) if loaded else None


class _Nodes:
    """Counts over the nodes of a run."""

    COUNTED = (
        *(NODE.queue_drops, NODE.queue_marks, NODE.wired_queue_drops, NODE.frames_dropped_retry_limit),
        *(NODE.frames_retried, NODE.frames_sent),
    )

    def __init__(self, run: Run) -> None:
        self._names, *counts = run.columns("nodes", ["name", *self.COUNTED])
        self._counts = dict(zip(self.COUNTED, counts, strict=True))

    def sum(self, key: str, wanted: Callable[[str], bool] | None = None) -> float | None:
        """The sum of a count over the nodes whose name is wanted; None if no such node has it."""
        named = zip(self._names, self._counts[key], strict=True)
        values = [value for name, value in named if is_number(value) and (wanted is None or wanted(name))]
        return sum(values) if values else None

    def retry_fraction(self) -> float | None:
        """The share of sent frames that were retries."""
        retried, sent = self.sum(NODE.frames_retried), self.sum(NODE.frames_sent)
        return retried / sent if sent and retried is not None else None


def _marked(nodes: Mapping[int, _Nodes]) -> list[Headline]:
    """The marks of queues for ECN, of the access points and of the stations if any were."""
    places = {"AP": is_ap, "station": lambda name: not is_ap(name)}
    rows = [_summed(nodes, NODE.queue_marks, f"{place} queue marks", wanted) for place, wanted in places.items()]
    return [row for row in rows if any(row.by_seed.values())]


def _summed(
    nodes: Mapping[int, _Nodes], quantity: Quantity, label: str, wanted: Callable[[str], bool] | None = None
) -> Headline:
    """A quantity of nodes, the sum over those whose name is wanted."""
    return _scaled(quantity, _known({seed: each.sum(quantity, wanted) for seed, each in nodes.items()}), label)
