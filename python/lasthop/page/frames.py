"""The details of one PPDU, or of one packet, for a click."""

from __future__ import annotations

from typing import Any

import numpy as np

from .air import USERS, Air
from .curves import SEGMENT, quic_of, segments_of
from .recorded import KINDS, LOSSES, NOBODY, Recorded, between

HELD = ("ppdu", "up", "packet", "packets", "decoded")
CARRIES = (*HELD, "flow", "data_bytes", "ack_bytes")
RATE = ("t_ns", "link", "rate_bps", "down", "after")
DROP = ("t_ns", "node", "layer", "reason", "up", "packet")
BACKOFF = ("t_ns", "function", "slots", "cw")
# Maximum length of a list that a click opens.
MOST = 100


def ppdu_facts(recorded: Recorded, air: Air, ppdu: int) -> dict[str, Any]:
    """Details of a PPDU: type, contents, overlapping PPDUs, cause of loss, retransmission."""
    row = air.row_of(ppdu)
    facts = _brief(recorded, air, row)
    columns = air.columns
    end = facts["start_ns"] + facts["duration_ns"]
    facts |= {
        name: _number(columns[name][row]) for name in ("mcs", "nss", "gi_ns", "width_mhz", "bytes", "nav_ns", "retried")
    }
    facts["initiator"] = _name(recorded, columns["initiator"][row])
    facts["link"] = _of(recorded.links, columns["link"][row])
    facts |= {name: _number(columns[name][row]) for name in USERS}
    users = _users(air, row)
    facts["users"] = [_brief(recorded, air, other) | _tones(air, other) for other in users]
    others = [other for other in air.within(facts["start_ns"], end) if other != row and other not in users]
    others = [other for other in others if columns["channel"][other] == columns["channel"][row]]
    facts["overlapped"] = [_brief(recorded, air, other) for other in others[:MOST]]
    facts["exchange"] = [_brief(recorded, air, other) for other in _exchange(air, row)]
    facts["contents"] = contents_of(recorded, ppdu)
    facts["backoff"] = _backoff_before(recorded, int(columns["node"][row]), facts["start_ns"])
    facts["rate_after"] = _rate_after(recorded, int(columns["link"][row]), end)
    facts["next"] = _next_of_link(recorded, air, row)
    facts["why"] = _why(facts)
    return facts


def _brief(recorded: Recorded, air: Air, row: int) -> dict[str, Any]:
    columns = air.columns
    return {
        "ppdu": int(columns["ppdu"][row]),
        "start_ns": int(columns["start_ns"][row]),
        "duration_ns": int(columns["duration_ns"][row]),
        "node": _name(recorded, columns["node"][row]),
        "to": _name(recorded, columns["to"][row]),
        "channel": int(columns["channel"][row]),
        "kind": KINDS[columns["kind"][row]],
        "rate_bps": int(columns["rate_bps"][row]),
        "mpdus": int(columns["mpdus"][row]),
        "decoded": _number(columns["decoded"][row]),
        "lost_to": _of(LOSSES, columns["lost_to"][row]),
    }


def _exchange(air: Air, row: int) -> np.ndarray:
    """The PPDUs of the same exchange, which are close to one another."""
    number = air.columns["exchange"][row]
    near = np.arange(max(0, row - 4 * MOST), min(len(air), row + 4 * MOST))
    exchange: np.ndarray = near[air.columns["exchange"][near] == number][:MOST]
    return exchange


def _users(air: Air, row: int) -> list[int]:
    """The parts of the same PPDU of several users, or of PPDUs that one trigger asked for; empty for a PPDU of one user."""
    columns = air.columns
    if _number(columns["ru_tones"][row]) is None:
        return []
    same = [other for other in _exchange(air, row).tolist() if columns["start_ns"][other] == columns["start_ns"][row]]
    return [other for other in same if _number(columns["ru_tones"][other]) is not None] if len(same) > 1 else []


def _tones(air: Air, row: int) -> dict[str, int | None]:
    return {name: _number(air.columns[name][row]) for name in USERS}


def contents_of(recorded: Recorded, ppdu: int) -> list[dict[str, Any]] | None:
    """The packets of a PPDU, in runs; None if these were not recorded."""
    if not recorded.has("carries"):
        return None
    carries = recorded.cached(("carries",), lambda: recorded.rows("carries", CARRIES))
    held = between(carries["ppdu"], ppdu, ppdu + 1)
    return [
        {
            "flow": recorded.flows[carries["flow"][at]].name,
            "flow_number": int(carries["flow"][at]),
            "up": bool(carries["up"][at]),
            "decoded": bool(carries["decoded"][at]),
            **{name: int(carries[name][at]) for name in ("packet", "packets", "data_bytes", "ack_bytes")},
        }
        for at in range(held.start, min(held.stop, held.start + MOST))
    ]


