"""Goodput of every flow: the mean over the seeds and its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...data.quantities import FLOW
from ._chart import Chart, Curve
from ._left_out import without_goodput
from ._results import curve, labels, mean_of, results_only, titled

if TYPE_CHECKING:
    from ...data.result import Result
    from ._options import Options

SUMMARY = "goodput of every flow, mean over seeds with its 95 % interval"
OPTIONS = ("flow", "traffic")
GOODPUT = FLOW.goodput_bps


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """A bar for each flow; the bars of several results are side by side."""
    results = results_only(sources, "goodput")
    curves = tuple(_curve(result, label) for result, label in zip(results, labels(results), strict=True))
    return Chart(
        "bars", titled("goodput by flow", results), "flow", GOODPUT.axis, curves, remarks=without_goodput(results)
    )


def _curve(result: Result, label: str) -> Curve:
    goodputs: dict[str, list[float | None]] = {}
    for flow in (flow for run in result.runs for flow in run["flows"]):
        goodputs.setdefault(flow["id"], []).append(flow.get(GOODPUT))
    goodputs = {flow: by_seed for flow, by_seed in goodputs.items() if any(value is not None for value in by_seed)}
    return curve(label, goodputs, (mean_of(by_seed, GOODPUT.shown.scale) for by_seed in goodputs.values()))
