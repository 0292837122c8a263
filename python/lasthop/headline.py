"""The dozen numbers that are shown of a result, for each seed, in the units people speak."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from .confidence import Estimate
from .losses import is_ap
from .metric import metric_of, shown
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
    ap_drops = _over_runs(result, lambda run: _node_sum(run, "queue_drops", is_ap))
    station_drops = _over_runs(result, lambda run: _node_sum(run, "queue_drops", lambda name: not is_ap(name)))
    wired_drops = _over_runs(result, lambda run: _node_sum(run, "wired_queue_drops", is_ap))
    retried = _over_runs(result, _retry_fraction)
    given_up = _over_runs(result, lambda run: _node_sum(run, "frames_dropped_retry_limit"))
    found = [
        _scaled("goodput", "Mbit/s", 3, metrics.get("totals.goodput_bps"), 1e-6),
        _scaled("goodput, up", "Mbit/s", 3, metrics.get("totals.goodput_up_bps"), 1e-6),
        _scaled("goodput, down", "Mbit/s", 3, metrics.get("totals.goodput_down_bps"), 1e-6),
        _scaled("Jain's index", "", 4, metrics.get("totals.jain_index")),
        _scaled("Jain's index, up", "", 4, metrics.get("totals.jain_index_up")),
        _scaled("Jain's index, down", "", 4, metrics.get("totals.jain_index_down")),
        _scaled("collision probability", "", 4, metrics.get("medium.collision_probability")),
        _scaled("retried attempts", "%", 2, retried, 100),
        _scaled("AP queue drops", "packets", 1, ap_drops),
        _scaled("station queue drops", "packets", 1, station_drops),
        _scaled("wired queue drops", "packets", 1, wired_drops),
        _scaled("given up after the last retry", "packets", 1, given_up),
        _scaled("medium busy", "%", 2, metrics.get("medium.busy_fraction"), 100),
        _scaled("medium idle", "%", 2, metrics.get("medium.idle_fraction"), 100),
    ]
    return [headline for headline in found if headline.by_seed]


def chosen(result: Result, patterns: Iterable[str] = ()) -> list[Headline]:
    """The headline numbers, or all metrics whose dotted name is or matches one of `patterns`, values or not."""
    patterns = list(patterns)
    if not patterns:
        return headlines(result)
    metrics = result.metrics
    names = [name for name in result.metric_names if any(fnmatchcase(name, pattern) for pattern in patterns)]
    return [_named(name, metrics.get(name, {})) for name in names]


def _named(name: str, by_seed: dict[int, float]) -> Headline:
    unit, scale, decimals = shown(name)
    metric = metric_of(name)
    return Headline(name, unit, decimals, by_seed, scale, metric.unit if metric else "")


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


def _scaled(label: str, unit: str, decimals: int, by_seed: dict[int, float] | None, scale: float = 1) -> Headline:
    return Headline(label, unit, decimals, {seed: value * scale for seed, value in (by_seed or {}).items()})


def _over_runs(result: Result, value: Callable[[dict[str, Any]], float | None]) -> dict[int, float]:
    found = {run["seed"]: value(run) for run in result.runs}
    return {seed: number for seed, number in found.items() if number is not None}


def _node_sum(run: dict[str, Any], key: str, wanted: Callable[[str], bool] = lambda _name: True) -> float | None:
    values = [node.get(key) for node in run["nodes"] if wanted(node["name"])]
    values = [value for value in values if value is not None]
    return sum(values) if values else None


def _retry_fraction(run: dict[str, Any]) -> float | None:
    retried, sent = _node_sum(run, "frames_retried"), _node_sum(run, "frames_sent")
    return retried / sent if sent and retried is not None else None
