"""Finds the packets that an acknowledgement covers, from sequence numbers.

TCP acknowledges bytes; qlog, made for QUIC, wants packets. A recording has the number of every packet and of every
arrival, so among several transmissions of the same bytes, the one that arrived is known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

# No segment is longer than an IP packet.
LONGEST = 2**16


class Numbers:
    """Sequence numbers of one direction of a connection without their wrap at 2^32."""

    def __init__(self) -> None:
        self._last: int | None = None

    def unwrapped(self, number: int) -> int:
        """`number` without the wrap, as close as possible to the one before."""
        if self._last is None:
            self._last = number
        self._last += (number - self._last + 2**31) % 2**32 - 2**31
        return self._last


class Transmissions:
    """Transmissions in the order of their ends."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._about: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._ends)

    def add(self, start: int, end: int, packet: int) -> None:
        """Adds the bytes from `start` up to, not including, `end` in this packet."""
        place = bisect_right(self._ends, end)
        self._ends.insert(place, end)
        self._about.insert(place, (start, packet))

    def take_covered(self, ack: int, sack: tuple[int, int] | None) -> list[int]:
        """Removes the transmissions that an ACK field or a SACK block covers; returns their packets in order."""
        taken = self._take(range(bisect_right(self._ends, ack)))
        if sack is not None:
            left, right = sack
            inside = range(bisect_right(self._ends, left), bisect_right(self._ends, right))
            taken += self._take([place for place in inside if self._about[place][0] >= left])
        return sorted(taken)

    def take_touched(self, start: int, end: int) -> list[int]:
        """Removes the transmissions with any of these bytes; returns their packets in order."""
        near = range(bisect_right(self._ends, start), bisect_right(self._ends, end + LONGEST))
        return sorted(self._take([place for place in near if self._about[place][0] < end]))

    def _take(self, places: Sequence[int]) -> list[int]:
        """Removes the entries at `places`, which ascend."""
        packets = [self._about[place][1] for place in places]
        if places and places[-1] - places[0] == len(places) - 1:
            places, together = [], slice(places[0], places[-1] + 1)
            del self._ends[together], self._about[together]
        for place in reversed(places):
            del self._ends[place], self._about[place]
        return packets


def ranges(packets: Iterable[int]) -> list[list[int]]:
    """Ascending numbers as ranges: `[[first, last], …]`, `[number]` for one alone."""
    runs: list[list[int]] = []
    for packet in packets:
        if runs and packet == runs[-1][-1] + 1:
            runs[-1][1:] = [packet]
        elif not runs or packet != runs[-1][-1]:
            runs.append([packet])
    return runs
