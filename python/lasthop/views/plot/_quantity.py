"""Metrics in common terms: `totals.goodput_bps` is goodput in Mbit/s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...data.quantities import quantity_of

# Common names of settings, by the parts of their paths that are not numbers.
SETTINGS = {
    "station.count": "stations",
    "station.distance": "distance",
    "flow.count": "flows per station",
    "bss.channel_width": "channel width",
    "tcp.congestion_control": "congestion control",
    "bss.ap.queue": "queue of the AP",
    "station.queue": "queue of the stations",
    "wired.queue": "queue of the wire",
}
# Sections whose name is part of a key's label; "kind" is left out.
OWNERS = {
    "wired": "wired",
    "bss.ap": "AP",
    "tcp": "TCP",
    "channel": "",
    "bss": "",
    "station": "station",
    "flow": "flow",
}
KIND = ".kind"
ACRONYMS = {
    word: word.upper() for word in ["ack", "ap", "bss", "cca", "dscp", "edca", "mcs", "mss", "rto", "rts", "tcp"]
} | {"mpdus": "MPDUs"}


class Axis(NamedTuple):
    """An axis's label, the factor from the stored number, and the largest possible value in the shown unit."""

    label: str
    scale: float
    most: float | None = None


def quantity(metric: str) -> Axis:
    """The label and scale of a metric by its dotted name or its key alone."""
    known = quantity_of(metric)
    if known is None:  # a column of a foreign table
        return Axis(metric.rpartition(".")[2].replace("_", " "), 1.0)
    entity = metric.partition(".")[2].rpartition(".")[0] if known.entity else ""
    return Axis(f"{entity}: {known.axis}" if entity else known.axis, known.shown.scale, known.most)


def setting(path: str, others: Sequence[str] = ()) -> str:
    """A setting in words: `station.0.count` is stations, `wired.delay` wired delay.

    The path is added if one of `others` has the same words.
    """
    words = _setting(path)
    return f"{words} ({path})" if any(other != path and _setting(other) == words for other in others) else words


def _setting(path: str) -> str:
    parts = [part for part in path.removesuffix(KIND).split(".") if not part.isdigit() and part != "*"]
    if (known := SETTINGS.get(".".join(parts))) is not None:
        return known
    owner = next((".".join(parts[:n]) for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in OWNERS), "")
    rest = parts[owner.count(".") + 1 if owner else 0 :]
    words = [ACRONYMS.get(word, word) for part in rest for word in part.split("_")]
    prefix = OWNERS.get(owner, "") if owner not in ("station", "flow", "tcp") else ""
    return " ".join([*([prefix] if prefix else []), *words]) or path
