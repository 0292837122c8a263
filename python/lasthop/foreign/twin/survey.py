"""Output of `iw dev … survey dump`: the channel, and for how long it was busy.

All times are of the driver, since it started or since the last scan. "BSS receive time" counts frames of the own network; only with
it is the airtime of other networks known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .provenance import percent

HEAD = re.compile(r"Survey data from (\S+)")
FIELD = re.compile(r"\s+([A-Za-z ]+):\s*(-?\d{1,18}(?:\.\d{1,6})?)\s*(\S*)(.*)")
ACTIVE, BUSY = "channel active time", "channel busy time"
RECEIVED, OWN, SENT = "channel receive time", "channel BSS receive time", "channel transmit time"


@dataclass(frozen=True)
class Survey:
    """One channel of one device; times in ms, by iw's names."""

    device: str
    mhz: int | None = None
    is_in_use: bool = False
    noise_dbm: float | None = None
    times_ms: Mapping[str, float] = field(default_factory=dict)

    def share(self, name: str) -> float | None:
        """The share of the active time; None if the driver does not count it."""
        active, part = self.times_ms.get(ACTIVE), self.times_ms.get(name)
        return None if not active or part is None or part > active else part / active

    @property
    def of_others(self) -> float | None:
        """The share of the time in which other networks or noise kept the channel busy; None if it is unknown."""
        busy, sent, own = self.share(BUSY), self.share(SENT), self.share(OWN)
        return None if busy is None or sent is None or own is None else max(0.0, busy - sent - own)


def surveys(lines: Iterable[str]) -> list[Survey]:
    """The channels of a dump."""
    found: list[Survey] = []
    for line in lines:
        if head := HEAD.match(line):
            found.append(Survey(head[1]))
        elif found and (pair := FIELD.match(line)):
            found[-1] = _with(found[-1], pair[1].strip(), float(pair[2]), pair[4])
    return found


def _with(survey: Survey, name: str, value: float, rest: str) -> Survey:
    if name == "frequency":
        return Survey(survey.device, int(value), "in use" in rest, survey.noise_dbm, survey.times_ms)
    noise = value if name == "noise" else survey.noise_dbm
    times = {**survey.times_ms, name: value} if "time" in name else survey.times_ms
    return Survey(survey.device, survey.mhz, survey.is_in_use, noise, times)


def in_use(every: Iterable[Survey], devices: Iterable[str]) -> Survey | None:
    """The channel that is in use, of these devices if they are among them."""
    used = [one for one in every if one.is_in_use]
    names = set(devices)
    return next((one for one in used if one.device in names), used[0] if used else None)


def notes_of(survey: Survey) -> list[str]:
    """Notes on the part of a survey that a twin does not model."""
    notes = []
    if (busy := survey.share(BUSY)) is not None and survey.of_others is None:
        parts = [(RECEIVED, "received"), (SENT, "sent")]
        known = [f"{word} for {percent(share)}" for name, word in parts if (share := survey.share(name)) is not None]
        what = f"survey: the channel was busy for {percent(busy)} of the time"
        notes.append(f"{what} ({', '.join(known) or 'by whom is unknown'}); other networks on it are not modelled")
    if survey.noise_dbm is not None:
        notes.append(f"survey: noise of {survey.noise_dbm:g} dBm is not used, as losses are counted")
    return notes
