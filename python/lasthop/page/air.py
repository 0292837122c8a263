"""The air of a run in tiles: exact PPDUs if there are few, else the share of each bin that every node filled.

A tile of level L and index I is the time from I · 2^L to (I + 1) · 2^L nanoseconds, for a group of `ROWS` nodes. Bins
use running sums over the PPDUs of a node: its airtime up to a moment is the sum up to its last PPDU that began before.
A bin costs two binary searches, however long the run.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from .recorded import KINDS, LOSSES, Recorded

BINS = 256
BINS_LOG2 = 8
# Nodes of a tile: its bins, all filled, have some 50 kB.
ROWS = 32
# PPDUs of an exact tile: some 45 kB.
EXACT = 1000
# The value for a missing count.
NO_COUNT = 0xFFFF
LEVELS = range(BINS_LOG2 + 2, 48)

COLUMNS = (
    *("start_ns", "duration_ns", "nav_ns", "ppdu", "node", "to", "initiator", "link", "channel", "kind", "rate_bps"),
    *("mcs", "nss", "gi_ns", "width_mhz", "bytes", "mpdus", "decoded", "lost_to", "exchange", "retried"),
)
# The RU of a user, which details alone show.
USERS = ("ru_tones", "ru_place")


class Sums(NamedTuple):
    """Running sums over the PPDUs of one node, which do not overlap."""

    start: np.ndarray
    duration: np.ndarray
    # The weights of each PPDU, and for each weight the sum of weight · duration of all earlier PPDUs.
    weights: list[np.ndarray]
    before: list[np.ndarray]

    def until(self, moments: np.ndarray) -> list[np.ndarray]:
        """For each weight, its nanoseconds before each moment."""
        last = np.searchsorted(self.start, moments, side="right") - 1
        begun = last >= 0
        last = np.maximum(last, 0)
        on_air = np.where(begun, np.minimum(moments - self.start[last], self.duration[last]), 0)
        return [
            np.where(begun, b[last] + w[last] * on_air, 0.0) for w, b in zip(self.weights, self.before, strict=True)
        ]


class Air:
    """All PPDUs of a run."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self.columns = recorded.rows("ppdu", (*COLUMNS, *USERS))
        self.start, self.duration = self.columns["start_ns"], self.columns["duration_ns"]
        self.longest_ns = int(self.duration.max(initial=0))
        self.groups = max(1, -(-len(recorded.nodes) // ROWS))
        self._of_group = self._split()
        self._sums: dict[int, Sums] = {}

    def __len__(self) -> int:
        return len(self.start)

    def _split(self) -> list[np.ndarray | slice]:
        if self.groups == 1:
            return [slice(None)]
        group = self.columns["node"] // ROWS
        return [np.nonzero(group == number)[0] for number in range(self.groups)]

    def within(self, begin: int, end: int, group: int | None = None) -> np.ndarray:
        """Numbers of the rows of PPDUs on the air between two moments in ns."""
        chosen = slice(None) if group is None else self._of_group[group]
        start = self.start[chosen]
        first, last = np.searchsorted(start, (begin - self.longest_ns, end), side="left")
        rows = np.arange(first, last) if isinstance(chosen, slice) else chosen[first:last]
        on_air: np.ndarray = rows[self.start[rows] + self.duration[rows] > begin]
        return on_air

    def senders(self) -> list[int]:
        """Nodes that send at least one PPDU."""
        return [int(node) for node in np.unique(self.columns["node"])]

    def span(self) -> list[int] | None:
        """From the first PPDU to the end of the last, in ns."""
        return [int(self.start[0]), int((self.start + self.duration).max())] if len(self) else None

    def row_of(self, ppdu: int) -> int:
        """The row of a PPDU by its number. Raises `LookupError`."""
        numbers = self.columns["ppdu"]
        guess = ppdu - int(numbers[0]) if len(numbers) else -1
        if 0 <= guess < len(numbers) and numbers[guess] == ppdu:
            return guess
        rows = np.nonzero(numbers == ppdu)[0]
        if not len(rows):
            raise LookupError(f"PPDU {ppdu}: was not recorded")
        return int(rows[0])

    def is_exact(self, begin: int, end: int, group: int) -> bool:
        """Whether few enough PPDUs are on the air to return each."""
        start = self.start[self._of_group[group]]
        first, last = np.searchsorted(start, (begin - self.longest_ns, end), side="left")
        return last - first <= EXACT or len(self.within(begin, end, group)) <= EXACT

    @cached_property
    def is_data(self) -> np.ndarray:
        """The PPDUs that carry packets, as a mask."""
        return np.isin(self.columns["kind"], [KINDS.index("data"), KINDS.index("A-MPDU")])

    @cached_property
    def lost(self) -> np.ndarray:
        """The share of each PPDU that was not decoded."""
        mpdus, decoded = self.columns["mpdus"].astype(float), self.columns["decoded"]
        known = decoded != np.iinfo(decoded.dtype).max
        return np.where(known, 1 - np.minimum(decoded, mpdus) / np.maximum(mpdus, 1), 0.0)

    def sums(self, node: int) -> Sums:
        """Running sums of a node: all its airtime, the part lost to collisions, the part lost to noise."""
        if node not in self._sums:
            rows = np.nonzero(self.columns["node"] == node)[0]
            duration = self.duration[rows]
            lost, cause = self.lost[rows], self.columns["lost_to"][rows]
            noise = LOSSES.index("noise")
            weights = [np.ones(len(rows)), np.where(cause < noise, lost, 0.0), np.where(cause == noise, lost, 0.0)]
            before = [np.concatenate(([0.0], np.cumsum(w * duration)[:-1])) for w in weights]
            self._sums[node] = Sums(self.start[rows], duration, weights, before)
        return self._sums[node]

    def bins(self, begin: int, level: int, group: int) -> dict[str, np.ndarray]:
        """Each non-empty bin of a tile: `node`, `bin`, `busy` in 255ths; `collided` and `noise` in 255ths of the busy
        part.
        """
        edges = begin + (np.arange(BINS + 1, dtype=np.int64) << (level - BINS_LOG2))
        width = 1 << (level - BINS_LOG2)
        parts = []
        for node in range(group * ROWS, min((group + 1) * ROWS, len(self._recorded.nodes))):
            sums = self.sums(node)
            if not len(sums.start):
                continue
            shares = [np.diff(until) / width for until in sums.until(edges)]
            filled = np.nonzero(shares[0] > 0)[0]
            busy, *lost = (share[filled] for share in shares)
            parts.append(
                (np.full(len(filled), node), filled, _bytes(busy), *(np.rint(255 * part / busy) for part in lost))
            )
        columns = [np.concatenate(column) if parts else np.zeros(0) for column in zip(*parts, strict=True)] or [
            np.zeros(0)
        ] * 5
        kinds = (np.uint16, np.uint8, np.uint8, np.uint8, np.uint8)
        names = ("node", "bin", "busy", "collided", "noise")
        return {name: column.astype(kind) for name, column, kind in zip(names, columns, kinds, strict=True)}

    def exact(self, begin: int, end: int, group: int) -> dict[str, np.ndarray]:
        """Each PPDU of a tile, with the values that are drawn; times in ns from the start of the run."""
        rows = self.within(begin, end, group)
        columns = {name: self.columns[name][rows] for name in COLUMNS}
        return {
            "ppdu": columns["ppdu"].astype(np.uint32),
            "start": columns["start_ns"].astype(np.float64),
            "duration": columns["duration_ns"].astype(np.float32 if self.longest_ns >= 1 << 32 else np.uint32),
            "nav": np.minimum(columns["nav_ns"], 0xFFFFFFFF).astype(np.uint32),
            "node": columns["node"].astype(np.uint16),
            "to": columns["to"].astype(np.uint16),
            "kind": columns["kind"].astype(np.uint8),
            "lost": np.minimum(columns["lost_to"], 0xFF).astype(np.uint8),
            "mpdus": np.minimum(columns["mpdus"], NO_COUNT).astype(np.uint16),
            "decoded": np.minimum(columns["decoded"], NO_COUNT).astype(np.uint16),
            "rate": (columns["rate_bps"] // 1000).astype(np.uint32),
            "exchange": columns["exchange"].astype(np.uint32),
            "channel": columns["channel"].astype(np.uint16),
        }


def _bytes(share: np.ndarray) -> np.ndarray:
    """Shares of one as 255ths; a share above 0 stays above 0."""
    return np.clip(np.ceil(share * 255 - 1e-9), 0, 255)
