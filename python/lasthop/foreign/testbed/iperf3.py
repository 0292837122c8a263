"""A test of iperf3, from the file of its client, of its server, or of both.

Goodput is the receiver's count. The file of a sender has it if the test ended well, since both ends exchange their numbers then.
iperf3 samples the window and the smoothed RTT of the kernel once in each interval, at the sender.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ...data.foreign_text import Unreadable
from ...data.quantities import FLOW, SERIES
from .dscp import dscp_of
from .iperf3_file import Document, number
from .model import Flow, Series, Test, level_mean, within

# Lengths of an IP header and a TCP header, without timestamps and with them, for IPv4 and IPv6.
HEADERS_BYTES = (52, 40, 72, 60)


class _Stream:
    """A connection of a test as one end reports it."""

    def __init__(self, document: Document, place: int, connection: dict[str, Any]) -> None:
        self.document = document
        self.place = place
        self.local, self.remote = (
            f"{connection.get(f'{side}_host')}:{connection.get(f'{side}_port')}" for side in ("local", "remote")
        )
        self._socket = connection.get("socket")
        self.rows = list(self._of_intervals())
        self.ended = self._of_end()

    @property
    def client(self) -> str:
        return self.local if self.document.is_client else self.remote

    @property
    def server(self) -> str:
        return self.remote if self.document.is_client else self.local

    @property
    def sends(self) -> bool:
        """Whether this end sends; older versions do not record it for each stream."""
        for row in (*self.rows, *self.ended.values()):
            sends = row.get("sender")
            if isinstance(sends, bool):
                return sends
        return self.document.is_client != bool(self.document.settings.get("reverse"))

    @property
    def direction(self) -> str:
        return "up" if self.sends == self.document.is_client else "down"

    @property
    def counted(self) -> list[dict[str, Any]]:
        """The intervals behind those that `--omit` leaves out."""
        return [row for row in self.rows if not row.get("omitted")]

    @property
    def is_whole(self) -> bool:
        return self.document.error is None and bool(self.ended)

    def _of_intervals(self) -> Iterator[dict[str, Any]]:
        for interval in self.document.intervals:
            for row in interval.get("streams") or ():
                if isinstance(row, dict) and row.get("socket") == self._socket:
                    yield row

    def _of_end(self) -> dict[str, dict[str, Any]]:
        """Its rows at the end, by `sender` and `receiver`, or `udp`."""
        for entry in self.document.end.get("streams") or ():
            if isinstance(entry, dict) and any(
                isinstance(row, dict) and row.get("socket") == self._socket for row in entry.values()
            ):
                return {key: row for key, row in entry.items() if isinstance(row, dict)}
        return {}

    def series(self, key: str, scale: float) -> Series:
        """Returns the value of `key` in each interval, at its end."""
        omitted_s = _omitted_s(self.document)
        found = Series([], [])
        for row in self.rows:
            end_s, value = number(row, "end"), number(row, key)
            if end_s is not None and value is not None:
                found.times_s.append(end_s if row.get("omitted") else end_s + omitted_s)
                found.values.append(value * scale)
        return found

    def sum(self, key: str) -> float | None:
        """The sum over the counted intervals; None if one lacks it."""
        values = [number(row, key) for row in self.counted]
        return None if not values or None in values else sum(values)


def test_of(told: list[Document]) -> Test:
    """The test of the documents of its ends. Raises `Unreadable` if they have no connections."""
    told = sorted(told, key=lambda document: not document.is_client)
    sides = [_streams(document) for document in told]
    first = told[0]
    transport = str(first.settings.get("protocol", "TCP")).lower()
    if transport not in ("tcp", "udp"):
        raise Unreadable(f"{first.file}: a test of {transport.upper()}; TCP and UDP are what lasthop compares with")
    notes: list[str] = []
    flows = [_flow(_of_other_ends(sides, stream), transport) for stream in sides[0]]
    begins_s = float(_omitted_s(first))
    ends_s = max((end for document in told for end in _ends_s(document)), default=0.0)
    for document in told:
        if document.error:
            said = document.error.removeprefix("error - ")
            notes.append(f"{document.file}: the test ended early ({said}); numbers are those of its whole intervals")
    return Test(
        tool="iperf3",
        version=str(first.start.get("version", "iperf3")),
        name=str(first.start.get("title") or ""),
        files=list(dict.fromkeys(document.file for document in told)),
        flows=flows,
        began_s=next((document.began_s for document in told if document.began_s is not None), None),
        from_s=begins_s,
        to_s=begins_s + ends_s,
        notes=list(dict.fromkeys(notes)),
    )


def _streams(document: Document) -> list[_Stream]:
    connected = document.start.get("connected")
    if not isinstance(connected, list) or not connected or not all(isinstance(each, dict) for each in connected):
        raise Unreadable(f"{document.file}: start.connected names no connection; is the file of another program?")
    return [_Stream(document, place, connection) for place, connection in enumerate(connected)]


def _of_other_ends(sides: list[list[_Stream]], stream: _Stream) -> list[_Stream]:
    """The stream, with the other end's report: matched by ports, behind a NAT by position."""
    found = [stream]
    for side in sides[1:]:
        by_port = [other for other in side if other.client == stream.client and other.server == stream.server]
        found += by_port or [other for other in side if other.place == stream.place]
    return found


def _omitted_s(document: Document) -> float:
    return number(document.settings, "omit") or 0


