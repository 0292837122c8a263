"""Drops of queues as shares of their arrivals: at stations, access points and wires, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...data.grouping import named
from ...data.queue_report import DROPPED_SHARE, QueueLoss
from .words import percent


def drop_sentences(losses: Sequence[QueueLoss]) -> Iterator[tuple[QueueLoss, str]]:
    """For each place the queue that dropped the largest share, and the number of others; none below 1 %."""
    for place in ("AP", "station", "wired link"):
        at_place = [loss for loss in losses if loss.place == place]
        lossy = sorted((loss for loss in at_place if loss.share > DROPPED_SHARE), key=lambda loss: -loss.share)
        if lossy:
            yield lossy[0], _sentence(lossy, len(at_place))


def _sentence(lossy: Sequence[QueueLoss], of: int) -> str:
    worst = lossy[0]
    acks = f", {worst.tcp_acks} of them TCP ACKs" if worst.tcp_acks else ""
    what = f"{percent(worst.share)} of its packets ({worst.dropped} of {worst.packets}{acks})"
    where = f"The {worst.name}" if worst.place == "wired link" else f"The queue of {worst.name}"
    others = f"; {named('station', [loss.name for loss in lossy], of)} lost more than 1 %" if len(lossy) > 1 else ""
    if worst.place != "station":
        others = ""
    return f"{where} ({worst.discipline}) dropped {what}{others}."
