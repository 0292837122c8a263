"""Metrics as people speak of them: `totals.goodput_bps` is goodput in Mbit/s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# By the ending of a metric's name: the unit to show, and what turns the stored number into it.
UNITS = {
    "_bps": ("Mbit/s", 1e-6),
    "_s": ("ms", 1e3),
    "_segments": ("segments", 1.0),
    "_packets": ("packets", 1.0),
    "_fraction": ("%", 100.0),
}
# Seconds that are seconds: nobody speaks of a completion time in milliseconds.
LONG = ("completion_time_s", "starved_s", "stall_time_s", "startup_delay_s", "page_load_time")
NAMES = {"jain index": "Jain's index", "rtt": "RTT", "mos": "MOS", "tcp ack": "TCP ACK"}
NAMES |= {
    " p50": ", median",
    " p95": ", 95th percentile",
    " p99": ", 99th percentile",
    " min": ", least",
    " mean": ", mean",
}
# Settings as people speak of them, by the parts of their paths that are not numbers.
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
# Of these sections it is said whose a key is; of what a word chooses, "kind" says nothing.
OWNERS = {"wired": "wired", "bss.ap": "AP", "tcp": "TCP", "channel": "", "bss": "", "station": "station", "flow": "flow"}
KIND = ".kind"
ACRONYMS = {word: word.upper() for word in "ack ap bss cca dscp edca mcs mss rto rts tcp".split()} | {"mpdus": "MPDUs"}
# The entity is said for these; "totals" and "medium" say nothing.
SAID = ("flows.", "nodes.", "links.")


class Quantity(NamedTuple):
    """What an axis shows, the factor from the stored number, and the most that there can be in the unit shown."""

    label: str
    scale: float
    most: float | None = None


def quantity(metric: str) -> Quantity:
    """The label and scale of a metric by its dotted name or its key alone."""
    entity, key = _parts(metric)
    ending = next((ending for ending in UNITS if key.endswith(ending)), "")
    unit, scale = UNITS.get(ending, ("", 1.0))
    if ending == "_s" and key.startswith(LONG):
        unit, scale = "s", 1.0
    name = key.removesuffix(ending).replace("_", " ")
    for plain, proper in NAMES.items():
        name = name.replace(plain, proper)
    label = f"{entity}: {name}" if entity else name
    return Quantity(f"{label} ({unit})" if unit else label, scale, _most(key, scale))


def setting(path: str, others: Sequence[str] = ()) -> str:
    """A setting in words: `station.0.count` is stations, `wired.delay` wired delay.

    Among `others` that read alike the path stands beside.
    """
    words = _setting(path)
    return f"{words} ({path})" if any(other != path and _setting(other) == words for other in others) else words


def _setting(path: str) -> str:
    parts = [part for part in path.removesuffix(KIND).split(".") if not part.isdigit()]
    if (known := SETTINGS.get(".".join(parts))) is not None:
        return known
    owner = next((".".join(parts[:n]) for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in OWNERS), "")
    rest = parts[owner.count(".") + 1 if owner else 0 :]
    words = [ACRONYMS.get(word, word) for part in rest for word in part.split("_")]
    said = OWNERS.get(owner, "") if owner not in ("station", "flow", "tcp") else ""
    return " ".join([*([said] if said else []), *words]) or path


def _most(key: str, scale: float) -> float | None:
    is_share = key.startswith("jain_index") or key.endswith(("_fraction", "_probability"))
    return scale if is_share else None


def _parts(metric: str) -> tuple[str, str]:
    if not metric.startswith(SAID):
        return "", metric.rpartition(".")[2]
    entity, _, key = metric.partition(".")[2].rpartition(".")
    return entity, key
