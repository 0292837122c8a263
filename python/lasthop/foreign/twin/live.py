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

from ..testbed.ss_log import Socket, latest, looks_like_ss
from . import iw
from .observation import Flow, Link, Mode, Seen, safe_name

LOOPBACK = re.compile(r"127\.|\[?::1\]?:\d+$|\[?::ffff:127\.")
PACKET_BYTES = 1500
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
        """Whether a station printed it."""
        return any(iw.is_of_station(one) for one in self.associations)

    @property
    def congestion_control(self) -> str | None:
        """The congestion control of most connections."""
        names = [one["congestion_control"] for one in self.connections if one.get("congestion_control")]
        return max(sorted(set(names)), key=names.count) if names else None


def is_live(text: str) -> bool:
    """Whether a text is what `iw` or `ss` print, or JSON with as much."""
    if text.lstrip().startswith("{"):
        return True
    lines = text.splitlines()[:50]
    return any(iw.STATION.match(line) or iw.CONNECTED.match(line) for line in lines) or looks_like_ss(text)


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
            associations += iw.associations(text)
            connections += (_connection(one) for one in latest(text) if not LOOPBACK.match(one.remote))
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


def _connection(socket: Socket) -> dict[str, Any]:
    """The last sample of a socket, by the names of `ss`, times in milliseconds."""
    numbers = socket.samples[-1].numbers
    one: dict[str, Any] = {
        "local": socket.local,
        "peer": socket.remote,
        "congestion_control": socket.congestion_control,
    }
    one |= {key: value for key, value in numbers.items() if not key.endswith("_s")}
    one |= {
        name: 1e3 * numbers[key] for name, key in (("rtt", "rtt_smoothed_s"), ("minrtt", "minrtt_s")) if key in numbers
    }
    return one


def seen_live(live: Live) -> Seen:
    """The observation, as far as the output has it."""
    of_station = live.is_of_station
    names = [safe_name(one["address"].replace(":", "-")) for one in live.associations]
    stations = {"sta": AP} if of_station else dict.fromkeys(names, AP)
    links: dict[tuple[str, str], Link] = {}
    notes = list(NOTES)
    lengths = [1.0]
    for one, name in zip(live.associations, names, strict=True):
        station = "sta" if of_station else name
        own, other = ((station, AP), (AP, station)) if of_station else ((AP, station), (station, AP))
        lengths.append(float(iw.number(one, "connected time")))
        found, said = _modes(one)
        notes += said
        for ends, key in ((own, "tx bitrate"), (other, "rx bitrate")):
            if (mode := found.get(key)) is not None:
                # A receiver does not count frames that did not arrive.
                links[ends] = _link(ends, mode, key == "tx bitrate" and iw.counts_of(one).retries is not None)
    if not links:
        raise ValueError(
            f'{", ".join(live.sources)}: no "tx bitrate" and no "rx bitrate" of any station: its modes are unknown'
        )
    length_s = min(max(lengths), LONGEST_S)
    flows = tuple(
        flow
        for number, one in enumerate(live.connections)
        for flow in _flows(one, number, stations, of_station, length_s)
    )
    return Seen(
        ", ".join(live.sources),
        length_s,
        (),
        (AP,),
        stations,
        links,
        flows,
        None,
        {},
        0.0,
        notes=tuple(notes),
        is_of_hosts=True,
    )


def _modes(one: Mapping[str, str]) -> tuple[dict[str, Mode], list[str]]:
    """The mode of each bitrate of an association, and notes.

    The latest rate may belong to a control or null frame, or to a resource unit; then the mode of the other direction is assumed.
    """
    counts, notes = iw.counts_of(one), [note for note in [iw.doubt(one)] if note]
    retries = counts.retries or 0
    outcomes = {"tx bitrate": (counts.sent + retries, retries), "rx bitrate": (counts.received, 0)}
    texts = {key: one[key] for key in outcomes if key in one}
    has_mcs = {key for key, text in texts.items() if iw.MCS.search(text) and not iw.is_resource_unit(text)}
    modes: dict[str, Mode] = {}
    for key, text in texts.items():
        source = text
        if key not in has_mcs and has_mcs and (iw.is_legacy(text) or iw.is_resource_unit(text)):
            (other,) = has_mcs
            source = texts[other]
            frame = "a resource unit" if iw.is_resource_unit(text) else "a control or null frame"
            notes.append(
                f"{one['address']}: its latest {key}, {text}, is of {frame}; the mode of the {other} is assumed"
            )
        mode = iw.mode_of(source, *outcomes[key], one["address"])
        if mode is not None:
            modes[key] = mode
    return modes, notes


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
        1 if least is not None else 0,
        turnaround,
    )


def _seconds(text: Any) -> float | None:
    """Milliseconds, as `ss` has them, in seconds."""
    try:
        return float(text) / 1e3
    except (TypeError, ValueError):
        return None
