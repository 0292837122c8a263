"""Which packets an acknowledgement is about, from sequence numbers.

TCP acknowledges bytes; qlog asks for packets, as QUIC has them. A recording has the number of every packet and knows which
have arrived, so that of several transmissions of the same bytes the one that arrived is told.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

# No segment is longer than an IP packet.
LONGEST = 2**16

class Numbers:
    """Sequence numbers of one direction of a connection without their wrap at 2^32."""

    def __init__(self) -> None:
        self._last: int | None = None

    def unwrapped(self, number: int) -> int:
        """`number` as the one nearest to the last that was asked for."""
        if self._last is None:
            self._last = number
        self._last += (number - self._last + 2**31) % 2**32 - 2**31
        return self._last


class Transmissions:
    """Transmissions in the order of the numbers after their last bytes."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._about: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._ends)

    def add(self, start: int, end: int, packet: int) -> None:
        """Bytes from `start` up to, not including, `end` in this packet."""
        place = bisect_right(self._ends, end)
        self._ends.insert(place, end)
        self._about.insert(place, (start, packet))

    def take_covered(self, ack: int, sack: tuple[int, int] | None) -> list[int]:
        """Takes those that an ACK field or a SACK block covers: their packets, in order."""
        taken = self._take(0, bisect_right(self._ends, ack))
        if sack is not None:
            left, right = sack
            first = bisect_right(self._ends, left)
            while first < len(self._about) and self._about[first][0] < left:
                first += 1
            taken += self._take(first, max(first, bisect_right(self._ends, right)))
        return sorted(taken)

    def take_touched(self, start: int, end: int) -> list[int]:
        """Takes those with any of these bytes: their packets, in order."""
        first = bisect_right(self._ends, start)
        after = bisect_right(self._ends, end + LONGEST)
        touched = [place for place in range(first, after) if self._about[place][0] < end]
        packets = sorted(self._about[place][1] for place in touched)
        for place in reversed(touched):
            self._take(place, place + 1)
        return packets

    def _take(self, first: int, after: int) -> list[int]:
        if first == after:
            return []
        packets = [packet for _, packet in self._about[first:after]]
        del self._ends[first:after], self._about[first:after]
        return packets


def ranges(packets: Iterable[int]) -> list[list[int]]:
    """Numbers that rise as ranges: `[[first, last], …]`, `[number]` for one alone."""
    found: list[list[int]] = []
    for packet in packets:
        if found and packet == found[-1][-1] + 1:
            found[-1][1:] = [packet]
        elif not found or packet != found[-1][-1]:
            found.append([packet])
    return found
