"""Tests whether the warm-up was long enough, from all runs of one scenario.

A single run has its MSER-5 (`totals.unsettled_s`, docs/model/metrics.md), which steady noise misleads at times. An effect
at the same time with every seed is not noise: from three runs on, the goodput without the first 1, 2, 4, 8 or 16 parts of
32 is compared with that of the whole window, seed by seed, by Student's t. With fewer, all must have found a transient
alone, and the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, fsum
from typing import Any, NamedTuple

from ..data.confidence import estimate, t_bound
from ..data.plain_number import plain
from ..data.quantities import TOTALS
from ..data.runs import Run

PARTS = 32
LEFT_OUT = (1, 2, 4, 8, 16)
FEWEST = 3
# Confidence of each comparison; for all five, of which neighbours share most of their data, about 98 % on steady runs.
CONFIDENCE = 0.995
LEAST_EFFECT = 0.01
# Settings of BBR and BBRv3 for the interval of their probes.
PROBE_PERIODS = ("min_rtt_window", "probe_rtt_interval")
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


class Transient(NamedTuple):
    """How long the start of the window differs, and by how much goodput changes without it."""

    lasts_s: float
    change: float


def warmup_warning(scenario: Mapping[str, Any], runs: Iterable[Run | Mapping[str, Any]]) -> str | None:
    """A sentence if `warmup` of the resolved `scenario` is plainly too short; None for transfers that end."""
    if any("size" in flow for flow in scenario["flow"]):
        return None
    warmup_s = seconds(scenario["warmup"])
    totals = [total for total in (run["totals"] for run in runs) if total.get(TOTALS.goodput_parts_bps)]
    parts = [total[TOTALS.goodput_parts_bps] for total in totals]
    unsettled = [total[TOTALS.unsettled_s] or 0.0 for total in totals]
    found = transient(parts, unsettled, seconds(scenario["duration"]) - warmup_s)
    if found is None:
        return None
    way, than = ("rose", "higher") if found.change > 0 else ("fell", "lower")
    longer_s = ceil(found.lasts_s)
    period = _probe_period(scenario)
    periodic = (
        f", or have them span several of BBR's probes, one each {period}, whose dips look the same" if period else ""
    )
    return (
        f"warmup: {scenario['warmup']} is too short: goodput {way} for up to {plain(found.lasts_s, 2)} s after it, and is "
        f"{plain(100 * abs(found.change), 2)} % {than} without them; make warmup and duration {longer_s} s longer or more{periodic}"
    )


def _probe_period(scenario: Mapping[str, Any]) -> str | None:
    """How often flows of BBR leave the path idle to find its least RTT; at the same times, if they begin together."""
    controls = (part.get("congestion_control") for part in (scenario.get("tcp", {}), *scenario["flow"]))
    probing = (control[key] for control in controls if control for key in PROBE_PERIODS if key in control)
    return next(probing, None)


def transient(parts: Sequence[Sequence[float]], unsettled_s: Sequence[float], window_s: float) -> Transient | None:
    """Returns the common transient of the runs at the start of their windows of `window_s`.

    `parts`: for each run its goodput in 32 equal parts; `unsettled_s`: for each run its own MSER-5.
    """
    if not parts or fsum(map(fsum, parts)) == 0:
        return None
    mean = [fsum(column) / len(parts) for column in zip(*parts, strict=True)]
    if _differs(parts, fsum(mean) / PARTS):
        left_out = _truncation(mean)
        return Transient(left_out * window_s / PARTS, _change(mean, left_out))
    if min(unsettled_s) == 0:
        return None
    from statistics import median

    lasts_s = median(unsettled_s)
    left_out = min(max(1, round(lasts_s / window_s * PARTS)), PARTS // 2)
    changes = [_change(run, left_out) for run in parts]
    same_way = min(changes) > 0 or max(changes) < 0
    return Transient(lasts_s, _change(mean, left_out)) if same_way else None


def _differs(parts: Sequence[Sequence[float]], goodput: float) -> bool:
    """Whether goodput without some of the first parts differs from the whole with every seed."""
    if len(parts) < FEWEST:
        return False
    for left_out in LEFT_OUT:
        found = estimate([fsum(run[left_out:]) / (PARTS - left_out) - fsum(run) / PARTS for run in parts])
        assert found is not None and found.half_width is not None  # there are several runs, each with goodput
        # As wide as its own confidence requires, instead of 95 %.
        half_width = found.half_width / t_bound(found.n - 1, 0.95) * t_bound(found.n - 1, CONFIDENCE)
        if abs(found.mean) > max(half_width, LEAST_EFFECT * goodput):
            return True
    return False


def _change(parts: Sequence[float], left_out: int) -> float:
    """By what share goodput changes without the first parts."""
    return fsum(parts[left_out:]) / (PARTS - left_out) / (fsum(parts) / PARTS) - 1


def _truncation(parts: Sequence[float]) -> int:
    """Where MSER cuts the mean over the seeds; at least one part, at most three quarters."""

    def squared_error(left_out: int) -> float:
        rest = parts[left_out:]
        mean = fsum(rest) / len(rest)
        return fsum((part - mean) ** 2 for part in rest) / len(rest) ** 2

    return min(range(1, PARTS * 3 // 4 + 1), key=squared_error)


def seconds(length: str) -> float:
    """A length of time as resolved scenarios have it, such as `500 ms`, in seconds."""
    number, unit = length.split()
    return float(number) * SECONDS[unit]
