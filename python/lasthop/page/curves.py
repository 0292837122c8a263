"""Curves over time in tiles: each value if there are few, else the least, the greatest and the last of each bin."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .air import BINS_LOG2
from .recorded import Recorded

# Values of an exact tile of one curve.
EXACT = 700
SEGMENT = (
    "t_ns",
    "connection",
    "host",
    "sent",
    "seq",
    "ack",
    "len",
    "flags",
    "sack_left",
    "sack_right",
    "again",
    "packet",
)
QUIC = (
    *("t_ns", "connection", "host", "event", "space", "number", "bytes", "packet", "up"),
    *("frame", "stream", "offset", "len", "acked_first", "acked_last"),
)
NOTHING = np.iinfo(np.uint32).max
SYN, ACK = 2, 16


class Curve(NamedTuple):
    """Values over time: `low` to `high` at each moment, equal for a line. `packet` is the number of the packet behind a
    value.
    """

    t_ns: np.ndarray
    low: np.ndarray
    high: np.ndarray
    packet: np.ndarray | None = None
    # Whether a value lasts until the next, so that the last one before a tile is needed too.
    holds: bool = True


# Curves of a chart, in the order of their numbers.
CHARTS = {
    "sequence": ("sent", "sent again", "acknowledged", "selectively acknowledged"),
    "window": ("congestion window", "slow-start threshold", "in flight"),
    "rtt": ("RTT", "RTT of the controller"),
    "queue": ("packets", "TCP ACKs"),
}
TABLE_OF = {"sequence": "segment", "window": "window", "rtt": "rtt", "queue": "queue"}


def curves_of(recorded: Recorded, chart: str, entity: int) -> list[Curve]:
    """The curves of a chart of one flow, or of the queue of one node. Raises `LookupError` for an unknown one."""
    curves = {"sequence": _sequence, "window": _window, "rtt": _rtt, "queue": _queue}.get(chart)
    if curves is None:
        raise LookupError(f"{chart}: there is no such chart; one of: {', '.join(CHARTS)}")
    if not 0 <= entity < len(recorded.nodes if chart == "queue" else recorded.flows):
        raise LookupError(f"{chart} {entity}: there is no such {'node' if chart == 'queue' else 'flow'}")
    return recorded.cached((chart, entity), lambda: curves(recorded, entity))


def tile(curves: list[Curve], begin: int, level: int) -> dict[str, np.ndarray]:
    """Rows `curve`, `t` in ns, `low`, `high`, `last`, `packet` of a tile, one curve after another."""
    pieces = [_piece(curve, begin, level) for curve in curves]
    number = np.concatenate([np.full(len(piece[0]), number, np.uint8) for number, piece in enumerate(pieces)])
    columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    names = ("t", "low", "high", "last")
    values = {name: column.astype(np.float64) for name, column in zip(names, columns, strict=False)}
    return {"curve": number, **values, "packet": columns[-1].astype(np.uint32)}


def is_exact(curves: list[Curve], begin: int, level: int) -> bool:
    """Whether a tile has every value."""
    return all(np.diff(_range(curve, begin, level))[0] <= EXACT for curve in curves)


def _range(curve: Curve, begin: int, level: int) -> np.ndarray:
    return np.searchsorted(curve.t_ns, (begin, begin + (1 << level)), side="left")


def _piece(curve: Curve, begin: int, level: int) -> tuple[np.ndarray, ...]:
    first, last = _range(curve, begin, level)
    if last - first <= EXACT:
        if curve.holds and first > 0:
            first -= 1
        packet = np.zeros(last - first) if curve.packet is None else curve.packet[first:last]
        return curve.t_ns[first:last], curve.low[first:last], curve.high[first:last], curve.high[first:last], packet
    bins = (curve.t_ns[first:last] - begin) >> (level - BINS_LOG2)
    starts = np.nonzero(np.diff(bins, prepend=-1))[0]
    low = np.minimum.reduceat(curve.low[first:last], starts)
    high = np.maximum.reduceat(curve.high[first:last], starts)
    final = curve.high[first:last][np.append(starts[1:], last - first) - 1]
    t_ns = begin + (bins[starts] << (level - BINS_LOG2))
    bins_of = (t_ns, low, high, final, np.zeros(len(starts)))
    if not curve.holds or first == 0:
        return bins_of
    before = first - 1
    value = curve.high[before]
    return tuple(
        np.concatenate(([head], column))
        for head, column in zip((curve.t_ns[before], value, value, value, 0), bins_of, strict=True)
    )


def segments_of(recorded: Recorded, flow: int) -> dict[str, np.ndarray]:
    """The segments of a flow at both hosts."""
    return recorded.rows_of("segment", "flow", flow, SEGMENT)


def _sequence(recorded: Recorded, flow: int) -> list[Curve]:
    """Sequence numbers at the host that sends the data, as tcptrace draws them; from 0 in each connection; packet numbers of QUIC."""
    if recorded.flows[flow].transport == "quic":
        return _packet_numbers(recorded, flow)
    rows = segments_of(recorded, flow)
    if not len(rows["t_ns"]):
        empty = np.zeros(0, np.int64)
        return [Curve(empty, empty, empty, empty) for _ in CHARTS["sequence"]]
    sender = recorded.words("segment", "host").index("station" if recorded.flows[flow].up else "server")
    at_sender = rows["host"] == sender
    parts = [_of_connection(rows, at_sender & (rows["connection"] == one)) for one in np.unique(rows["connection"])]
    return [_joined([part[number] for part in parts], number) for number in range(len(CHARTS["sequence"]))]


def quic_of(recorded: Recorded, flow: int) -> dict[str, np.ndarray]:
    """The frames of QUIC packets of a flow at both hosts."""
    return recorded.rows_of("quic", "flow", flow, QUIC)


def _packet_numbers(recorded: Recorded, flow: int) -> list[Curve]:
    """Packet numbers of 1-RTT packets at the host that sends the data: sent, declared lost in place of sent again, the largest that
    is acknowledged.
    """
    if not recorded.has("quic"):
        empty = np.zeros(0, np.int64)
        return [Curve(empty, empty, empty, empty) for _ in CHARTS["sequence"]]
    rows = quic_of(recorded, flow)
    of_data = rows["space"] == recorded.words("quic", "space").index("1RTT")
    at = of_data & (
        rows["host"] == recorded.words("quic", "host").index("station" if recorded.flows[flow].up else "server")
    )
    parts = [_of_quic(recorded, rows, at & (rows["connection"] == one)) for one in np.unique(rows["connection"][at])]
    return [_joined([part[number] for part in parts], number) for number in range(len(CHARTS["sequence"]))]


def _of_quic(recorded: Recorded, rows: dict[str, np.ndarray], at: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    events = recorded.words("quic", "event")
    number = rows["number"].astype(np.int64)
    t_ns, packet = rows["t_ns"], rows["packet"]

    def of(event: str) -> np.ndarray:
        return at & (rows["event"] == events.index(event)) if event in events else np.zeros(len(at), bool)

    # A packet has a row for each of its frames, one behind the other.
    first = np.append(True, number[of("sent")][1:] != number[of("sent")][:-1])[: int(of("sent").sum())]
    sent = (
        t_ns[of("sent")][first],
        number[of("sent")][first],
        number[of("sent")][first] + 1,
        packet[of("sent")][first],
    )
    lost = of("lost")
    acks = of("received") & (rows["acked_last"] != NOTHING)
    acked = np.maximum.accumulate(rows["acked_last"][acks].astype(np.int64)) + 1
    empty = np.zeros(0, np.int64)
    return [
        sent,
        (t_ns[lost], number[lost], number[lost] + 1, packet[lost]),
        (t_ns[acks], acked, acked, packet[acks]),
        (empty, empty, empty, empty),
    ]


def _of_connection(rows: dict[str, np.ndarray], at: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    """The curves of a connection at the sender of its data: `t_ns`, `low`, `high`, `packet` of segments,
    retransmissions and ACKs.
    """
    data = at & rows["sent"] & (rows["len"] > 0)
    acks = at & ~rows["sent"] & (rows["flags"] & ACK > 0) & (rows["flags"] & SYN == 0)
    base, seq = _unwrapped(rows["seq"][data])
    ack = _unwrapped(rows["ack"][acks], base)[1]
    length, again = rows["len"][data].astype(np.int64), rows["again"][data].astype(bool)
    sacked = acks & (rows["sack_left"] != NOTHING)
    left = _unwrapped(rows["sack_left"][sacked], base)[1]
    right = left + (rows["sack_right"][sacked] - rows["sack_left"][sacked])
    t_ns, packet = rows["t_ns"], rows["packet"]
    sent = (t_ns[data], seq, seq + length, packet[data])
    return [
        tuple(column[~again] for column in sent),
        tuple(column[again] for column in sent),
        (t_ns[acks], ack, ack, packet[acks]),
        (t_ns[sacked], left, right, packet[sacked]),
    ]


def _unwrapped(numbers: np.ndarray, base: int | None = None) -> tuple[int, np.ndarray]:
    """Numbers of 32 bits without their wrap, from `base`, else from the first of them; returns the base too."""
    if not len(numbers):
        return base or 0, np.zeros(0, np.int64)
    base = int(numbers[0]) if base is None else base
    steps = np.diff(numbers, prepend=np.uint32(base)).astype(np.uint32).astype(np.int32)
    return base, np.cumsum(steps.astype(np.int64))


def _joined(parts: list[tuple[np.ndarray, ...]], number: int) -> Curve:
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [np.zeros(0, np.int64)] * 4
    order = np.argsort(columns[0], kind="stable")
    t_ns, low, high, packet = (column[order] for column in columns)
    return Curve(t_ns, low, high, packet, holds=number == 2)


def _window(recorded: Recorded, flow: int) -> list[Curve]:
    rows = recorded.rows_of("window", "flow", flow, ("t_ns", "cwnd_segments", "ssthresh_segments", "flight_bytes"))
    segment = _segment_bytes(recorded, flow)
    known = ~np.isnan(rows["ssthresh_segments"])
    ssthresh = rows["ssthresh_segments"][known]
    flight = rows["flight_bytes"] / segment
    t_ns = rows["t_ns"]
    return [
        Curve(t_ns, rows["cwnd_segments"], rows["cwnd_segments"]),
        Curve(t_ns[known], ssthresh, ssthresh),
        Curve(t_ns, flight, flight),
    ]


def _segment_bytes(recorded: Recorded, flow: int) -> int:
    """Bytes of a full segment of a flow: the longest that it sent, if segments were recorded."""
    if not recorded.has("segment"):
        return 1448
    return int(segments_of(recorded, flow)["len"].max(initial=0)) or 1448


def _rtt(recorded: Recorded, flow: int) -> list[Curve]:
    rows = recorded.rows_of("rtt", "flow", flow, ("t_ns", "rtt_ns", "controller_rtt_ns"))
    known = rows["controller_rtt_ns"] != np.iinfo(np.int64).max
    own = rows["controller_rtt_ns"][known] / 1e9
    rtt = rows["rtt_ns"] / 1e9
    return [Curve(rows["t_ns"], rtt, rtt), Curve(rows["t_ns"][known], own, own)]


def _queue(recorded: Recorded, node: int) -> list[Curve]:
    rows = recorded.rows_of("queue", "node", node, ("t_ns", "packets", "tcp_acks"))
    lengths = [rows[name].astype(np.int64) for name in ("packets", "tcp_acks")]
    return [Curve(rows["t_ns"], length, length) for length in lengths]


def described() -> dict[str, Any]:
    """The charts with their curves, for the page."""
    return {name: {"table": TABLE_OF[name], "curves": list(curves)} for name, curves in CHARTS.items()}