def _ends_s(document: Document) -> Iterator[float]:
    """The time at which the streams of a test ended, if known."""
    if document.error is None:
        for name in ("sum_received", "sum_received_bidir_reverse", "sum"):
            row = document.end.get(name)
            if isinstance(row, dict) and (end_s := number(row, "end")) is not None:
                yield end_s
    for interval in document.intervals:
        for row in interval.get("streams") or ():
            if not row.get("omitted") and (end_s := number(row, "end")) is not None:
                yield end_s


def _flow(streams: list[_Stream], transport: str) -> Flow:
    first = streams[0]
    sender = next((stream for stream in streams if stream.sends), None)
    receiver = next((stream for stream in streams if not stream.sends), None)
    up = first.direction == "up"
    flow = Flow(
        station=first.client.rpartition(":")[0],
        server=first.server.rpartition(":")[0],
        direction=first.direction,
        transport=transport,
        dscp=dscp_of(first.document.settings.get("tos")),
        ends=(first.client, first.server) if up else (first.server, first.client),
    )
    if transport == "udp":
        _add_udp(flow, first, sender, receiver)
    else:
        _add_tcp(flow, first, sender, receiver)
    flow.series[SERIES.goodput_bps] = (receiver or first).series("bits_per_second", 1.0)
    flow.is_as_written = receiver is None
    return flow


def _add_tcp(flow: Flow, first: _Stream, sender: _Stream | None, receiver: _Stream | None) -> None:
    amount, seconds = _received(sender, receiver)
    flow.values[FLOW.bytes_delivered] = amount
    flow.values[FLOW.goodput_bps] = amount * 8 / seconds if amount is not None and seconds else None
    document = (sender or first).document
    for side in filter(None, (sender, receiver)):
        told = side.document.end.get("sender_tcp_congestion")
        flow.congestion_control = flow.congestion_control or (told if isinstance(told, str) else None)
    if sender is None:
        # Exchanged at the end of a test that ended well.
        if receiver is not None and receiver.is_whole:
            flow.values[FLOW.segments_retransmitted] = number(receiver.ended.get("sender", {}), "retransmits")
        return
    flow.values[FLOW.segments_retransmitted] = sender.sum("retransmits")
    if sender.is_whole:
        flow.values[FLOW.segments_retransmitted] = number(sender.ended.get("sender", {}), "retransmits")
    rtt = sender.series("rtt", 1e-6)
    begins_s = float(_omitted_s(document))
    mean = partial(level_mean, from_s=begins_s, to_s=float("inf"))
    if rtt.values:
        flow.series[SERIES.rtt_s] = rtt
        flow.values[FLOW.rtt_mean_s] = mean(rtt)
    window = sender.series("snd_cwnd", 1.0)
    mss = _mss(sender, receiver, [int(value) for value in window.values])
    if window.values and mss:
        window = Series(window.times_s, [value / mss for value in window.values])
        flow.series[SERIES.cwnd_segments] = window
        flow.values[FLOW.cwnd_mean_segments] = mean(window)
        flow.values[FLOW.cwnd_max_segments] = max(within(window, begins_s, float("inf")), default=None)


def _received(sender: _Stream | None, receiver: _Stream | None) -> tuple[float | None, float | None]:
    """Bytes that reached the receiver, and in how many seconds."""
    whole = next((stream for stream in (receiver, sender) if stream is not None and stream.is_whole), None)
    if whole is not None and (row := whole.ended.get("receiver")) is not None:
        amount, bps = number(row, "bytes"), number(row, "bits_per_second")
        # iperf3 divides by the receiver's time; `seconds` of this row in a sender's file is another.
        if amount is not None and bps:
            return amount, amount * 8 / bps
    # An interrupted end counts bytes after the last interval, whose time is not in its `seconds`.
    return (receiver.sum("bytes"), receiver.sum("seconds")) if receiver is not None else (None, None)


def _mss(sender: _Stream, receiver: _Stream | None, windows: list[int]) -> int | None:
    """The segment of the sender. A kernel's window is a whole number of them."""
    for stream in filter(None, (sender, receiver)):
        for key in ("tcp_mss", "tcp_mss_default"):
            mss = stream.document.start.get(key)
            if isinstance(mss, int) and mss > 0 and all(window % mss == 0 for window in windows):
                return mss
    for row in sender.rows:
        pmtu = number(row, "pmtu")
        for headers in HEADERS_BYTES if pmtu else ():
            if all(window % (int(pmtu) - headers) == 0 for window in windows):
                return int(pmtu) - headers
    return None


def _add_udp(flow: Flow, first: _Stream, sender: _Stream | None, receiver: _Stream | None) -> None:
    size = number((sender or first).document.settings, "blksize")
    if receiver is not None:
        sent, lost, seconds = (receiver.sum(key) for key in ("packets", "lost_packets", "seconds"))
        told = receiver.ended.get("udp", receiver.counted[-1] if receiver.counted else {})
    elif sender is not None and sender.is_whole:
        told = sender.ended.get("udp", {})
        sent, lost = number(told, "packets"), number(told, "lost_packets")
        seconds = max(_ends_s(sender.document), default=None)
    else:
        return
    flow.values[FLOW.segments_sent] = sent
    if sent is None or lost is None:
        return
    flow.values[FLOW.loss_fraction] = lost / sent if sent else None
    flow.values[FLOW.reordered] = number(told, "out_of_order")
    jitter = number(told, "jitter_ms")
    flow.values[FLOW.jitter_s] = None if jitter is None else jitter / 1e3
    if size and seconds:
        flow.values[FLOW.bytes_delivered] = int((sent - lost) * size)
        flow.values[FLOW.goodput_bps] = (sent - lost) * size * 8 / seconds
