"""Bytes of a stream, each counted once, however often and in whatever order they come."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Ranges:
    """A set of integers as ranges [begin, end)."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []
        self.count = 0

    def add(self, begin: int, end: int) -> int:
        """Adds a range; returns how many integers are new."""
        if end <= begin:
            return 0
        first = bisect_left(self._ends, begin)
        last = bisect_right(self._begins, end)
        known = sum(high - low for low, high in zip(self._begins[first:last], self._ends[first:last], strict=True))
        low = min([begin, *self._begins[first:last][:1]])
        high = max([end, *self._ends[first:last][-1:]])
        self._begins[first:last], self._ends[first:last] = [low], [high]
        new = high - low - known
        self.count += new
        return new
