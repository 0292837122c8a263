"""Backoffs as stretches of time: from the draw to the PPDU that it was for."""

from __future__ import annotations

import numpy as np

from .air import Air
from .recorded import Recorded

COLUMNS = ("t_ns", "node", "function", "slots", "cw")
# Backoffs of a tile; of more, none is told.
EXACT = 2000
# A node that sends nothing for so long after a draw had nothing to send: it counted down in vain. Its slots are drawn alone.
LONGEST_NS = 20_000_000
SLOT_NS = 9_000


class Backoffs:
    """All backoffs of a run. Each ends where its node next begins an exchange, or draws again."""

    def __init__(self, recorded: Recorded, air: Air) -> None:
        rows = recorded.rows("backoff", COLUMNS)
        self._begin, self._node = rows["t_ns"], rows["node"]
        self._slots, self._cw = rows["slots"], rows["cw"]
        self._end = self._begin + self._slots.astype(np.int64) * SLOT_NS
        own = air.columns["node"] == air.columns["initiator"]
        for node in range(len(recorded.nodes)):
            self._follow(np.nonzero(self._node == node)[0], air.start[own & (air.columns["node"] == node)])
        self._longest = int((self._end - self._begin).max(initial=0))

    def _follow(self, rows: np.ndarray, starts: np.ndarray) -> None:
        """Lets backoffs of a node end where the next of its `starts` lies near enough."""
        begin = self._begin[rows]
        following = np.append(starts, np.iinfo(np.int64).max)[np.searchsorted(starts, begin)]
        near = following - begin <= LONGEST_NS
        self._end[rows[near]] = following[near]

    def within(self, begin: int, end: int) -> dict[str, np.ndarray] | None:
        """Those that are not over before `begin` and drawn before `end`, times in ns; None where they are too many to tell."""
        first, last = np.searchsorted(self._begin, (begin - self._longest, end))
        rows = np.arange(first, last)
        rows = rows[self._end[rows] > begin]
        if len(rows) > EXACT:
            return None
        return {
            "node": self._node[rows],
            "begin": self._begin[rows].astype(np.float64),
            "end": self._end[rows].astype(np.float64),
            "slots": self._slots[rows].astype(np.uint32),
            "cw": self._cw[rows].astype(np.uint32),
        }
