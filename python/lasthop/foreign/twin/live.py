"""Reports of a station or an AP: `iw dev wlan0 station dump`, `ss -tin`, or the same fields as JSON.

It is less information than a capture. There is a mode for each direction, the latest; retries without their link; round
trips of TCP from the host on which `ss` ran, so that a queue shows only by its latest delay. Missing values are assumed,
and marked so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .observation import Flow, Link, Mode, Seen, safe_name

STATION = re.compile(r"^Station\s+([0-9A-Fa-f:]{17})\s+\(on (\S+)\)")
FIELD = re.compile(r"^\s+([A-Za-z ][A-Za-z0-9 /]*?):\s*(.*)$")
BITRATE = re.compile(r"([\d.]+)\s*MBit/s(.*)")
MCS = re.compile(r"\b(?:(VHT|HE)-)?MCS (\d+)")
STREAMS = re.compile(r"\b(?:VHT|HE)-NSS (\d+)")
WIDTH = re.compile(r"\b(\d+)\s*MHz")
HE_GUARD = {"0": 800, "1": 1600, "2": 3200}
SS_HEAD = re.compile(r"^(?:tcp\s+)?(?:ESTAB|0?1?ESTAB|[A-Z-]+)\s+\d+\s+\d+\s+(\S+)\s+(\S+)")
LOOPBACK = re.compile(r"127\.|\[?::1\]?:\d+$|\[?::ffff:127\.")
SS_PAIR = re.compile(r"\b([a-z_]+):(\S+)")
SS_RATE = re.compile(r"\b(delivery_rate|pacing_rate|send)\s+([\d.]+)([KMG]?)bps")
SCALES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
PACKET_BYTES = 1500
DSSS_MBPS = (1.0, 2.0, 5.5, 11.0)
AP = "ap"
LONGEST_S = 20.0
"""of the twin; hosts count from the beginning of an association on"""
NOTES = (
    "`iw` and `ss` have the latest mode of each link, packets as counts, and no station of a connection: several",
    "take turns.",
)


@dataclass(frozen=True)
class Live:
    """The reports: associations, and connections."""

    associations: tuple[Mapping[str, str], ...]
    """as `iw` has them, with "address" and "device" """
    connections: tuple[Mapping[str, Any], ...]
    """as `ss` has them, with "local", "peer" and "congestion_control" """
    sources: tuple[str, ...] = field(default=())

    @property
    def is_of_station(self) -> bool:
        """Whether it was read at a station: only who is associated hears beacons."""
        return any("beacon loss" in one or "beacon interval" in one for one in self.associations)

    @property
    def congestion_control(self) -> str | None:
        """The round trip of most connections."""
        names = [one["congestion_control"] for one in self.connections if one.get("congestion_control")]
        return max(sorted(set(names)), key=names.count) if names else None


def is_live(text: str) -> bool:
    """Whether a text is what `iw` or `ss` print, or JSON with as much."""
    if text.lstrip().startswith("{"):
        return True
    return any(STATION.match(line) or SS_HEAD.match(line) for line in text.splitlines()[:50])


def read_live(texts: Mapping[str, str], needs_station: bool = True) -> Live:
    """Reads texts by their names; raises `ValueError` with place and remedy."""
    associations: list[Mapping[str, str]] = []
    connections: list[Mapping[str, Any]] = []
    for name, text in texts.items():
        if text.lstrip().startswith("{"):
            found = _json(name, text)
            associations += found.get("stations", [])
            connections += found.get("connections", [])
        else:
            associations += _iw(text)
            connections += _latest(_ss(text))
    if not associations and needs_station:
        raise ValueError(f"{', '.join(texts)}: no station: give also what `iw dev wlan0 station dump` prints")
    return Live(tuple(associations), tuple(connections), tuple(texts))


def _json(name: str, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{name}: is not JSON: {error}") from None
    known = {"stations", "connections"}
    if (
        not isinstance(found, dict)
        or not known & found.keys()
        or not all(isinstance(found.get(key, []), list) for key in known)
    ):
        raise ValueError(f'{name}: JSON with "stations" and "connections", a list each, is needed; see docs/twin.md')
    for number, one in enumerate(found.get("stations", [])):
        if not isinstance(one, dict) or "address" not in one:
            raise ValueError(f'{name}: stations[{number}]: has no "address"')
        found["stations"][number] = {key: str(value) for key, value in one.items()}
    for number, one in enumerate(found.get("connections", [])):
        if not isinstance(one, dict) or not isinstance(one.get("peer"), str):
            raise ValueError(f'{name}: connections[{number}]: has no "peer"')
    return found


def _iw(text: str) -> Iterable[dict[str, str]]:
    """The stations of a dump."""
    current: dict[str, str] | None = None
    for line in text.splitlines():
        if head := STATION.match(line):
            if current:
                yield current
            current = {"address": head[1].lower(), "device": head[2]}
        elif current is not None and (pair := FIELD.match(line)):
            current.setdefault(pair[1].strip(), pair[2].strip())
    if current:
        yield current


def _ss(text: str) -> Iterable[dict[str, Any]]:
    """The connections of `ss -ti`: a line with the ends, and one with what TCP knows."""
    head: re.Match[str] | None = None
    for line in text.splitlines():
        if found := SS_HEAD.match(line):
            head = found
            continue
        if head is None or not line.startswith(("\t", " ")):
            continue
        words = line.split()
        one: dict[str, Any] = {
            "local": head[1],
            "peer": head[2],
            "congestion_control": words[0] if words and ":" not in words[0] else None,
        }
        one |= dict(SS_PAIR.findall(line))
        one |= {name: float(value) * SCALES[scale] for name, value, scale in SS_RATE.findall(line)}
        one["app_limited"] = "app_limited" in words
        yield one
        head = None


def _latest(connections: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """Each connection once, in its last state; connections of a host with itself use no air and are left out."""
    return {(one["local"], one["peer"]): one for one in connections if not LOOPBACK.match(one["peer"])}.values()


def seen_live(live: Live) -> Seen:
    """The observation, as far as the output has it."""
    of_station = live.is_of_station
    names = [safe_name(one["address"].replace(":", "-")) for one in live.associations]
    stations = {"sta": AP} if of_station else dict.fromkeys(names, AP)
    links: dict[tuple[str, str], Link] = {}
    lengths = [1.0]
    for one, name in zip(live.associations, names, strict=True):
        station = "sta" if of_station else name
        own, other = ((station, AP), (AP, station)) if of_station else ((AP, station), (station, AP))
        packets, retries = _count(one, "tx packets"), _count(one, "tx retries")
        lengths.append(float(_count(one, "connected time")))
        received = _count(one, "rx packets")
        for ends, key, attempts, failed in (
            (own, "tx bitrate", packets + retries, retries),
            (other, "rx bitrate", received, 0),
        ):
            mode = mode_of(one[key], attempts, failed, one["address"]) if key in one else None
            if mode is not None:
                # A receiver does not count what did not arrive.
                links[ends] = _link(ends, mode, key == "tx bitrate" and "tx retries" in one)
    if not links:
        raise ValueError(
            f'{", ".join(live.sources)}: no "tx bitrate" and no "rx bitrate" of any station: nothing tells how it sends'
        )
    length_s = min(max(lengths), LONGEST_S)
    flows = tuple(
        flow
        for number, one in enumerate(live.connections)
        for flow in _flows(one, number, stations, of_station, length_s)
    )
    return Seen(", ".join(live.sources), length_s, (), (AP,), stations, links, flows, None, {}, 0.0, notes=NOTES)


def _count(one: Mapping[str, str], key: str) -> int:
    found = re.match(r"\d+", one.get(key, ""))
    return int(found[0]) if found else 0


def mode_of(text: str, attempts: int, failed: int, whose: str) -> Mode | None:
    """The mode that `iw` calls e.g. "866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2"; None for "(unknown)"."""
    found = BITRATE.match(text)
    if not found:
        if "unknown" in text:
            return None
        raise ValueError(f'{whose}: {text!r} is not a bitrate as iw prints it, such as "866.7 MBit/s VHT-MCS 9 80MHz"')
    mbps, rest = float(found[1]), found[2]
    mcs, streams, width = MCS.search(rest), STREAMS.search(rest), WIDTH.search(rest)
    guard = 400 if "short GI" in rest else 800
    kind = {"VHT": "vht", "HE": "he"}.get(mcs[1] or "", "ht") if mcs else ("dsss" if mbps in DSSS_MBPS else "ofdm")
    if he := re.search(r"HE-GI (\d)", rest):
        guard = HE_GUARD.get(he[1], 800)
    index = int(mcs[2]) if mcs else None
    count = int(streams[1]) if streams else (index // 8 + 1 if kind == "ht" and index is not None else 1)
    is_2_4_ghz = kind == "dsss"
    rate = round(mbps * 1e6)
    return Mode(
        text,
        kind,
        is_2_4_ghz,
        index,
        count,
        int(width[1]) if width else 20,
        guard,
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


def _link(ends: tuple[str, str], mode: Mode, tells_losses: bool) -> Link:
    # A-MPDUs and TXOPs are not reported: these are the defaults of the standard.
    return Link(*ends, (mode,), (2, 0), (0, 0), 0.0, 1, 0, None, 0, 0, 0, 0.1, (), tells_losses)


def _flows(
    one: Mapping[str, Any], number: int, stations: Mapping[str, str], of_station: bool, length_s: float
) -> Iterable[Flow]:
    """The flow of a connection; None if it moved little."""
    sent, received = (int(float(one.get(key, 0) or 0)) for key in ("bytes_acked", "bytes_received"))
    if max(sent, received) < 100 * PACKET_BYTES:
        return
    direction = "up" if (sent >= received) == of_station else "down"
    # Only an address of the station itself shows whose connection it is; several take turns.
    station = list(stations)[number % len(stations)]
    mss = int(float(one.get("mss", 1448)))
    least = _seconds(one.get("minrtt"))
    rtt = _seconds(str(one.get("rtt", "")).partition("/")[0])
    turnaround = {0.0: least, 0.5: rtt, 0.95: rtt, 0.99: rtt}
    rate = float(one.get("delivery_rate", 0.0)) if sent >= received else 0.0
    size = round(rate * length_s / 8) or max(sent, received)
    packets = max(1, size // mss)
    yield Flow(
        f"{station}.{direction}" + (f".{number + 1}" if number else ""),
        station,
        direction,
        "tcp",
        8 * size / length_s,
        rtt,
        False,
        None,
        0.0,
        length_s,
        packets,
        size,
        mss,
        0.0,
        "ts" in one or mss % 1460 == 1448,
        True,
        0,
        packets // 2,
        packets,
        None,
        100 if least is not None else 0,
        turnaround,
    )


def _seconds(text: Any) -> float | None:
    """Milliseconds, as `ss` has them, in seconds."""
    try:
        return float(text) / 1e3
    except (TypeError, ValueError):
        return None