def _backoff_before(recorded: Recorded, node: int, start_ns: int) -> dict[str, Any] | None:
    """The last backoff that a node drew before a moment."""
    if not recorded.has("backoff"):
        return None
    rows = recorded.rows_of("backoff", "node", node, BACKOFF)
    at = int(np.searchsorted(rows["t_ns"], start_ns, side="right")) - 1
    # For a node that draws for several functions, the function of a PPDU is unknown.
    return (
        None
        if at < 0 or np.any(rows["function"] != rows["function"][at])
        else {name: int(rows[name][at]) for name in ("t_ns", "function", "slots", "cw")}
    )


def _rate_after(recorded: Recorded, link: int, end_ns: int) -> dict[str, Any] | None:
    """Returns the next decision of a link's rate control."""
    if not recorded.has("rate") or link == NOBODY:
        return None
    rows = recorded.cached(("rate",), lambda: recorded.rows("rate", RATE))
    of_link = np.nonzero(rows["link"] == link)[0]
    at = int(np.searchsorted(rows["t_ns"][of_link], end_ns, side="left"))
    if at == len(of_link):
        return None
    row = of_link[at]
    after = recorded.words("rate", "after")[rows["after"][row]]
    return {
        "t_ns": int(rows["t_ns"][row]),
        "rate_bps": int(rows["rate_bps"][row]),
        "down": bool(rows["down"][row]),
        "after": after,
    }


def _next_of_link(recorded: Recorded, air: Air, row: int) -> dict[str, Any] | None:
    """The next data PPDU of the same sender to the same receiver."""
    columns = air.columns
    node, to = columns["node"], columns["to"]
    first, length = row + 1, 256
    while first < len(air):
        part = slice(first, first + length)
        rows = np.nonzero((node[part] == node[row]) & (to[part] == to[row]) & air.is_data[part])[0]
        if len(rows):
            return _brief(recorded, air, first + int(rows[0]))
        first, length = first + length, length * 8
    return None


def _why(facts: dict[str, Any]) -> str:
    """A sentence on the outcome of a PPDU."""
    if facts["decoded"] is None:
        return "The recording ends before it does."
    lost = facts["mpdus"] - facts["decoded"]
    if not lost or facts["lost_to"] is None:
        return f"{facts['to']} decoded it." if facts["to"] else "It had no single receiver."
    what = "It was lost" if facts["mpdus"] == 1 else f"{lost} of its {facts['mpdus']} MPDUs were lost"
    if facts["lost_to"] == "noise":
        return (
            f"{what} to noise: no other frame overlapped the first of them, and its signal was too weak for its rate."
        )
    if facts["lost_to"] == "interferer":
        return f"{what} to an interferer, which is not of 802.11."
    names = sorted({other["node"] for other in facts["overlapped"]})
    among = f"; on the air with it: {', '.join(names[:8])}" if names else ""
    if facts["lost_to"] == "interference":
        return f"{what} to interference, from senders that {facts['node']} did not hear{among}."
    began = [other["start_ns"] - facts["start_ns"] for other in facts["overlapped"]]
    late = f"; the last of them began {max(began) / 1000:.0f} µs after it" if began and max(began) > 9000 else ""
    return f"{what} to a collision{among}{late}."


def packet_facts(recorded: Recorded, air: Air, flow: int, up: bool, packet: int) -> dict[str, Any]:
    """The path of a packet: its segments at both hosts, each PPDU that carried it, and its drops."""
    if not 0 <= flow < len(recorded.flows):
        raise LookupError(f"flow {flow}: there is no such flow")
    facts: dict[str, Any] = {"flow": recorded.flows[flow].name, "flow_number": flow, "up": up, "packet": packet}
    facts["segments"] = _segments(recorded, flow, up, packet) if recorded.has("segment") else []
    if recorded.flows[flow].transport == "quic" and recorded.has("quic"):
        facts["quic"] = _quic(recorded, flow, up, packet)
    facts["ppdus"] = [
        {**_brief(recorded, air, air.row_of(int(ppdu))), "packet_decoded": decoded}
        for ppdu, decoded in holders(recorded, flow, up, packet)
    ]
    facts["drops"] = _drops(recorded, flow, up, packet)
    return facts


def holders(recorded: Recorded, flow: int, up: bool, packet: int) -> list[tuple[int, bool]]:
    """Every PPDU that carried a packet, and whether the packet was decoded in it."""
    if not recorded.has("carries"):
        return []
    rows = recorded.cached(("held", flow, up), lambda: _by_packet(recorded.rows_of("carries", "flow", flow, HELD), up))
    near = between(rows["packet"], packet - int(rows["packets"].max(initial=0)) + 1, packet + 1)
    held = rows["packet"][near].astype(np.int64) + rows["packets"][near] > packet
    carriers = zip(rows["ppdu"][near][held].tolist(), rows["decoded"][near][held].tolist(), strict=True)
    return sorted(carriers)[:MOST]


