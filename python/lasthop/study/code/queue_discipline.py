"""The base class of queue disciplines in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from ..._core import Packet, QueueContext, Wanted


class QueueDiscipline:
    """A queue: `queue = { kind = "python", file = "mine.py", class = "Mine", limit = 50 }`.

    The base class is a FIFO without limit. Its packets are in `waiting`, oldest first; a subclass may keep them elsewhere.
    Each packet leaves once: `dequeue` returns it, or `drop` drops it.
    """

    def __new__(cls, _context: QueueContext, *_: object, **__: object) -> Self:
        """Makes an empty queue, before `__init__`."""
        queue = super().__new__(cls)
        queue.waiting = []
        queue._dropped = []
        return queue

    def __init__(self, context: QueueContext) -> None:
        """Starts a queue; `context.random()` draws numbers that depend only on the seed and the queue."""

    waiting: list[Packet]
    _dropped: list[tuple[Packet, bool]]

    def enqueue(self, packet: Packet, now_s: float) -> None:
        """Accepts a packet, or drops it or another one."""
        self.waiting.append(packet)

    def dequeue(self, wanted: Wanted, now_s: float) -> Packet | None:
        """Returns the next packet to send among those that `wanted` includes (for an A-MPDU, one station's packets), or
        None.
        """
        return self.pop(wanted)

    def has_room(self, size_bytes: int) -> bool:
        """Returns whether a packet of `size_bytes` would be accepted, apart from early drops."""
        return True

    def pop(self, wanted: Wanted) -> Packet | None:
        """Removes the oldest packet that `wanted` includes from `waiting` and returns it, or None."""
        if wanted.any:
            return self.waiting.pop(0) if self.waiting else None
        for place, packet in enumerate(self.waiting):
            if wanted.includes(packet):
                return self.waiting.pop(place)
        return None

    def drop(self, packet: Packet, *, early: bool = False) -> None:
        """Drops a packet that is no longer in `waiting`: because the queue is full, or `early` by its law."""
        self._dropped.append((packet, early))
