"""Downloads, uploads and ping above one another over time, on one axis of time: Flent's `totals`, and its `all`."""

from __future__ import annotations

from ...data.confidence import estimate
from ...data.quantities import SERIES
from ._chart import Chart
from ._results import BAND, curve, labels, panel_of, results_only, titled

SUMMARY = "download, upload and ping over time, one below the other, a line for each result (--by flow: for each flow)"
NUMBERS_ALONG = True
OPTIONS = ("by", "flow", "traffic")
WITHOUT = ("y_label", "y_min", "y_max", "log_y")
BY = ("result", "flow")
GOODPUT, RTT = SERIES.goodput_bps, SERIES.rtt_s


def chart(sources, options):
    """Sums of goodput and the mean RTT of pings, or each flow's: means over the seeds with their bands."""
    results = results_only(sources, "combined")
    if options.by is not None and options.by not in BY:
        raise ValueError(f"--by {options.by}: combined has a line for each of: {', '.join(BY)}")
    by_flow = options.by == "flow"
    panels = {"download": GOODPUT, "upload": GOODPUT, "ping": RTT}
    curves = [
        line
        for panel, quantity in panels.items()
        for result, label in zip(results, labels(results), strict=True)
        for line in _lines(result, label, panel, quantity, by_flow=by_flow, several=len(results) > 1)
    ]
    if not curves:
        raise LookupError(f"{labels(results)[0]}: has no time series of goodput, nor of the RTT of a ping")
    y_labels = {panel: quantity.axis for panel, quantity in panels.items()}
    title = titled("goodput and ping" if by_flow else "goodput in all and ping", results, called=BAND)
    return Chart("time_series", title, "time (s)", GOODPUT.axis, tuple(curves), y_labels=y_labels)


def _lines(result, label, panel, quantity, *, by_flow, several):
    """The lines of a result in a panel: none where it has no such flow."""
    flows = [flow["id"] for flow in result.runs[0]["flows"] if panel_of(flow) == panel]
    series = result.timeseries
    series = series[(series["metric"] == quantity) & series["entity"].isin(flows) & series["value"].notna()]
    if by_flow:
        parts = [(f"{label}, {flow}" if several else flow, series[series["entity"] == flow]) for flow in flows]
    else:
        parts = [(label, series)]
    return [_line(name, part, panel, quantity.shown.scale) for name, part in parts if not part.empty]


def _line(name, series, panel, scale):
    grouped = series.groupby(["time_s", "seed"])["value"]
    of_seeds = (grouped.mean() if panel == "ping" else grouped.sum()).unstack("seed") * scale
    # A seed without a sample at an instant, such as before the first answer to a ping, does not count there.
    found = [estimate([value for value in row if value == value]) for row in of_seeds.to_numpy().tolist()]
    return curve(name, of_seeds.index.tolist(), found, panel=panel)
