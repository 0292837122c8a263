"""Backoffs as spans of time: from the draw to the PPDU."""

from __future__ import annotations

import numpy as np

from .air import Air
from .recorded import Recorded

COLUMNS = ("t_ns", "node", "function", "slots", "cw")
# Maximum number of backoffs of a tile; with more, the tile has none.
EXACT = 2000
# A node with a frame to send, which hears all others, begins within this time after its last slot.
SLACK_NS = 1_000_000
# Slot and DIFS, for rates of DSSS alone and for others. [802.11-2020 §15.3.4, §17.4.4]
DSSS_NS, OFDM_NS = (20_000, 50_000), (9_000, 34_000)


class Backoffs:
    """All backoffs of a run. Each ends at the next exchange that its node begins.

    A node without a packet also counts down, without an exchange afterwards. Such a backoff ends with its slots,
    counted as by a node that hears all others and waits DIFS after each PPDU.
    """

    def __init__(self, recorded: Recorded, air: Air) -> None:
        rows = recorded.rows("backoff", COLUMNS)
        self._begin, self._node = rows["t_ns"], rows["node"]
        self._slots, self._cw = rows["slots"], rows["cw"]
        self._end = np.zeros(len(self._begin), np.int64)
        slot_ns, difs_ns = DSSS_NS if recorded.is_dsss else OFDM_NS
        own = air.columns["node"] == air.columns["initiator"]
        channels = [
            _Silence(air, channel, slot_ns, difs_ns)
            for channel in range(1 + int(air.columns["channel"].max(initial=0)))
        ]
        self._is_known = np.zeros(len(self._begin), bool)
        for node in range(len(recorded.nodes)):
            drawn = np.nonzero(self._node == node)[0]
            # A recording does not name the function of a PPDU, so a node that draws for several has no backoffs here.
            if len(drawn) and np.any(rows["function"][drawn] != rows["function"][drawn[0]]):
                continue
            self._is_known[drawn] = True
            of_node = air.columns["node"] == node
            used = air.columns["channel"][of_node]
            self._follow(drawn, air.start[own & of_node], channels[used[0] if len(used) else 0])
        self._longest = int((self._end - self._begin).max(initial=0))

    def _follow(self, rows: np.ndarray, starts: np.ndarray, silence: _Silence) -> None:
        """Ends backoffs of a node at the next of its `starts`, or with their last slot."""
        begin = self._begin[rows]
        over = silence.counted_down(begin, self._slots[rows])
        following = np.append(starts, np.iinfo(np.int64).max)[np.searchsorted(starts, begin)]
        self._end[rows] = np.where(following <= over + SLACK_NS, following, over)

    def within(self, begin: int, end: int) -> dict[str, np.ndarray] | None:
        """Backoffs that end after `begin` and are drawn before `end`, times in ns; None for too many."""
        first, last = np.searchsorted(self._begin, (begin - self._longest, end))
        rows = np.arange(first, last)
        rows = rows[(self._end[rows] > begin) & self._is_known[rows]]
        if len(rows) > EXACT:
            return None
        return {
            "node": self._node[rows],
            "begin": self._begin[rows].astype(np.float64),
            "end": self._end[rows].astype(np.float64),
            "slots": self._slots[rows].astype(np.uint32),
            "cw": self._cw[rows].astype(np.uint32),
        }


class _Silence:
    """The gaps between the PPDUs of a channel, and the slots that fit into them."""

    def __init__(self, air: Air, channel: int, slot_ns: int, difs_ns: int) -> None:
        here = air.columns["channel"] == channel
        start = air.start[here]
        end = np.maximum.accumulate(start + air.duration[here]) if len(start) else start
        begins = np.append(0, end)
        length = np.append(start, np.iinfo(np.int64).max // 2) - begins
        real = length > 0
        self._begins = begins[real]
        self._slots = np.maximum(0, length[real] - difs_ns) // slot_ns
        self._counted = np.cumsum(np.minimum(self._slots, 1 << 40))
        self._slot_ns, self._difs_ns = slot_ns, difs_ns

    def counted_down(self, begin: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """The end of so many slots from each moment of `begin`, counted from the next gap on."""
        first = np.searchsorted(self._begins, begin)
        before = np.append(0, self._counted)[first]
        target = before + slots.astype(np.int64)
        gap = np.minimum(np.searchsorted(self._counted, target), len(self._counted) - 1)
        left = target - np.append(0, self._counted)[gap]
        gap = np.maximum(gap, np.minimum(first, len(self._begins) - 1))
        over: np.ndarray = np.maximum(begin, self._begins[gap] + self._difs_ns + left * self._slot_ns)
        return over
