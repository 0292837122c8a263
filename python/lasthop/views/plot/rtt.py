"""Round-trip time of every flow over time."""

from ...data.quantities import SERIES
from ._over_time import chart_of

SUMMARY = "round-trip time of every flow over time, first seed"
NUMBERS_ALONG = True
OPTIONS = ("flow", "traffic")


def chart(sources, options):
    """Lines of RTT in milliseconds."""
    return chart_of(sources, "rtt", SERIES.rtt_s, "round-trip time of every flow")
