"""Any metric of timeseries.parquet over time."""

from ..metric import unknown
from ._over_time import chart_of
from ._quantity import quantity
from ._results import results_only

SUMMARY = "any time series (--metric) of every flow, node or link that has it, first seed"
OPTIONS = ("metric",)
DEFAULT = "goodput_bps"


def chart(sources, options):
    """Lines of one metric."""
    metric = options.metric or DEFAULT
    for result in results_only(sources, "time_series"):
        known = sorted(map(str, result.timeseries["metric"].unique()))
        if metric not in known:
            raise LookupError(f"--metric {unknown(metric, known, f'{result.name} has: ' + ', '.join(known))}")
    return chart_of(sources, "time_series", metric, f"{quantity(metric).label.split(' (')[0]} over time")
