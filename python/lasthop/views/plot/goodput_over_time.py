"""Aggregate goodput second by second: the mean over the seeds and its 95 % band, as in Fig. 1 of [khademi2011]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...data.confidence import estimate
from ...data.quantities import SERIES
from ._chart import Chart, Curve
from ._chosen import is_part
from ._left_out import without_goodput
from ._results import BAND, curve, labels, results_only, titled

if TYPE_CHECKING:
    from ...data.result import Result
    from ._options import Options

SUMMARY = "aggregate goodput over time, mean over seeds with its pointwise 95 % band"
NUMBERS_ALONG = True
OPTIONS = ("flow", "traffic")
GOODPUT = SERIES.goodput_bps


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """One line and band for each result, in Mbit/s."""
    results = results_only(sources, "goodput_over_time")
    curves = tuple(_curve(result, label) for result, label in zip(results, labels(results), strict=True))
    whose = "these flows together" if any(map(is_part, results)) else "all flows"
    title = titled(f"goodput of {whose}", results, called=BAND)
    return Chart("time_series", title, "time (s)", GOODPUT.axis, curves, remarks=without_goodput(results))


def _curve(result: Result, label: str) -> Curve:
    series = result.series.of_metric(GOODPUT)
    if not len(series.known()):
        raise LookupError(f"{label}: has no time series of goodput of these flows; ping delivers nothing")
    times, totals = series.sums()
    return curve(label, times, map(estimate, (totals * GOODPUT.shown.scale).tolist()))
