"""Congestion window of every flow over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...data.quantities import SERIES
from ._chart import Chart
from ._over_time import chart_of

if TYPE_CHECKING:
    from ._options import Options

SUMMARY = "congestion window of every flow over time, first seed"
NUMBERS_ALONG = True
OPTIONS = ("flow", "traffic")


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """Lines of cwnd in segments."""
    return chart_of(
        sources, "cwnd", SERIES.cwnd_segments, "congestion window of every flow over TCP or QUIC", "congestion window"
    )
