"""Congestion window of every flow over time."""

from ...data.quantities import SERIES
from ._over_time import chart_of

SUMMARY = "congestion window of every flow over time, first seed"
NUMBERS_ALONG = True
OPTIONS = ("flow", "traffic")


def chart(sources, options):
    """Lines of cwnd in segments."""
    return chart_of(sources, "cwnd", SERIES.cwnd_segments, "congestion window of every flow")
