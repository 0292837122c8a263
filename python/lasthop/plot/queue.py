"""Queue length of every node over time."""

from ._lines import draw_lines

SUMMARY = "queue length of every node over time, first seed"


def draw(results, figure):
    """Lines of the queue in packets."""
    draw_lines(results, figure, "queue_packets", "queue (packets)")
