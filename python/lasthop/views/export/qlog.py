"""qlog files of TCP and QUIC connections, for qvis.

A file for each end of a TCP or QUIC flow, in qlog 0.3 as JSON: main schema of draft-ietf-quic-qlog-main-schema-04, events of
draft-ietf-quic-qlog-quic-events-03: packets sent and received, packets acknowledged, windows, RTTs and losses. TCP
appears in QUIC's terms: a segment is a packet with its number in the recording, its payload a STREAM frame, its ACK
field and SACK blocks an ACK frame. QUIC appears as it is (`quic.py`). docs/formats.md has the rest.

Left out: UDP (not recorded in `segment`); losses of TCP that no retransmission shows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property
from heapq import merge
from pathlib import Path
from typing import Any, NamedTuple

from ...data.recording import Recordings
from ...data.temporary import TemporaryFolder
from . import quic
from .flows import QuicFlow, TcpFlow
from .rows import Reader
from .sequence import Numbers, Transmissions, ranges

TABLES = ("segment", quic.TABLE, "window", "rtt")
FIN, SYN, ACK = 1, 2, 16
# Bytes of all files held in memory before they are written.
BUFFER_BYTES = 1 << 23
# Limit on a flow's connections in memory: the one with the longest silence is forgotten first.
CONNECTIONS = 1 << 8
SEGMENT = (
    *("t_ns", "flow", "connection", "host", "sent", "seq", "ack", "len", "flags"),
    *("sack_blocks", "sack_left", "sack_right", "again", "packet", "packet_bytes"),
)
WINDOW = ("t_ns", "flow", "cwnd_segments", "ssthresh_segments", "flight_bytes", "ca_state")
RTT = ("t_ns", "flow", "rtt_ns")


class Segment(NamedTuple):
    """A row of `segment`."""

    t_ns: int
    flow: str
    connection: int
    host: str
    sent: bool
    seq: int
    ack: int
    len: int
    flags: int
    sack_blocks: int
    sack_left: int | None
    sack_right: int | None
    again: bool | None
    packet: int
    packet_bytes: int | None


class Opened(NamedTuple):
    """Facts about the connections of a flow that are known before its rows are read."""

    are_several: bool
    opener: str | None


def write(
    recordings: Recordings,
    seed: int,
    flows: Mapping[str, TcpFlow | QuicFlow],
    title: str,
    directory: Path,
    show: Callable[[float], None] | None = None,
) -> list[Path]:
    """Writes a file for each end of each TCP or QUIC flow that sent a packet: FLOW.station.qlog and FLOW.server.qlog in
    `directory`.

    Each appears whole or not at all, and all of them after the last is written. Returns their paths; `show` receives
    the progress.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with Reader(recordings, seed, TABLES, show) as reader, ExitStack() as stack:
        files = Files(directory, stack)
        tracks: dict[str, Track | quic.QuicTrack] = {}
        for flow, about in {**_opened(reader), **_opened_quic(reader)}.items():
            spec = flows[flow]
            ends = {host: End(spec, host, about, f"{title}, seed {seed}", files) for host in ("station", "server")}
            tracks[flow] = Track(spec, ends) if isinstance(spec, TcpFlow) else quic.QuicTrack(spec, ends)
        states = (_states(reader, "window", WINDOW), _states(reader, "rtt", RTT))
        for _key, what, row in merge(_segments(reader), _packets(reader), *states):
            track = tracks.get(row[0].flow if what == quic.TABLE else row[1])
            if track is not None:
                track.take(what, row)
        return files.finish()


def _packets(reader: Reader) -> Iterator[tuple[tuple[int, int, int], str, Any]]:
    """The packets of QUIC, in the same order as segments."""
    order = {"received": 0, "lost": 1, "sent": 2}
    for place, rows in enumerate(quic.packets(reader)):
        yield (rows[0].t_ns, order[rows[0].event], place), quic.TABLE, rows


