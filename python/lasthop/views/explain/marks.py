"""Marks of L4S packets, and the part of them that came from bursts of service, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...data.quantities import QUEUE
from ...data.runs import Run
from .words import percent

# Fewer marks than these in all runs together are no basis for a share.
LEAST_MARKS = 20


class QueueMarks(NamedTuple):
    """The marks of L4S packets of a node's queue, over all runs."""

    name: str
    """the node's"""
    marks: int
    of_bursts: int
    """of packets that left with the first burst of service after they came"""


def queue_marks(runs: Iterable[Run]) -> list[QueueMarks]:
    """The queues that treat L4S packets unlike others and have marked any; empty without such queues."""
    found: dict[str, QueueMarks] = {}
    keys = ("name", QUEUE.queue_marks_l4s, QUEUE.queue_marks_of_bursts)
    for run in runs:
        for name, marks, of_bursts in zip(*run.columns("queues", keys), strict=True):
            if marks:
                before = found.get(name, QueueMarks(name, 0, 0))
                found[name] = QueueMarks(name, before.marks + marks, before.of_bursts + of_bursts)
    return sorted(found.values(), key=lambda queue: -queue.marks)


def mark_sentences(queues: Iterable[QueueMarks]) -> Iterator[str]:
    """A sentence for each queue with enough marks."""
    for queue in queues:
        if queue.marks >= LEAST_MARKS:
            share = percent(queue.of_bursts / queue.marks)
            yield (
                f"The queue of {queue.name} marked {queue.marks} L4S packets, {share} of them because of bursts of service: they left "
                "with the first A-MPDU after they came, and no packet stood before them."
            )
