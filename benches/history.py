"""The last run of `lasthop self bench` on this machine, kept in `$XDG_CACHE_HOME/lasthop`, and ratios of CPU times with their intervals.

A ratio is that of geometric means over the rounds, its interval Student's at 95 % of the logarithms: round by round between simulators,
which take turns; of independent means between two runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from math import exp, log
from pathlib import Path
from typing import Any, NamedTuple

from lasthop.data.confidence import Difference, difference
from lasthop.data.files import write_whole
from lasthop.kernel.emulation.cache import cache_folder

FORMAT = 1
#: costs by case and simulator, one a round
Costs = Mapping[str, Mapping[str, Sequence[float]]]


class Ratio(NamedTuple):
    """A ratio of two costs with the ends of its interval, which a single round does not have."""

    value: float
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.value:.3g}"
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"


class Change(NamedTuple):
    """The cost of a case over its cost in the last run; `verdict` in the light of all changes together."""

    case: str
    simulator: str
    ratio: Ratio
    verdict: str


def ratio_of(a: Sequence[float], b: Sequence[float]) -> Ratio | None:
    """Cost b over cost a, measured in turns, if both have a round that took time."""
    found = difference(_logarithms(a), _logarithms(b))
    return found and _ratio(found)


def changes(now: Costs, before: Costs) -> list[Change]:
    """The changes of all that both runs measured."""
    pairs = [
        (case, simulator, _since(before[case][simulator], rounds))
        for case, simulators in now.items()
        for simulator, rounds in simulators.items()
        if simulator in before.get(case, {})
    ]
    told = [(case, simulator, found) for case, simulator, found in pairs if found is not None]
    return [Change(case, simulator, _ratio(found), _verdict(found, len(told))) for case, simulator, found in told]


def _since(before: Sequence[float], now: Sequence[float]) -> Difference | None:
    # Rounds of different runs are not pairs: their numbers differ.
    apart = {-1 - number: value for number, value in _logarithms(now).items()}
    return difference(_logarithms(before), apart)


def _logarithms(costs: Sequence[float]) -> dict[int, float]:
    """By round; a cost below the resolution of the kernel's clock has none."""
    return {number: log(cost) for number, cost in enumerate(costs) if cost > 0}


def _ratio(found: Difference) -> Ratio:
    mean, low, high, _ = found.estimate
    return Ratio(exp(mean), None if low is None else exp(low), None if high is None else exp(high))


def _verdict(found: Difference, among: int) -> str:
    if found.estimate.half_width is None:
        return "one round has no spread"
    if not found.is_told(among):
        return "no change shown"
    return "slower" if found.estimate.mean > 0 else "faster"


def file() -> Path:
    """The file of the last run on a machine of this processor and as many cores."""
    told = f"{platform.machine()} {_processor()} {os.cpu_count()}"
    return cache_folder() / f"bench-{hashlib.sha256(told.encode()).hexdigest()[:16]}.json"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def last() -> dict[str, Any] | None:
    """The last run: `at`, `engine` and `costs`, if one can be read."""
    try:
        found = json.loads(file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("format") == FORMAT else None


def keep(costs: Costs, engine: str) -> None:
    """Makes this the last run."""
    file().parent.mkdir(parents=True, exist_ok=True)
    at = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    write_whole(file(), [json.dumps({"format": FORMAT, "at": at, "engine": engine, "costs": costs})])
