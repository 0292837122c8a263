"""Output of `iw dev … station dump` and `iw dev … link`, of iw 4 to 6.17: associations, and bitrates as modes.

A bitrate is printed from the kernel's estimate, which rounds down; so a mode is read from its words (MCS, streams, width, guard
interval), and its rate computed from them [802.11-2020 §19.5, §21.5; 802.11ax-2021 §27.5].
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from .observation import Mode

STATION = re.compile(r"^Station\s+([0-9A-Fa-f:]{17})\s+\(on (\S+)\)")
CONNECTED = re.compile(r"^Connected to\s+([0-9A-Fa-f:]{17})\s+\(on (\S+)\)")
FIELD = re.compile(r"^\s*([A-Za-z ][A-Za-z0-9 /]*?):\s*(.*)$")
# `iw link` prints both counts in one line: "RX: 4917488 bytes (12427 packets)".
BOTH_COUNTS = re.compile(r"\d+ bytes \((\d{1,18}) packets\)")
# Only a station has these fields: mac80211 counts beacons of an AP alone.
OF_STATION = ("beacon loss", "beacon rx", "beacon signal avg")

# No counter of a kernel has more digits.
COUNTER = re.compile(r"\d{1,18}(?!\d)", re.ASCII)
BITRATE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s*MBit/s(.*)")
MCS = re.compile(r"\b(?:(VHT|HE|EHT|S1G)-)?MCS (\d{1,3})\b")
STREAMS = re.compile(r"\b(?:VHT|HE)-NSS (\d{1,3})\b")
WIDTH = re.compile(r"\b(\d{1,4})(P80)?\s*MHz", re.IGNORECASE)
HE_GUARD = re.compile(r"\bHE-GI (\d)")
HE_GUARD_NS = {"0": 800, "1": 1600, "2": 3200}
DSSS_MBPS = (1.0, 2.0, 5.5, 11.0)
OFDM_MBPS = (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)
NOT_MODELLED = {"EHT": "802.11be", "S1G": "802.11ah"}

DATA_SUBCARRIERS = {
    "ht": {20: 52, 40: 108},
    "vht": {20: 52, 40: 108, 80: 234, 160: 468},
    "he": {20: 234, 40: 468, 80: 980, 160: 1960},
}
# Width, streams and MCS of the modes that VHT leaves out, as their bits fill no whole number of encoders. [802.11-2020 §21.5]
NO_VHT = {
    *((20, streams, 9) for streams in (1, 2, 4, 5, 7, 8)),
    *((80, 3, 6), (80, 7, 6), (80, 6, 9), (160, 3, 9)),
}
MOST_STREAMS = {"ht": 4, "vht": 8, "he": 8}
HIGHEST_MCS = {"ht": 31, "vht": 9, "he": 11}
SYMBOL_NS = {"ht": 3200, "vht": 3200, "he": 12_800}
# Bits of a subcarrier, and the code rate as a fraction, by MCS of one stream.
CODED_BITS = (
    *((1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3)),
    *((6, 3, 4), (6, 5, 6), (8, 3, 4), (8, 5, 6), (10, 3, 4), (10, 5, 6)),
)
BEYOND_N = 2
"""times the rate of an MCS of 802.11n; drivers of 802.11ad write theirs alike, and the lowest is 5 times as fast"""
# Share of packets given up from which on the counter, not the link, is broken: TCP would carry next to no data over it.
IMPOSSIBLE_LOSS = 0.5
MOST_RETRIES = 10
"""of a packet on average; hardware gives up after 4 to 30"""
NEVER_WITHOUT_RETRY = 10_000
"""packets; a driver that has no retry in so many does not count them"""


class NoMode(ValueError):
    """A bitrate that is none of the modes of its standard."""


class NotModelled(ValueError):
    """A bitrate of a standard, or of a part of one, that is not modelled."""


@dataclass(frozen=True)
class Counts:
    """Packets of an association, and retries of the packets sent; `retries` is None if they are unknown or impossible."""

    sent: int
    received: int
    retries: int | None


def associations(lines: Iterable[str]) -> Iterable[dict[str, str]]:
    """The fields of each association in a dump, with "address" and "device"."""
    current: dict[str, str] | None = None
    for line in lines:
        if head := STATION.match(line) or CONNECTED.match(line):
            if current:
                yield current
            current = {"address": head[1].lower(), "device": head[2]}
            if head.re is CONNECTED:
                current["beacon loss"] = ""  # only a station has a link
        elif current is not None and (pair := FIELD.match(line)):
            name, value = pair[1].strip(), pair[2].strip()
            if name in ("RX", "TX") and (counted := BOTH_COUNTS.match(value)):
                name, value = f"{name.lower()} packets", counted[1]
            current.setdefault(name, value)
    if current:
        yield current


def is_of_station(fields: Mapping[str, str]) -> bool:
    """Whether a station printed this association, and not an AP."""
    return any(name in fields for name in OF_STATION)


def counts_of(fields: Mapping[str, str]) -> Counts:
    """The counters of an association; retries of a broken counter are left out."""
    is_known = "tx retries" in fields and doubt(fields) is None
    sent, received = number(fields, "tx packets"), number(fields, "rx packets")
    return Counts(sent, received, number(fields, "tx retries") if is_known else None)


def doubt(fields: Mapping[str, str]) -> str | None:
    """A note if the counters of an association contradict one another."""
    sent, failed, retries = (number(fields, f"tx {name}") for name in ("packets", "failed", "retries"))
    if failed > IMPOSSIBLE_LOSS * sent:
        what = f"{failed} of {sent} packets failed, which no working link has"
    elif retries > MOST_RETRIES * sent:
        what = f"{retries} retries of {sent} packets are more than any link has"
    elif "tx retries" in fields and not retries and sent >= NEVER_WITHOUT_RETRY:
        what = f"no retry in {sent} packets, so the driver does not count them"
    else:
        return None
    return f"{fields['address']}: {what}: losses are assumed"


def number(fields: Mapping[str, str], key: str) -> int:
    """The number at the beginning of a field; 0 if it is missing."""
    found = COUNTER.match(fields.get(key, ""))
    return int(found[0]) if found else 0


def packets(fields: Mapping[str, str]) -> int:
    """Packets of both directions."""
    return number(fields, "tx packets") + number(fields, "rx packets")


def is_legacy(text: str) -> bool:
    """Whether a bitrate has no MCS, as control and null frames have."""
    return BITRATE.match(text) is not None and MCS.search(text) is None


def mode_of(text: str, attempts: int, failed: int, whose: str) -> Mode | None:
    """The mode of a bitrate such as "866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2"; None for "(unknown)" and for 0.

    Raises `ValueError` for a text that is no bitrate, and for a mode that is not modelled.
    """
    found = BITRATE.match(text)
    if not found:
        if "unknown" in text:
            return None
        raise ValueError(f'{whose}: {text!r} is not a bitrate as iw prints it, such as "866.7 MBit/s VHT-MCS 9 80MHz"')
    mbps, words = float(found[1]), found[2]
    mcs = MCS.search(words)
    _check(text, words, mcs[1] if mcs else None, whose)
    if mcs is None:
        if mbps and mbps not in DSSS_MBPS + OFDM_MBPS:
            raise NoMode(f"{whose}: {text!r}: no MCS, which the rate alone does not give; add words such as VHT-MCS 9")
        return legacy_mode(text, mbps, attempts, failed) if mbps else None
    kind, index = {"VHT": "vht", "HE": "he"}.get(mcs[1] or "", "ht"), int(mcs[2])
    streams = STREAMS.search(words)
    count = index // 8 + 1 if kind == "ht" else int(streams[1]) if streams else 1
    width = _width(words)
    guard = 400 if "short GI" in words else 800
    if he := HE_GUARD.search(words):
        guard = HE_GUARD_NS.get(he[1], 800)
    mode = mode_by_index(text, kind, index, count, width, guard, attempts, failed)
    if mode is None:
        mode = _nearest_of_vht(text, kind, index, count, width, guard, attempts, failed)
    if mode is None:
        raise NoMode(f"{whose}: {text!r}: this mode does not exist")
    told = mode.rate_bps / 1e6
    if kind == "ht" and mbps > BEYOND_N * told:
        raise NoMode(f"{whose}: {text!r}: its MCS is one of {told:.1f} Mbit/s; other standards are not modelled")
    return mode


def _nearest_of_vht(
    text: str, kind: str, index: int, streams: int, width_mhz: int, guard_ns: int, attempts: int, failed: int
) -> Mode | None:
    """The mode in place of one that drivers have and 802.11ac has not: MCS 10 and 11, or MCS 9 in 20 MHz."""
    if kind != "vht" or not HIGHEST_MCS["vht"] <= index <= HIGHEST_MCS["he"]:
        return None
    for lower in (HIGHEST_MCS["vht"], HIGHEST_MCS["vht"] - 1):
        if mode := mode_by_index(text, kind, lower, streams, width_mhz, guard_ns, attempts, failed):
            return replace(mode, instead_of=f"MCS {lower}, the nearest of 802.11ac to {text}")
    return None


def legacy_mode(name: str, mbps: float, attempts: int, failed: int) -> Mode:
    """A mode without an MCS: DSSS and CCK, or OFDM."""
    kind = "dsss" if mbps in DSSS_MBPS else "ofdm"
    return _mode(name, kind, None, 1, 20, 800, round(mbps * 1e6), attempts, failed)


def mode_by_index(
    name: str, kind: str, index: int, streams: int, width_mhz: int, guard_ns: int, attempts: int, failed: int
) -> Mode | None:
    """A mode with an MCS; None if it does not exist."""
    rate = rate_bps(kind, index, streams, width_mhz, guard_ns)
    if not rate:
        return None
    return _mode(name, kind, index, streams, width_mhz, guard_ns, rate, attempts, failed)


def _check(text: str, words: str, family: str | None, whose: str) -> None:
    if family in NOT_MODELLED:
        raise NotModelled(f"{whose}: {text!r}: {NOT_MODELLED[family]} is not modelled")
    if "HE-DCM 1" in words:
        raise NotModelled(f"{whose}: {text!r}: dual carrier modulation is not modelled")


def is_resource_unit(text: str) -> bool:
    """Whether a bitrate belongs to a part of the channel, as under OFDMA."""
    return "HE-RU-ALLOC" in text


def _width(words: str) -> int:
    """The width in MHz; 80+80 MHz counts as 160."""
    found = WIDTH.search(words)
    return 20 if found is None else 160 if found[2] else int(found[1])


def rate_bps(kind: str, index: int, streams: int, width_mhz: int, guard_ns: int) -> int | None:
    """The data rate of an MCS; None if it does not exist."""
    of_stream = index % 8 if kind == "ht" else index
    subcarriers = DATA_SUBCARRIERS[kind].get(width_mhz)
    if subcarriers is None or index > HIGHEST_MCS[kind] or not 1 <= streams <= MOST_STREAMS[kind]:
        return None
    if kind == "vht" and (width_mhz, streams, index) in NO_VHT:
        return None
    bits, over, under = CODED_BITS[of_stream]
    bits_of_symbol = subcarriers * bits * over * streams // under
    return round(bits_of_symbol * 1e9 / (SYMBOL_NS[kind] + guard_ns))


def _mode(
    name: str,
    kind: str,
    mcs: int | None,
    streams: int,
    width_mhz: int,
    guard_ns: int,
    rate: int,
    attempts: int,
    failed: int,
) -> Mode:
    return Mode(
        name,
        kind,
        kind == "dsss",
        mcs,
        streams,
        width_mhz,
        guard_ns,
        False,
        rate,
        attempts,
        failed,
        attempts,
        0,
        0,
        0,
        attempts,
        failed,
    )
