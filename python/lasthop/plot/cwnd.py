"""Congestion window of every flow over time."""

from ._lines import draw_lines

SUMMARY = "congestion window of every flow over time, first seed"


def draw(results, figure):
    """Lines of cwnd in segments."""
    draw_lines(results, figure, "cwnd_segments", "cwnd (segments)")
