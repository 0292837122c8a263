"""Round-trip time of every flow over time."""

from ._lines import draw_lines

SUMMARY = "round-trip time of every flow over time, first seed"


def draw(results, figure):
    """Lines of RTT in milliseconds."""
    draw_lines(results, figure, "rtt_s", "RTT (ms)", scale=1e3)
