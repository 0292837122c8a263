"""Texts of a station or an AP: what `iw`, `ss`, `tc`, `ethtool` and Minstrel print, in any order and file, or the same as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...data.foreign_text import Unreadable, parsed_json
from ..testbed.ss_log import Socket, latest
from . import iw, reports
from .minstrel import Rates, rates_of
from .nic import Nic, nic_of
from .queues import Qdisc, looks_like_json, of_json, qdiscs
from .survey import Survey, surveys

DEVICE = re.compile(r"phy\d+(?:\.\d+)?|[^-_.]+")
LOOPBACK = re.compile(r"127\.|\[?::1\]?:\d+$|\[?::ffff:127\.")


@dataclass(frozen=True)
class Live:
    """The reports: associations, and connections."""

    associations: tuple[Mapping[str, str], ...]
    """as `iw` has them, with "address" and "device" """
    connections: tuple[Mapping[str, Any], ...]
    """as `ss` has them, with "local", "peer" and "congestion_control" """
    sources: tuple[str, ...] = field(default=())
    queues: tuple[Qdisc, ...] = ()
    surveys: tuple[Survey, ...] = ()
    rates: tuple[Rates, ...] = ()
    nics: tuple[Nic, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_of_station(self) -> bool:
        """Whether a station printed it."""
        return any(iw.is_of_station(one) for one in self.associations)

    @property
    def devices(self) -> list[str]:
        """The wireless devices of the associations."""
        return list(dict.fromkeys(one["device"] for one in self.associations if "device" in one))

    @property
    def congestion_control(self) -> str | None:
        """The congestion control of most connections."""
        names = [one["congestion_control"] for one in self.connections if one.get("congestion_control")]
        return max(sorted(set(names)), key=names.count) if names else None


def is_live(text: str) -> bool:
    """Whether a text is what these commands print, or JSON with as much."""
    return text.lstrip().startswith("{") or looks_like_json(text) or reports.has_report(text)


def read_live(texts: Mapping[str, str], needs_station: bool = True) -> Live:
    """Reads texts by their names; raises `ValueError` with place and remedy."""
    parts: dict[str, list[Any]] = {
        "associations": [],
        "connections": [],
        "queues": [],
        "surveys": [],
        "rates": [],
        "nics": [],
    }
    for name, text in texts.items():
        found = _read(name, text)
        for key, values in found.items():
            parts[key] += [{"source": name, **one} for one in values] if key == "associations" else values
    if not parts["associations"] and needs_station:
        raise ValueError(f"{', '.join(texts)}: no station: give also what `iw dev wlan0 station dump` prints")
    associations, notes = _of_one_radio(_latest(parts["associations"]))
    # Of counters at several times the last ones count.
    parts["nics"] = list({nic.device or str(number): nic for number, nic in enumerate(parts["nics"])}.values())
    parts["associations"] = _with_retries(associations, parts["nics"])
    return Live(sources=tuple(texts), notes=notes, **{key: tuple(values) for key, values in parts.items()})


def _latest(associations: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """The associations, each once: of several dumps the last. A station has one at a time, in which `iw link` has fields of its own."""
    found: dict[tuple[str | None, str], Mapping[str, str]] = {}
    for one in associations:
        is_of_station, address = iw.is_of_station(one), one["address"].lower()
        key = one.get("device"), "" if is_of_station else address
        before = found.get(key, one)
        found[key] = {**before, **one} if is_of_station and before["address"].lower() == address else one
    return list(found.values())


def _of_one_radio(associations: list[Mapping[str, str]]) -> tuple[list[Mapping[str, str]], tuple[str, ...]]:
    """The associations of the radio with most packets, and a note on the others, which are on other channels.

    A repeater is a station and an AP, so these are apart too.
    """
    by_radio: dict[tuple[str, bool], list[Mapping[str, str]]] = {}
    for one in associations:
        is_of_station = iw.is_of_station(one) or one.get("TDLS peer") == "yes"
        by_radio.setdefault((_radio(one.get("device", "")), is_of_station), []).append(one)
    main = max(by_radio.values(), key=lambda each: sum(map(iw.packets, each)), default=[])
    others = [one for each in by_radio.values() if each is not main for one in each]
    if not others:
        return associations, ()
    names = ", ".join(dict.fromkeys(one.get("device", "") for one in others))
    where = main[0].get("device", "")
    return main, (
        f"{names}: another radio or AP than {where}, so {len(others)} associations are left out; make a twin of each",
    )


def _radio(device: str) -> str:
    """The radio of a device, which has several for several networks: `phy1` of `phy1-ap0`, `wlan0` of `wlan0-1`."""
    found = DEVICE.match(device)
    return found[0] if found else device


def _read(name: str, text: str) -> dict[str, Any]:
    if looks_like_json(text):
        return {"queues": of_json(parsed_json(name, text, "give what `tc -s -j qdisc` prints"))}
    return _json(name, text) if text.lstrip().startswith("{") else _of_reports(name, text)


def _of_reports(name: str, text: str) -> dict[str, list[Any]]:
    every = reports.reports(text)
    try:
        sockets = [one for report in reports.of_kind(every, reports.SS) for one in latest(report.lines)]
    except Unreadable as error:
        raise ValueError(f"{name}: {error}") from None
    return {
        "associations": [one for report in reports.of_kind(every, reports.IW) for one in iw.associations(report.lines)],
        "connections": [_connection(one) for one in sockets if not LOOPBACK.match(one.remote)],
        "queues": [one for report in reports.of_kind(every, reports.TC) for one in qdiscs(report.lines)],
        "surveys": [one for report in reports.of_kind(every, reports.SURVEY) for one in surveys(report.lines)],
        "rates": [rates_of(report.context, report.lines) for report in reports.of_kind(every, reports.RATES)],
        "nics": [nic_of(report.context, report.lines) for report in reports.of_kind(every, reports.NIC)],
    }


def _with_retries(associations: Sequence[Mapping[str, str]], nics: Sequence[Nic]) -> list[Mapping[str, str]]:
    """The associations, where a single one without retries has those of its device: mac80211 sums them over all stations."""
    retries = [nic.retries for nic in nics if nic.retries is not None]
    if len(associations) != 1 or len(retries) != 1 or "tx retries" in associations[0]:
        return list(associations)
    return [{**associations[0], "tx retries": str(retries[0]), "retries of": "ethtool"}]


def _json(name: str, text: str) -> dict[str, Any]:
    found = parsed_json(name, text, "see docs/twin.md for its form")
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
    return {"associations": found.get("stations", []), "connections": found.get("connections", [])}


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
        name: 1e3 * numbers[key]
        for name, key in (("rtt", "rtt_smoothed_s"), ("minrtt", "minrtt_s"), ("busy", "busy_s"))
        if key in numbers
    }
    return one