def _opened_quic(reader: Reader) -> dict[str, Opened]:
    return {flow: Opened(*about) for flow, about in quic.opened(reader).items()}


def _segments(reader: Reader) -> Iterator[tuple[tuple[int, int, int], str, Any]]:
    """At one time: arrivals first, then their effects, then departures."""
    for place, row in enumerate(reader.rows("segment", SEGMENT, by="t_ns")):
        yield (row[0], 2 if row[4] else 0, place), "segment", row


def _states(reader: Reader, table: str, columns: tuple[str, ...]) -> Iterator[tuple[tuple[int, int, int], str, Any]]:
    for place, row in enumerate(reader.rows(table, columns, by="t_ns")):
        yield (row[0], 1, place), table, row


def _opened(reader: Reader) -> dict[str, Opened]:
    """For each flow, whether it has several connections, and the host that opens the first whose SYN was recorded."""
    import numpy as np

    first: dict[str, int] = {}
    several: set[str] = set()
    openers: dict[str, str] = {}
    for batch in reader.batches("segment", ("flow", "connection", "host", "sent", "flags")):
        for pair in batch.group_by(["flow", "connection"], use_threads=False).aggregate([]).to_pylist():
            if first.setdefault(pair["flow"], pair["connection"]) != pair["connection"]:
                several.add(pair["flow"])
        flags = batch["flags"].to_numpy()
        opens = np.flatnonzero((flags & SYN > 0) & (flags & ACK == 0))
        for row in batch.take(opens).to_pylist():
            openers.setdefault(row["flow"], row["host"] if row["sent"] else _other(row["host"]))
    return {flow: Opened(flow in several, openers.get(flow)) for flow in first}


class Files:
    """Files that grow together, and get their names together."""

    def __init__(self, directory: Path, stack: ExitStack) -> None:
        self._directory, self._stack = directory, stack
        self._names: list[str] = []
        self._buffers: list[list[str]] = []
        self._buffer_bytes = 0

    def new(self, name: str, head: str) -> int:
        """Begins a file; returns its number."""
        self._names.append(name)
        self._buffers.append([head])
        return len(self._buffers) - 1

    @cached_property
    def _folder(self) -> Path:
        return self._stack.enter_context(TemporaryFolder("qlog", self._directory)).path

    def add(self, number: int, text: str) -> None:
        """Adds to a file."""
        self._buffers[number].append(text)
        self._buffer_bytes += len(text)
        if self._buffer_bytes > BUFFER_BYTES:
            self._write()

    def _write(self) -> None:
        """Opens one file after another, as there may be more than may be open at once."""
        for name, buffer in zip(self._names, self._buffers, strict=True):
            if buffer:
                with (self._folder / name).open("a", encoding="utf-8", newline="") as file:
                    file.writelines(buffer)
                buffer.clear()
        self._buffer_bytes = 0

    def finish(self) -> list[Path]:
        """Writes the rest and gives the files their names."""
        for number in range(len(self._buffers)):
            self._buffers[number].append("\n]}]}\n")
        self._write()
        files = [Path(os.path.realpath(self._directory / name)) for name in self._names]
        for name, file in zip(self._names, files, strict=True):
            os.replace(self._folder / name, file)
        return sorted(files)


class Track:
    """A flow with its two ends and its connections."""

    def __init__(self, flow: TcpFlow, ends: dict[str, End]) -> None:
        self._flow, self._ends = flow, ends
        self._connections: dict[int, Connection] = {}
        self._last_of_sender: int | None = None
        self._ca_state: str | None = None

    def take(self, what: str, row: Any) -> None:
        """A row of a table."""
        if what == "segment":
            self._segment(Segment(*row))
        elif what == "window":
            sender, size = self._ends[self._flow.sender], self._flow.payload_bytes
            self._ca_state = sender.window(row, size, self._ca_state, self._last_of_sender)
        else:
            self._ends[self._flow.sender].rtt(row, self._last_of_sender)

    def _segment(self, row: Segment) -> None:
        connection = self._connection(row.connection)
        end = self._ends[row.host]
        if row.host == self._flow.sender:
            self._last_of_sender = row.connection
        state = self._ca_state if row.host == self._flow.sender else None
        if row.sent:
            for packet in connection.lost(row, state):
                end.lost(row, packet, self._flow, state)
        end.packet(row, self._flow, *connection.frames(row))

    def _connection(self, number: int) -> Connection:
        connection = self._connections.pop(number, None) or Connection()
        self._connections[number] = connection
        if len(self._connections) > CONNECTIONS:
            del self._connections[next(iter(self._connections))]
        return connection


