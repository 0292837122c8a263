"""A trace for Perfetto: PPDUs on the air, lengths of queues, windows of senders.

A process for each channel has a track for each node, with a slice for each PPDU; the lengths of queues are below. One
more process has the windows and RTTs of flows. Arrows lead from the PPDU in which a packet was lost to its
retransmission, and on to the packet's drop. Times are in nanoseconds from the start of the run.

Left out: segments, steps and backoffs, which would be many times as much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import IO, Any

from ...data.files import whole_file
from ...data.recording import Recordings
from .protobuf import INSTANT, SLICE_BEGIN, Events, process, slice_end, track
from .protobuf import count as counted
from .rows import Reader

TABLES = ("ppdu", "carries", "queue", "drop", "window", "rtt")
PPDU = ("start_ns", "duration_ns", "node", "channel", "kind", "decoded", "retried", "ppdu")
# The arguments besides the PPDU's number.
ARGUMENTS = (
    *("to", "rate_bps", "mcs", "nss", "width_mhz", "bytes", "mpdus", "decoded", "lost_to", "retried"),
    *("exchange", "nav_ns", "ppdu"),
)
CARRIES = ("ppdu", "flow", "up", "packet", "packets", "decoded")
DROP = ("t_ns", "node", "layer", "reason", "flow", "up", "packet", "tcp_ack")
# Limit on lost packets that await their next PPDU; the oldest are forgotten first, each with an arrow.
AWAITED = 1 << 17
# Bytes held in memory before they are written.
BUFFER_BYTES = 1 << 22


def write(
    recordings: Recordings,
    seed: int,
    nodes: Sequence[str],
    flows: Sequence[str],
    file: Path,
    show: Callable[[float], None] | None = None,
) -> None:
    """Writes the recording of a seed to `file`, which appears whole or not at all; `show` receives the progress.

    `nodes` and `flows` are in the order of their tracks.
    """
    with Reader(recordings, seed, TABLES, show) as reader, whole_file(file) as out:
        trace = Trace(reader, nodes, flows, out)
        trace.ppdus()
        trace.drops()
        trace.queues()
        trace.flows()
        trace.close()


class Trace:
    """A trace in progress, written one table after another: Perfetto sorts by time itself."""

    def __init__(self, reader: Reader, nodes: Sequence[str], flows: Sequence[str], out: IO[bytes]) -> None:
        self._reader, self._out = reader, out
        self._ranks = {name: rank for rank, name in enumerate(nodes)}
        self._flows = {name: rank for rank, name in enumerate(flows)}
        self._events = Events()
        self._uuids = count(1)
        self._processes: dict[str, int] = {}
        self._of_node: dict[str, int] = {}
        self._tracks: dict[str, int] = {}
        self._buffer = [self._events.begin()]
        self._buffer_bytes = 0

    def ppdus(self) -> None:
        """A slice for each PPDU."""
        arrows = Arrows(self._reader, self._flows)
        columns = tuple(dict.fromkeys((*PPDU, *ARGUMENTS)))
        places = {name: place for place, name in enumerate(columns)}
        arguments_at = [(name, places[name]) for name in ARGUMENTS]
        for row in self._reader.rows("ppdu", columns):
            start, duration, node, channel, kind, decoded, retried, ppdu = row[: len(PPDU)]
            uuid = self._tracks.get(node) or self._node_track(node, f"channel {channel}")
            flows: Sequence[int] = ()
            if decoded is not None and kind in ("data", "A-MPDU"):
                flows = arrows.of(ppdu, looks_back=retried > 0)
            arguments = [(name, row[place]) for name, place in arguments_at]
            self._put(self._events.event(SLICE_BEGIN, start, uuid, kind, arguments, flows))
            self._put(slice_end(start + duration, uuid))

    def drops(self) -> None:
        """An instant for each dropped packet."""
        for t_ns, node, layer, reason, flow, up, packet, tcp_ack in self._reader.rows("drop", DROP):
            uuid = self._tracks.get(node) or self._node_track(node, "nodes")
            about = (("layer", layer), ("flow", flow), ("up", up), ("packet", packet), ("tcp_ack", tcp_ack))
            flows = (arrow(self._flows[flow], up, packet),) if layer == "mac" else ()
            self._put(self._events.event(INSTANT, t_ns, uuid, f"dropped: {reason}", about, flows))

    def queues(self) -> None:
        """Numbers of packets in the queues of nodes, below their tracks."""
        for t_ns, node, packets, tcp_acks in self._reader.rows("queue", ("t_ns", "node", "packets", "tcp_acks")):
            self._count(t_ns, packets, f"{node} queue", "packets", self._of_node.get(node), self._rank(node))
            self._count(t_ns, tcp_acks, f"{node} queue, TCP ACKs", "packets", self._of_node.get(node), self._rank(node))

    def flows(self) -> None:
        """Windows and RTTs of senders."""
        for t_ns, flow, cwnd, flight in self._reader.rows("window", ("t_ns", "flow", "cwnd_segments", "flight_bytes")):
            self._count(t_ns, cwnd, f"{flow} cwnd", "segments", self._process("flows"), self._flows[flow])
            self._count(t_ns, flight, f"{flow} in flight", "B", self._process("flows"), self._flows[flow])
        for t_ns, flow, rtt in self._reader.rows("rtt", ("t_ns", "flow", "rtt_ns")):
            self._count(t_ns, rtt, f"{flow} RTT", "ns", self._process("flows"), self._flows[flow])

    def close(self) -> None:
        """Writes the rest of the buffer."""
        self._out.writelines(self._buffer)
        self._buffer.clear()

    def _rank(self, node: str) -> int:
        # Below the tracks of nodes.
        return len(self._ranks) + self._ranks[node]

    def _node_track(self, node: str, group: str) -> int:
        parent = self._of_node[node] = self._process(group)
        uuid = self._tracks[node] = next(self._uuids)
        self._put(track(uuid, parent, node, self._ranks[node]))
        return uuid

    def _process(self, name: str) -> int:
        if (uuid := self._processes.get(name)) is None:
            uuid = self._processes[name] = next(self._uuids)
            self._put(process(uuid, len(self._processes), name))
        return uuid

    def _count(self, t_ns: int, value: float, name: str, unit: str, parent: int | None, rank: int) -> None:
        if (uuid := self._tracks.get(name)) is None:
            uuid = self._tracks[name] = next(self._uuids)
            self._put(track(uuid, parent or self._process("nodes"), name, rank, unit=unit))
        self._put(counted(t_ns, uuid, value))

    def _put(self, encoded: bytes) -> None:
        self._buffer.append(encoded)
        self._buffer_bytes += len(encoded)
        if self._buffer_bytes > BUFFER_BYTES:
            self.close()
            self._buffer_bytes = 0


class Arrows:
    """The packets of a PPDU that were lost in it, or in one before it."""

    def __init__(self, reader: Reader, flows: dict[str, int]) -> None:
        self._rows: Iterator[tuple[Any, ...]] = reader.rows("carries", CARRIES)
        self._are_there = "carries" in reader.tables
        self._flows = flows
        self._next: tuple[Any, ...] | None = None
        # PPDUs that ended before others that began earlier.
        self._early: dict[int, list[tuple[Any, ...]]] = {}
        self._awaited: dict[int, None] = {}

    def of(self, ppdu: int, *, looks_back: bool) -> list[int]:
        """The arrows of a data PPDU that has ended; call it in the order of the PPDUs' numbers."""
        arrows = []
        for _ppdu, flow, up, packet, packets, decoded in self._carried(ppdu):
            for number in range(packet, packet + packets) if looks_back or not decoded else ():
                flow_id = arrow(self._flows[flow], up, number)
                if not decoded:
                    self._awaited[flow_id] = None
                    arrows.append(flow_id)
                elif flow_id in self._awaited:
                    del self._awaited[flow_id]
                    arrows.append(flow_id)
        while len(self._awaited) > AWAITED:
            del self._awaited[next(iter(self._awaited))]
        return arrows

    def _carried(self, ppdu: int) -> list[tuple[Any, ...]]:
        """The contents of a PPDU. `carries` is read at the ends of PPDUs, all rows of one together."""
        if not self._are_there:
            return []
        while ppdu not in self._early and (row := self._next or next(self._rows, None)) is not None:
            rows, self._next = [row], None
            for following in self._rows:
                if following[0] != row[0]:
                    self._next = following
                    break
                rows.append(following)
            self._early[row[0]] = rows
        return self._early.pop(ppdu, [])


def arrow(flow: int, up: bool, packet: int) -> int:
    """The number of a packet's arrows, of 64 bits: the flow above, then the direction."""
    return flow << 33 | up << 32 | packet
