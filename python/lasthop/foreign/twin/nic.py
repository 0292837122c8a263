"""Output of `ethtool -S` of a wireless device: mac80211's sums over all stations, and the channel's times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .survey import ACTIVE, BUSY, RECEIVED, SENT, Survey

COUNTER = re.compile(r"\s+([A-Za-z][\w .\[\]-]*):\s*(\d{1,19})\s*$", re.ASCII)
COMMAND = re.compile(r"ethtool\s+(?:-S|--statistics)\s+(\S+)")
TIMES = {"ch_time": ACTIVE, "ch_time_busy": BUSY, "ch_time_rx": RECEIVED, "ch_time_tx": SENT}
RETRIES = "tx_retries"


@dataclass(frozen=True)
class Nic:
    """The counters of a device."""

    device: str
    """empty if the text does not name it"""
    counters: Mapping[str, int]

    @property
    def retries(self) -> int | None:
        return self.counters.get(RETRIES)

    @property
    def survey(self) -> Survey | None:
        """The channel in use, where the counters have it."""
        mhz = self.counters.get("channel", 0)
        times = {name: float(self.counters[key]) for key, name in TIMES.items() if key in self.counters}
        return Survey(self.device, mhz, True, None, times) if mhz > 1000 else None


def nic_of(context: str, lines: Iterable[str]) -> Nic:
    """The counters in a text; `context` is the line before it, often the command."""
    command = COMMAND.search(context)
    pairs = [pair for line in lines if (pair := COUNTER.match(line))]
    return Nic(command[1] if command else "", {pair[1]: int(pair[2]) for pair in pairs})