class Connection:
    """The numbers of a connection, by the host that sends them."""

    def __init__(self) -> None:
        self._of = {host: Stream() for host in ("station", "server")}

    def lost(self, row: Segment, state: str | None) -> list[int]:
        """A sent segment: returns the packets whose loss it shows, as it carries their bytes again."""
        start, end = self._of[row.host].span(row)
        if start == end:
            return []
        sent = self._of[row.host].sent
        # In Open and Disorder no packet is declared lost: a retransmission is a probe.
        lost = row.again and (state not in ("Open", "Disorder") or bool(row.flags & SYN))
        packets = sent.take_touched(start, end) if lost else []
        sent.add(start, end, row.packet)
        return packets

    def frames(self, row: Segment) -> tuple[list[int], int | None]:
        """The packets that it newly acknowledges, and the offset of its payload in the stream."""
        own = self._of[row.host if row.sent else _other(row.host)]
        start, end = own.span(row)
        if not row.sent and end > start:
            own.arrives(start, end, row.packet)
        peer = self._of[_other(row.host) if row.sent else row.host]
        acked = peer.acknowledged(row) if row.flags & ACK else []
        return acked, own.offset(row, start)


class Stream:
    """The packets that one host sends on a connection."""

    def __init__(self) -> None:
        self._numbers = Numbers()
        self._first: int | None = None
        # Unacknowledged from the sender's view: all transmissions, and those that have arrived.
        self.sent = Transmissions()
        self._arrived = Transmissions()
        # Arrived, and not acknowledged by the receiver.
        self._unanswered = Transmissions()

    def span(self, row: Segment) -> tuple[int, int]:
        """The sequence numbers of a segment."""
        start = self._numbers.unwrapped(row.seq)
        if row.flags & SYN:
            self._first = start + 1
        return start, start + row.len + bool(row.flags & SYN) + bool(row.flags & FIN)

    def offset(self, row: Segment, start: int) -> int | None:
        """The offset of its payload: counted from the SYN or, if that was not recorded, TCP's own number."""
        if not row.len:
            return None
        return start - self._first if self._first is not None else row.seq

    def arrives(self, start: int, end: int, packet: int) -> None:
        """A segment reaches the other host."""
        self._arrived.add(start, end, packet)
        self._unanswered.add(start, end, packet)

    def acknowledged(self, row: Segment) -> list[int]:
        """Packets that an acknowledgement is the first to cover, from its sender's or its receiver's view."""
        ack = self._numbers.unwrapped(row.ack)
        sack = None
        if row.sack_left is not None and row.sack_right is not None:
            sack = self._numbers.unwrapped(row.sack_left), self._numbers.unwrapped(row.sack_right)
        if row.sent:
            return self._unanswered.take_covered(ack, sack)
        self.sent.take_covered(ack, sack)
        return self._arrived.take_covered(ack, sack)


def _other(host: str) -> str:
    return "server" if host == "station" else "station"


