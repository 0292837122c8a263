"""What a queue discipline in Python extends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._core import Packet, QueueContext, Wanted


class QueueDiscipline:
    """A queue: `queue = { kind = "python", file = "mine.py", class = "Mine", limit = 50 }`.

    As it stands it is a FIFO without limit. The packets that wait are in `waiting`, the oldest first; a class may keep them
    elsewhere. A packet goes out once, by `dequeue`, or is dropped once, by `drop`.
    """

    def __new__(cls, _context: QueueContext, *_: object, **__: object) -> QueueDiscipline:
        """With nothing in it, whatever `__init__` does."""
        queue = super().__new__(cls)
        queue.waiting = []
        queue._dropped = []
        return queue

    def __init__(self, context: QueueContext) -> None:
        """`context.random()` draws numbers that are the same under the same seed."""

    waiting: list[Packet]
    _dropped: list[tuple[Packet, bool]]

    def enqueue(self, packet: Packet, now_s: float) -> None:
        """Takes a packet in, or drops it or another."""
        self.waiting.append(packet)

    def dequeue(self, wanted: Wanted, now_s: float) -> Packet | None:
        """The next packet to send of those that `wanted` includes, which an A-MPDU needs; None where there is none."""
        return self.pop(wanted)

    def has_room(self, size_bytes: int) -> bool:
        """Whether a packet of so many bytes would be taken in, unless a law drops it early."""
        return True

    def pop(self, wanted: Wanted) -> Packet | None:
        """Takes the oldest packet of those that `wanted` includes out of `waiting`."""
        if wanted.any:
            return self.waiting.pop(0) if self.waiting else None
        for place, packet in enumerate(self.waiting):
            if wanted.includes(packet):
                return self.waiting.pop(place)
        return None

    def drop(self, packet: Packet, *, early: bool = False) -> None:
        """Drops a packet, which is not in `waiting` any more: for want of room, or `early` by a law of this queue."""
        self._dropped.append((packet, early))