def _by_packet(rows: dict[str, np.ndarray], up: bool) -> dict[str, np.ndarray]:
    """Runs of packets of one direction in order of their first."""
    chosen = np.nonzero(rows["up"] == up)[0]
    order = chosen[np.argsort(rows["packet"][chosen], kind="stable")]
    return {name: rows[name][order] for name in ("ppdu", "packet", "packets", "decoded")}


def _segments(recorded: Recorded, flow: int, up: bool, packet: int) -> list[dict[str, Any]]:
    rows = segments_of(recorded, flow)
    hosts = recorded.words("segment", "host")
    order, packets = recorded.cached(("packets", flow, up), lambda: _segments_by_packet(recorded, flow, up))
    this = order[between(packets, packet, packet + 1)]
    return [
        {
            "t_ns": int(rows["t_ns"][at]),
            "host": hosts[rows["host"][at]],
            "sent": bool(rows["sent"][at]),
            "again": bool(rows["again"][at]),
            **{name: int(rows[name][at]) for name in SEGMENT if name in ("connection", "seq", "ack", "len", "flags")},
        }
        for at in this[:MOST]
    ]


def _quic(recorded: Recorded, flow: int, up: bool, packet: int) -> list[dict[str, Any]]:
    """The QUIC packets of an IP packet at both hosts: `t_ns`, `host`, `sent`, `space`, `number`, `bytes`, `frames` as texts."""
    rows = quic_of(recorded, flow)
    words = {name: recorded.words("quic", name) for name in ("host", "event", "space", "frame")}
    found: dict[tuple[int, ...], dict[str, Any]] = {}
    for at in np.nonzero((rows["packet"] == packet) & (rows["up"] == up))[0]:
        key = tuple(int(rows[name][at]) for name in ("t_ns", "host", "space", "number"))
        told = found.setdefault(
            key,
            {
                "t_ns": key[0],
                "host": words["host"][key[1]],
                "sent": words["event"][rows["event"][at]] == "sent",
                "space": words["space"][key[2]],
                "number": key[3],
                "bytes": int(rows["bytes"][at]),
                "frames": [],
            },
        )
        told["frames"].append(_frame_text(rows, int(at), words["frame"][rows["frame"][at]]))
    return list(found.values())[:MOST]


def _frame_text(rows: dict[str, np.ndarray], at: int, kind: str) -> str:
    first, last, offset, length = (int(rows[name][at]) for name in ("acked_first", "acked_last", "offset", "len"))
    if kind == "ack":
        return f"ack {first}" if first == last else f"ack {first} to {last}"
    if kind in ("stream", "crypto"):
        name = f"stream {int(rows['stream'][at])}" if kind == "stream" else kind
        return f"{name}, bytes {offset} to {offset + length}"
    return kind.replace("_", " ")


def _segments_by_packet(recorded: Recorded, flow: int, up: bool) -> tuple[np.ndarray, np.ndarray]:
    """The rows of segments in one direction, in order of their packets, and these packets."""
    rows = segments_of(recorded, flow)
    hosts = recorded.words("segment", "host")
    at_station = rows["host"] == hosts.index("station") if "station" in hosts else np.zeros(len(rows["host"]), bool)
    chosen = np.nonzero((at_station == rows["sent"]) == up)[0]
    order = chosen[np.argsort(rows["packet"][chosen], kind="stable")]
    return order, rows["packet"][order]


def _drops(recorded: Recorded, flow: int, up: bool, packet: int) -> list[dict[str, Any]]:
    if not recorded.has("drop"):
        return []
    rows = recorded.rows_of("drop", "flow", flow, DROP)
    this = np.nonzero((rows["packet"] == packet) & (rows["up"] == up))[0]
    return [
        {
            "t_ns": int(rows["t_ns"][at]),
            "node": _name(recorded, rows["node"][at]),
            "layer": recorded.words("drop", "layer")[rows["layer"][at]],
            "reason": recorded.words("drop", "reason")[rows["reason"][at]],
        }
        for at in this[:MOST]
    ]


def _name(recorded: Recorded, number: int) -> str | None:
    return None if number == NOBODY else recorded.nodes[number].name


def _of(words: Any, number: int) -> str | None:
    return words[number] if number < len(words) else None


def _number(value: Any) -> int | None:
    """A count, None for a missing one."""
    return None if value == np.iinfo(value.dtype).max else int(value)