class End:
    """One end of a flow: the events of its file, which begins with the first."""

    def __init__(self, flow: TcpFlow | QuicFlow, host: str, opened: Opened, title: str, files: Files) -> None:
        self._flow, self._host, self._opened = flow, host, opened
        self._title, self._files = title, files
        self._file: int | None = None

    def packet(self, row: Segment, flow: TcpFlow, acked: list[int], offset: int | None) -> None:
        """A segment that it sends or receives."""
        frames = []
        if offset is not None:
            fin = ',"fin":true' if row.flags & FIN else ""
            frames.append(f'{{"frame_type":"stream","stream_id":0,"offset":{offset},"length":{row.len}{fin}}}')
        if acked:
            blocks = json.dumps(ranges(acked), separators=(",", ":"))
            frames.append(f'{{"frame_type":"ack","acked_ranges":{blocks}}}')
        # Recordings of earlier builds do not have them.
        length = row.packet_bytes or flow.packet_bytes(row.len, row.flags & SYN, row.sack_blocks)
        data = (
            f'{{"header":{{"packet_type":"1RTT","packet_number":{row.packet}}},'
            f'"raw":{{"length":{length},"payload_length":{row.len}}},'
            f'"frames":[{",".join(frames)}]}}'
        )
        name = "transport:packet_sent" if row.sent else "transport:packet_received"
        self.event(row.t_ns, name, data, row.connection)

    def lost(self, row: Segment, packet: int, flow: TcpFlow, state: str | None) -> None:
        """A packet declared lost, as its bytes are sent again."""
        trigger = "pto_expired" if state == "Loss" or row.flags & SYN else flow.loss_trigger if state else None
        why = f',"trigger":"{trigger}"' if trigger else ""
        data = f'{{"header":{{"packet_type":"1RTT","packet_number":{packet}}}{why}}}'
        self.event(row.t_ns, "recovery:packet_lost", data, row.connection)

    def window(self, row: tuple[Any, ...], size: int, before: str | None, connection: int | None) -> str:
        """A row of `window`, whose segments have `size` bytes. Returns the state of congestion control."""
        t_ns, _flow, cwnd, ssthresh, flight, state = row
        threshold = "" if ssthresh is None else f',"ssthresh":{round(ssthresh * size)}'
        window = f'{{"congestion_window":{round(cwnd * size)},"bytes_in_flight":{flight}{threshold}}}'
        self.event(t_ns, "recovery:metrics_updated", window, connection)
        if state != before:
            old = "" if before is None else f'"old":"{before}",'
            self.event(t_ns, "recovery:congestion_state_updated", f'{{{old}"new":"{state}"}}', connection)
        return str(state)

    def rtt(self, row: tuple[Any, ...], connection: int | None) -> None:
        """A row of `rtt`."""
        self.event(row[0], "recovery:metrics_updated", f'{{"latest_rtt":{row[2] / 1e6!r}}}', connection)

    def event(self, t_ns: int, name: str, data: str, connection: int | None) -> None:
        """An event at a time, with its connection if the flow has several."""
        group = f',"group_id":"connection {connection or 0}"' if self._opened.are_several else ""
        comma = ",\n"
        if self._file is None:
            if Path(self._flow.id).name != self._flow.id:  # in a hand-made result
                raise ValueError(f"flow {self._flow.id!r}: is not a file name")
            self._file, comma = self._files.new(f"{self._flow.id}.{self._host}.qlog", self._head()), ""
        self._files.add(self._file, f'{comma}{{"time":{t_ns / 1e6!r},"name":"{name}","data":{data}{group}}}')

    def _head(self) -> str:
        """The file up to its first event."""
        opener = self._opened.opener
        point = "unknown" if opener is None else "client" if opener == self._host else "server"
        name = self._flow.station if self._host == "station" else f"server of {self._flow.station}"
        trace = {
            "title": f"{self._flow.id} at the {self._host}",
            "common_fields": {"time_format": "relative", "reference_time": 0, "protocol_type": [self._flow.protocol]},
            "vantage_point": {"name": name, "type": point},
        }
        head = {"qlog_version": "0.3", "qlog_format": "JSON", "title": self._title}
        return f'{json.dumps(head)[:-1]}, "traces": [{json.dumps(trace)[:-1]}, "events": [\n'
