"""Downloads, uploads and latencies over time, one panel above the other: Flent's `totals`, and its `all`."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from ...data.arguments import Argument, ArgumentError
from ...data.confidence import estimate
from ...data.quantities import SERIES, Quantity
from ._chart import Chart, Curve
from ._left_out import not_shown
from ._results import (
    BAND,
    OF_LATENCY,
    PING,
    QUIC,
    VIDEO,
    curve,
    in_panels,
    labels,
    latency_panel_of,
    panel_of,
    results_only,
    titled,
)

if TYPE_CHECKING:
    from ...data.result import Result
    from ...data.series import TimeSeries
    from ._options import Options

SUMMARY = (
    "download, upload and the RTT of ping, video and QUIC over time, a line for each result (--by flow: for each flow)"
)
NUMBERS_ALONG = True
OPTIONS = ("by", "flow", "traffic")
WITHOUT = ("y_label", "y_min", "y_max", "log_y")
BY = ("result", "flow")
GOODPUT, RTT = SERIES.goodput_bps, SERIES.rtt_s


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """Sums of goodput and mean RTTs, or each flow's: means over the seeds with their bands."""
    results = results_only(sources, "combined")
    if options.by is not None and options.by not in BY:
        raise ArgumentError(Argument("by"), f" {options.by}: must be one of: {', '.join(BY)}")
    by_flow = options.by == "flow"
    panels = {"download": GOODPUT, "upload": GOODPUT, PING: RTT, VIDEO: RTT, QUIC: RTT}
    curves = [
        line
        for panel, quantity in panels.items()
        for result, label in zip(results, labels(results), strict=True)
        for line in _lines(result, label, panel, quantity, by_flow=by_flow, several=len(results) > 1)
    ]
    if not curves:
        raise LookupError(f"{labels(results)[0]}: has no time series of goodput, nor of the RTT of a ping")
    y_labels = {panel: quantity.axis for panel, quantity in panels.items()}
    drawn = in_panels([panel for panel in panels if any(curve.panel == panel for curve in curves)])
    title = titled(drawn.replace("all ", "each ") if by_flow else drawn, results, called=BAND)
    reason = "delays have no time series; the plots box and latency_cdf show them"
    remarks = tuple(
        line.replace("Not shown:", "Latency not shown:")
        for line in not_shown(results, lambda flow: flow["traffic"] != "voip", reason)
    )
    return Chart("time_series", title, "time (s)", GOODPUT.axis, tuple(curves), y_labels=y_labels, remarks=remarks)


def _lines(result: Result, label: str, panel: str, quantity: Quantity, *, by_flow: bool, several: bool) -> list[Curve]:
    """The lines of a result in a panel; none if the result has no such flow."""
    place = latency_panel_of if panel in OF_LATENCY else panel_of
    flows = [flow["id"] for flow in result.runs[0]["flows"] if place(flow) == panel]
    series = result.series.of_metric(quantity).of_entities(flows).known()
    if by_flow:
        parts = [(f"{label}, {flow}" if several else flow, series.of_entities([flow])) for flow in flows]
    else:
        parts = [(label, series)]
    return [_line(name, part, panel, quantity.shown.scale) for name, part in parts if len(part)]


def _line(name: str, series: TimeSeries, panel: str, scale: float) -> Curve:
    times, of_seeds = series.means() if panel in OF_LATENCY else series.sums()
    # A seed without a sample at an instant, such as before the first answer to a ping, does not count there.
    estimates = [estimate([value for value in row if not isnan(value)]) for row in (of_seeds * scale).tolist()]
    return curve(name, times, estimates, panel=panel)
