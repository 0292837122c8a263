"""A connection as one end logs it: packets and bytes of both directions, recovery's numbers, and losses.

Fields have the names of draft-ietf-quic-qlog-quic-events, of 2020 to the latest. A byte of a stream counts once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .iperf3_file import number
from .qlog_file import MS, Event
from .ranges import Ranges

SPACES = {"initial": 0, "handshake": 1}
LARGEST = 2**62
"""numbers of packets and offsets are below [RFC 9000 §16]"""
METRICS = {
    "congestion_window": ("cwnd_bytes", 1.0),
    "cwnd": ("cwnd_bytes", 1.0),
    "bytes_in_flight": ("bytes_in_flight", 1.0),
    "ssthresh": ("ssthresh_bytes", 1.0),
    "smoothed_rtt": ("smoothed_rtt_s", MS),
    "latest_rtt": ("latest_rtt_s", MS),
    "min_rtt": ("min_rtt_s", MS),
}

Span = tuple[int, int, int]
"""a stream, and the offsets of a frame in it"""


@dataclass
class Way:
    """One direction of a connection, as its end sees it."""

    packets: int = 0
    bytes: list[tuple[float, int]] = field(default_factory=list)
    """of packets, as they pass"""
    delivered: list[tuple[float, int]] = field(default_factory=list)
    """new bytes of streams, as they are received or acknowledged"""
    streams: dict[int, Ranges] = field(default_factory=lambda: defaultdict(Ranges))
    has_frames: bool = False
    has_streams: bool = False

    @property
    def stream_bytes(self) -> int:
        """Bytes of streams that arrived."""
        return sum(ranges.count for ranges in self.streams.values())

    def deliver(self, time_s: float, spans: Iterable[Span]) -> None:
        """Adds spans of streams, of which only new bytes count."""
        new = sum(self.streams[stream].add(begin, end) for stream, begin, end in spans)
        if new:
            self.delivered.append((time_s, new))


@dataclass
class Connection:
    """A connection as one end logs it."""

    sent: Way = field(default_factory=Way)
    received: Way = field(default_factory=Way)
    unacked: dict[tuple[int, int], list[Span]] = field(default_factory=dict)
    lost_s: list[float] = field(default_factory=list)
    metrics: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    datagram_bytes: float | None = None
    payload_bytes: int = 0
    first_s: float | None = None
    last_s: float = 0.0

    def take(self, event: Event) -> None:
        """Takes an event; events of no interest only move the time."""
        self.first_s = event.time_s if self.first_s is None else min(self.first_s, event.time_s)
        self.last_s = max(self.last_s, event.time_s)
        handle = HANDLERS.get(event.name)
        if handle is not None:
            handle(self, event.time_s, event.data)

    def _on_sent(self, time_s: float, data: dict[str, Any]) -> None:
        space, index = _packet(data)
        spans = self._passes(self.sent, time_s, data)
        if spans and index is not None:
            self.unacked[space, index] = spans

    def _on_received(self, time_s: float, data: dict[str, Any]) -> None:
        self.received.deliver(time_s, self._passes(self.received, time_s, data))
        space, _ = _packet(data)
        for frame in _frames(data):
            if str(frame.get("frame_type")) == "ack":
                for key in self._covered(space, frame.get("acked_ranges")):
                    self.sent.deliver(time_s, self.unacked.pop(key))

    def _passes(self, way: Way, time_s: float, data: dict[str, Any]) -> list[Span]:
        way.packets += 1
        size = _length(data)
        if size is not None:
            way.bytes.append((time_s, size))
        payload = number(data["raw"], "payload_length") if isinstance(data.get("raw"), dict) else None
        self.payload_bytes = max(self.payload_bytes, int(payload or 0))
        way.has_frames |= isinstance(data.get("frames"), list)
        spans = [span for frame in _frames(data) if (span := _span(frame)) is not None]
        way.has_streams |= bool(spans)
        return spans

    def _covered(self, space: int, ranges: Any) -> list[tuple[int, int]]:
        """The packets, not yet acknowledged, that an ACK frame covers."""
        covered: list[tuple[int, int]] = []
        for each in ranges if isinstance(ranges, list) else ():
            bounds = (
                [one for each_one in each if (one := _index(each_one)) is not None] if isinstance(each, list) else []
            )
            if bounds:
                covered += self._between(space, bounds[0], bounds[-1])
        return list(dict.fromkeys(covered))

    def _between(self, space: int, low: int, high: int) -> Iterable[tuple[int, int]]:
        """The packets of a range; a range may be far longer than the packets that are known."""
        if high - low < len(self.unacked):
            return (key for index in range(low, high + 1) if (key := (space, index)) in self.unacked)
        return [key for key in self.unacked if key[0] == space and low <= key[1] <= high]

    def _on_lost(self, time_s: float, _data: dict[str, Any]) -> None:
        self.lost_s.append(time_s)

    def _on_metrics(self, time_s: float, data: dict[str, Any]) -> None:
        for key, (name, scale) in METRICS.items():
            value = number(data, key)
            if value is not None and value >= 0:
                self.metrics[name].append((time_s, value * scale))

    def _on_parameters(self, _time_s: float, data: dict[str, Any]) -> None:
        self.datagram_bytes = number(data, "max_datagram_size") or self.datagram_bytes


HANDLERS = {
    "packet_sent": Connection._on_sent,
    "packet_received": Connection._on_received,
    "packet_lost": Connection._on_lost,
    "metrics_updated": Connection._on_metrics,
    "metric_update": Connection._on_metrics,
    "parameters_set": Connection._on_parameters,
}


def _packet(data: dict[str, Any]) -> tuple[int, int | None]:
    """The space and the number of a packet."""
    header = data.get("header")
    header = header if isinstance(header, dict) else data
    kind = str(header.get("packet_type", data.get("packet_type", ""))).lower()
    index = header.get("packet_number", data.get("packet_number"))
    return SPACES.get(kind, 2), _index(index)


def _index(value: Any) -> int | None:
    """A number of a packet or a byte, which older drafts write as text."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        value = int(value)
    is_index = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST
    return value if is_index else None


def _length(data: dict[str, Any]) -> int | None:
    """Bytes of a packet; `packet_size` is the name of older drafts."""
    raw, header = data.get("raw"), data.get("header")
    for place, key in ((raw, "length"), (header, "packet_size"), (data, "packet_size"), (raw, "payload_length")):
        value = number(place, key) if isinstance(place, dict) else None
        if value is not None and value >= 0:
            return int(value)
    return None


def _frames(data: dict[str, Any]) -> list[dict[str, Any]]:
    frames = data.get("frames")
    return [frame for frame in frames if isinstance(frame, dict)] if isinstance(frames, list) else []


def _span(frame: dict[str, Any]) -> Span | None:
    """The bytes of a STREAM frame."""
    if str(frame.get("frame_type")) != "stream":
        return None
    raw = frame.get("raw")
    length = frame.get("length", raw.get("payload_length", raw.get("length")) if isinstance(raw, dict) else None)
    stream, offset = frame.get("stream_id", 0), frame.get("offset", 0)
    found = [_index(value) for value in (stream, offset, length)]
    known = [value for value in found if value is not None]
    return (known[0], known[1], known[1] + known[2]) if len(known) == 3 else None
