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
from .queues import Qdisc, qdiscs
from .survey import Survey, surveys

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
    return text.lstrip().startswith("{") or reports.has_report(text)


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
        found = _json(name, text) if text.lstrip().startswith("{") else _of_reports(name, text)
        for key, values in found.items():
            parts[key] += [{"source": name, **one} for one in values] if key == "associations" else values
    if not parts["associations"] and needs_station:
        raise ValueError(f"{', '.join(texts)}: no station: give also what `iw dev wlan0 station dump` prints")
    parts["associations"] = _with_retries(parts["associations"], parts["nics"])
    return Live(sources=tuple(texts), **{key: tuple(values) for key, values in parts.items()})


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
        name: 1e3 * numbers[key] for name, key in (("rtt", "rtt_smoothed_s"), ("minrtt", "minrtt_s")) if key in numbers
    }
    return one
