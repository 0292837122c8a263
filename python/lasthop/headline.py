"""The dozen numbers that are shown of a result, for each seed, in the units people speak."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .confidence import Estimate
from .losses import is_ap
from .metric import chosen as chosen_names
from .metric import shown
from .quantities import LINK, MEDIUM, NODE, TOTALS, Quantity, quantity_of
from .result import Result


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
    """where that is another than `unit`"""


def headlines(result: Result) -> list[Headline]:
    """The headline numbers of `result`; those that no seed has are left out."""
    metrics = result.metrics
    whole = (
        *(TOTALS.goodput_bps, TOTALS.goodput_up_bps, TOTALS.goodput_down_bps),
        *(TOTALS.jain_index, TOTALS.jain_index_up, TOTALS.jain_index_down),
        MEDIUM.collision_probability,
    )
    found = [
        *(_scaled(quantity, metrics.get(quantity.path)) for quantity in whole),
        _scaled(LINK.retry_fraction, _over_runs(result, _retry_fraction)),
        _summed(result, NODE.queue_drops, "AP queue drops", is_ap),
        _summed(result, NODE.queue_drops, "station queue drops", lambda name: not is_ap(name)),
        _summed(result, NODE.wired_queue_drops, NODE.wired_queue_drops.label, is_ap),
        _summed(result, NODE.frames_dropped_retry_limit, NODE.frames_dropped_retry_limit.label),
        *(_scaled(quantity, metrics.get(quantity.path)) for quantity in (MEDIUM.busy_fraction, MEDIUM.idle_fraction)),
    ]
    return [headline for headline in found if headline.by_seed]


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


def number(value: float, decimals: int) -> str:
    """`value` with so many decimals, and more where it would read as nothing."""
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
        half_width = 0.0  # what rounding left
    return f"{number(estimate.mean, decimals)} ± {number(half_width, decimals)}"


def _scaled(quantity: Quantity, by_seed: dict[int, float] | None, label: str = "") -> Headline:
    """A quantity in the unit that is shown."""
    unit, scale, decimals = quantity.shown
    scaled = {seed: value * scale for seed, value in (by_seed or {}).items()}
    return Headline(label or quantity.label, unit, decimals, scaled)


def _summed(
    result: Result, quantity: Quantity, label: str, wanted: Callable[[str], bool] = lambda _name: True
) -> Headline:
    """A quantity of nodes, the sum over those whose name is wanted."""
    return _scaled(quantity, _over_runs(result, lambda run: _node_sum(run, quantity, wanted)), label)


def _over_runs(result: Result, value: Callable[[dict[str, Any]], float | None]) -> dict[int, float]:
    found = {run["seed"]: value(run) for run in result.runs}
    return {seed: number for seed, number in found.items() if number is not None}


def _node_sum(run: dict[str, Any], key: str, wanted: Callable[[str], bool] = lambda _name: True) -> float | None:
    values = [node.get(key) for node in run["nodes"] if wanted(node["name"])]
    values = [value for value in values if value is not None]
    return sum(values) if values else None


def _retry_fraction(run: dict[str, Any]) -> float | None:
    retried, sent = _node_sum(run, NODE.frames_retried), _node_sum(run, NODE.frames_sent)
    return retried / sent if sent and retried is not None else None
