"""Queue length of every node over time."""

from ...data.quantities import SERIES
from ._over_time import chart_of

SUMMARY = "queue length of every node over time, first seed"
NUMBERS_ALONG = True
OPTIONS = ("node",)


def chart(sources, options):
    """Lines of the queue in packets."""
    return chart_of(sources, "queue", SERIES.queue_packets, "queue of every node")
