"""Queue length of every node over time."""

from ._over_time import chart_of

SUMMARY = "queue length of every node over time, first seed"
OPTIONS = ("node",)


def chart(sources, options):
    """Lines of the queue in packets."""
    return chart_of(sources, "queue", "queue_packets", "queue of every node")
