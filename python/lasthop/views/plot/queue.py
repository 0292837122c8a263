"""Queue length of every node over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...data.quantities import SERIES
from ._chart import Chart
from ._over_time import chart_of

if TYPE_CHECKING:
    from ._options import Options

SUMMARY = "queue length of every node over time, first seed"
NUMBERS_ALONG = True
OPTIONS = ("node",)


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """Lines of the queue in packets."""
    return chart_of(sources, "queue", SERIES.queue_packets, "queue of every node that used it", is_of_flows=False)
