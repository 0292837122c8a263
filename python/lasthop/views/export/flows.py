"""The TCP and QUIC flows of a run with the settings that an export needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from ...data.runs import Run

# Bytes of IPv4 and TCP headers without options, and of the timestamps option of segments other than a SYN.
HEADERS, TIMESTAMPS = 40, 12
# Of the option of accurate ECN, filled up to whole words, in every segment without SACK.
ACCECN = 12


class TcpFlow(NamedTuple):
    """A TCP flow; bytes are counted on the wire."""

    id: str
    station: str
    # The host of the data: station or server.
    sender: str
    # Payload of a full segment, in which windows are counted.
    payload_bytes: int
    timestamps_bytes: int
    syn_option_bytes: int
    options_on_wire: bool
    # qlog's name for the rule by which fast recovery declares a loss.
    loss_trigger: str
    protocol: str = "TCP"

    def packet_bytes(self, payload: int, is_syn: int, sack_blocks: int) -> int:
        """Length of the IP packet of a segment."""
        if is_syn:
            return HEADERS + self.syn_option_bytes + payload
        sack = 4 + 8 * sack_blocks if sack_blocks and self.options_on_wire else 0
        return HEADERS + self.timestamps_bytes + sack + payload


class QuicFlow(NamedTuple):
    """A QUIC flow."""

    id: str
    station: str
    # The host of the data: station or server.
    sender: str
    # Payload of a full datagram, in which its windows are counted.
    payload_bytes: int
    protocol: str = "QUIC"


def logged_flows(scenario: Mapping[str, Any], run: Run) -> dict[str, TcpFlow | QuicFlow]:
    """The flows of `run` that qlog has, by id: those over TCP and QUIC."""
    ids, stations, directions, transports = run.columns("flows", ["id", "station", "direction", "transport"])
    sections = _sections_of_flows(scenario, run)
    rows = zip(ids, stations, directions, transports, sections, strict=False)
    over_quic = {
        id_: QuicFlow(id_, station, "station" if direction == "up" else "server", _bytes(section["datagram"]))
        for id_, station, direction, transport, section in rows
        if transport == "quic"
    }
    return {**tcp_flows(scenario, run), **over_quic}


def tcp_flows(scenario: Mapping[str, Any], run: Run) -> dict[str, TcpFlow]:
    """The TCP flows of `run` by id. Flows are in the order of the sections of `scenario`, the resolved one."""
    ids, stations, directions, transports = run.columns("flows", ["id", "station", "direction", "transport"])
    sections = _sections_of_flows(scenario, run)
    if len(sections) != len(ids):
        raise ValueError(f"{len(ids)} flows, but the scenario describes {len(sections)}")
    rows = zip(ids, stations, directions, transports, sections, strict=True)
    return {
        id_: _flow(id_, station, direction, section)
        for id_, station, direction, transport, section in rows
        if transport == "tcp"
    }


def _sections_of_flows(scenario: Mapping[str, Any], run: Run) -> list[Mapping[str, Any]]:
    """The section of each flow, in order: by section, station, direction, then number."""
    (names,), (aps,) = run.columns("nodes", ["name"]), run.columns("wires", ["ap"])
    stations = [name for name in names if name not in set(aps)]
    sections = []
    for section in scenario["flow"]:
        patterns = section["station"] if isinstance(section["station"], list) else [section["station"]]
        matching = sum(fnmatchcase(name, pattern) for pattern in patterns for name in stations)
        sections += [section] * (matching * section["count"] * (2 if section["direction"] == "both" else 1))
    return sections


def _flow(id_: str, station: str, direction: str, section: Mapping[str, Any]) -> TcpFlow:
    on_wire = section["options_on_wire"]
    timestamps = TIMESTAMPS if section["timestamps"] and on_wire else 0
    # On a SYN: MSS, window scale, SACK permitted and timestamps, filled up to whole words.
    syn = 4 + 3 * section["window_scaling"] + 2 * section["sack"] + 10 * section["timestamps"]
    mss = section.get("mss")
    counts = section["ecn"] == "accurate" and section.get("accecn_option") in ("full", "persist")
    payload = _bytes(mss) if mss is not None else _bytes(section["packet_size"]) - HEADERS - timestamps
    return TcpFlow(
        id_,
        station,
        "station" if direction == "up" else "server",
        payload - ACCECN * counts,
        timestamps,
        (syn + 3) // 4 * 4 if on_wire else 0,
        on_wire,
        "time_threshold" if section["loss_detection"] == "rack" else "reordering_threshold",
    )


def captured_flows(run: Run) -> dict[str, TcpFlow]:
    """The TCP flows of captures by id, sized by their segments. A capture does not keep the options of SYNs: a current
    stack's are assumed.
    """
    rows = zip(run["flows"], run["capture"]["flows"], strict=True)
    return {flow["id"]: _captured(flow, captured) for flow, captured in rows if flow["transport"] == "tcp"}


def _captured(flow: Mapping[str, Any], captured: Mapping[str, Any]) -> TcpFlow:
    timestamps = TIMESTAMPS if captured["timestamps"] else 0
    # On a SYN: MSS, window scale, SACK permitted and time stamps, in whole words.
    syn = 4 + 3 + 2 + (10 if timestamps else 0)
    return TcpFlow(
        flow["id"],
        flow["station"],
        "station" if flow["direction"] == "up" else "server",
        captured["segment_bytes"],
        timestamps,
        (syn + 3) // 4 * 4,
        True,
        # A capture does not show how its sender finds losses; current ones use RACK.
        "time_threshold",
    )


def _bytes(text: str) -> int:
    """A size in a resolved scenario, such as `1500 B`."""
    match = re.fullmatch(r"(\d+) B", text)
    if match is None:
        raise ValueError(f"{text!r} is not a number of bytes")
    return int(match[1])
