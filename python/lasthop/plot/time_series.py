"""Any metric of timeseries.parquet over time."""

from ._over_time import chart_of
from ._quantity import quantity

SUMMARY = "any time series (--metric) of every flow, node or link that has it, first seed"
OPTIONS = ("metric",)
DEFAULT = "goodput_bps"


def chart(sources, options):
    """Lines of one metric."""
    metric = options.metric or DEFAULT
    return chart_of(sources, "time_series", metric, f"{quantity(metric).label.split(' (')[0]} over time")
