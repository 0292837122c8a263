"""The packets of QUIC flows as events of qlog: each with its frames, as its sender or its receiver sees it.

Names are those of draft-ietf-quic-qlog-quic-events-03. A recording has the real packets and frames; ACK delays, tokens
and the data of path challenges are left out of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from .rows import Reader

if TYPE_CHECKING:
    from .flows import QuicFlow
    from .qlog import End

TABLE = "quic"
COLUMNS = (
    *("t_ns", "flow", "connection", "host", "event", "space", "number", "bytes", "packet"),
    *("frame", "stream", "offset", "len", "fin", "acked_first", "acked_last", "trigger"),
)
# Where a row of a packet begins to differ from the next of the same packet.
FRAME = COLUMNS.index("frame")


class Row(NamedTuple):
    """A row of `quic`."""

    t_ns: int
    flow: str
    connection: int
    host: str
    event: str
    space: str
    number: int
    bytes: int
    packet: int
    frame: str | None
    stream: int | None
    offset: int
    len: int
    fin: bool
    acked_first: int | None
    acked_last: int | None
    trigger: str | None


def packets(reader: Reader) -> Iterator[list[Row]]:
    """The rows of each packet at each of its hosts, in the order of time."""
    rows = map(Row._make, reader.rows(TABLE, COLUMNS, by="t_ns"))
    for _packet, frames in groupby(rows, key=lambda row: row[:FRAME]):
        yield list(frames)


def opened(reader: Reader) -> dict[str, tuple[bool, str | None]]:
    """For each flow, whether it has several connections, and the host that sends the first Initial that was recorded."""
    first: dict[str, int] = {}
    several: set[str] = set()
    openers: dict[str, str] = {}
    for batch in reader.batches(TABLE, ("flow", "connection", "host", "event", "space")):
        for row in batch.group_by(["flow", "connection"], use_threads=False).aggregate([]).to_pylist():
            if first.setdefault(row["flow"], row["connection"]) != row["connection"]:
                several.add(row["flow"])
        for row in batch.select(["flow", "host", "event", "space"]).to_pylist():
            if row["flow"] not in openers and row["space"] == "initial" and row["event"] != "lost":
                is_sent = row["event"] == "sent"
                openers[row["flow"]] = row["host"] if is_sent else _other(row["host"])
    return {flow: (flow in several, openers.get(flow)) for flow in first}


def _other(host: str) -> str:
    return "server" if host == "station" else "station"


class QuicTrack:
    """A QUIC flow with its two ends."""

    def __init__(self, flow: QuicFlow, ends: dict[str, End]) -> None:
        self.flow, self._ends = flow, ends
        self._last_of_sender: int | None = None
        self._ca_state: str | None = None

    def take(self, what: str, row: Any) -> None:
        """The rows of a packet, or a row of another table."""
        if what == TABLE:
            self._packet(row)
            return
        sender = self._ends[self.flow.sender]
        if what == "window":
            self._ca_state = sender.window(row, self.flow.payload_bytes, self._ca_state, self._last_of_sender)
        else:
            sender.rtt(row, self._last_of_sender)

    def _packet(self, rows: list[Row]) -> None:
        head = rows[0]
        if head.host == self.flow.sender:
            self._last_of_sender = head.connection
        header = {"packet_type": head.space, "packet_number": head.number}
        if head.event == "lost":
            name = "recovery:packet_lost"
            data: dict[str, Any] = {"header": header, "trigger": head.trigger}
        else:
            name = f"transport:packet_{head.event}"
            data = {"header": header, "raw": {"length": head.bytes}, "frames": frames_of(rows)}
        text = json.dumps(data, separators=(",", ":"))
        self._ends[head.host].event(head.t_ns, name, text, head.connection)


def frames_of(rows: list[Row]) -> list[dict[str, Any]]:
    """The frames of a packet; the ranges of an ACK have a row each."""
    frames: list[dict[str, Any]] = []
    for kind, of in groupby(rows, key=lambda row: row.frame):
        if kind == "ack":
            acked = sorted({(row.acked_first, row.acked_last) for row in of})
            frames.append({"frame_type": "ack", "acked_ranges": [sorted({*pair}) for pair in acked]})
        else:
            frames.extend(_frame(row) for row in of)
    return frames


def _frame(row: Row) -> dict[str, Any]:
    """A frame other than an ACK."""
    streams = "bidirectional" if row.stream == 0 else "unidirectional"
    fields: dict[str, dict[str, Any]] = {
        "padding": {"payload_length": row.len},
        "crypto": {"offset": row.offset, "length": row.len},
        "stream": {
            "stream_id": row.stream,
            "offset": row.offset,
            "length": row.len,
            **({"fin": True} if row.fin else {}),
        },
        "max_data": {"maximum": row.offset},
        "max_stream_data": {"stream_id": row.stream, "maximum": row.offset},
        "max_streams": {"stream_type": streams, "maximum": row.offset},
        "data_blocked": {"limit": row.offset},
        "stream_data_blocked": {"stream_id": row.stream, "limit": row.offset},
        "streams_blocked": {"stream_type": streams, "limit": row.offset},
        # lasthop's connection IDs have 8 bytes, and none is retired by a later one.
        "new_connection_id": {
            "sequence_number": row.len,
            "retire_prior_to": 0,
            "connection_id": f"{row.offset % 2**64:016x}",
        },
        "retire_connection_id": {"sequence_number": row.len},
        # An object without the token's bytes, which a recording lacks.
        "new_token": {"token": {}},
        "reset_stream": {"stream_id": row.stream, "error_code": row.len, "final_size": row.offset},
        "stop_sending": {"stream_id": row.stream, "error_code": row.len},
        "connection_close": {"raw_error_code": row.offset},
        "unknown": {"raw_frame_type": row.offset},
    }
    return {"frame_type": row.frame, **fields.get(row.frame or "", {})}
