"""Whether the warm-up was long enough, from what the runs of one scenario say together.

Each run says for how long its goodput had not settled (`totals.unsettled_s`, docs/model/metrics.md). One run may be
wrong, and steady noise goes either way; a transient goes the same way with every seed. So there is a warning where more
than half of the runs say the same: goodput still rose, or still fell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil
from statistics import median
from typing import Any


def warmup_warning(scenario: Mapping[str, Any], runs: Iterable[Mapping[str, Any]]) -> str | None:
    """A sentence where `warmup` of the resolved `scenario` is plainly too short; None for transfers that end."""
    if any("size" in flow for flow in scenario["flow"]):
        return None
    totals = [run["totals"] for run in runs if run["totals"].get("unsettled_s") is not None]
    rose = [total for total in totals if total["unsettled_s"] and total["goodput_settled_bps"] > total["goodput_bps"]]
    fell = [total for total in totals if total["unsettled_s"] and total["goodput_settled_bps"] < total["goodput_bps"]]
    found = max(rose, fell, key=len)
    if 2 * len(found) <= len(totals):
        return None
    later_s = median(total["unsettled_s"] for total in found)
    changed = median(abs(total["goodput_settled_bps"] / total["goodput_bps"] - 1) for total in found)
    return (
        f"warmup: {scenario['warmup']} is too short: in {len(found)} of {len(totals)} runs goodput still "
        f"{'rose' if found is rose else 'fell'} plainly for about {later_s:.3g} s after it, without which it is "
        f"{100 * changed:.2g} % {'higher' if found is rose else 'lower'}; make warmup and duration {ceil(later_s)} s longer"
    )
