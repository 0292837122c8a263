"""First in, first out; a full queue makes room by dropping what has waited longest. [Lakshman, Neidhardt, Ott 1996]

queue = { kind = "python", file = "head_drop.py", class = "HeadDrop", limit = 50 }
"""

import lasthop


class HeadDrop(lasthop.QueueDiscipline):
    """`limit` is the largest backlog in packets."""

    def __init__(self, context, limit=50):
        if limit < 1:
            raise ValueError("limit: a queue without room for a packet drops everything")
        self.limit = limit

    def enqueue(self, packet, now_s):
        while len(self.waiting) >= self.limit:
            self.drop(self.waiting.pop(0))
        self.waiting.append(packet)

    def has_room(self, size_bytes):
        return len(self.waiting) < self.limit
