"""The other end of a recorded connection: the path, the receiver, and the packets between them and the kernel.

It is written apart from the replay in `crates/conformance`, so that one checks the other.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
LOCAL, REMOTE = bytes((10, 77, 0, 1)), bytes((10, 77, 0, 2))
PORT = 5001
LISTENING_PORT = 5002
ISS = 1_000_000
WINDOW_SCALE = 8
DELAYED_ACK_MS = 40.0


def checksum(data: bytes) -> int:
    """The Internet checksum. [RFC 1071]"""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data if len(data) % 2 == 0 else data[:-1]))
    total += data[-1] << 8 if len(data) % 2 else 0
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclass(frozen=True)
class Packet:
    """A TCP segment from the kernel."""

    port: int
    seq: int
    ack: int
    flags: int
    payload: int
    timestamp: int | None

    @staticmethod
    def parse(data: bytes) -> Packet | None:
        """From an IPv4 packet; nothing if it is not a TCP segment."""
        if len(data) < 40 or data[0] >> 4 != 4 or data[9] != 6:
            return None
        header = (data[0] & 15) * 4
        port, _, seq, ack, offset, flags = struct.unpack_from("!HHIIBB", data, header)
        size = (offset >> 4) * 4
        payload = struct.unpack_from("!H", data, 2)[0] - header - size
        return Packet(port, seq, ack, flags, payload, _timestamp(data[header + 20 : header + size]))


def _timestamp(options: bytes) -> int | None:
    at = 0
    while at < len(options) and options[at]:
        if options[at] == 1:
            at += 1
            continue
        if options[at] == 8:
            return struct.unpack_from("!I", options, at + 2)[0]
        at += max(options[at + 1], 2)
    return None


@dataclass(frozen=True)
class Answer:
    """An ACK: its number, the next segment expected, what it reports, and the rest of its header."""

    number: int
    cumulative: int
    blocks: list[tuple[int, int]]
    ece: bool
    window: int


@dataclass
class Receiver:
    """Counts whole segments. SACK blocks come newest first, a duplicate before all others.

    The timestamp echoed is that of the newest segment in order by the time an ACK reaches the sender.
    """

    scenario: dict[str, Any]
    cumulative: int = 0
    runs: list[tuple[int, int]] = field(default_factory=list)
    acks: int = 0
    window: int = 0
    withheld: int = 0
    deadline: float = float("inf")
    ece: bool = False
    recent: int | None = None

    def __post_init__(self) -> None:
        self.window = self.scenario["window"]

    def receive(self, now: float, segment: int, timestamp: int | None, *, marked: bool, reduced: bool) -> Answer | None:
        """A segment arrives; the ACK, if there is one at once."""
        self.ece = (self.ece and not reduced) or marked
        if segment != self.cumulative:
            known = segment < self.cumulative or any(left <= segment < right for left, right in self.runs)
            if not known:
                self._keep(segment)
            return self.answer([(segment, segment + 1)] if known else [])
        had_gap = bool(self.runs)
        self._advance()
        self.withheld += 1
        self.recent = timestamp
        if self.withheld >= self.scenario["delack"] or had_gap:
            return self.answer([])
        self.deadline = min(self.deadline, now + DELAYED_ACK_MS)
        return None

    def opening(self) -> Answer:
        """The ACK that ends a handshake, which no number counts."""
        return Answer(0, 0, [], False, self.window)

    def answer(self, duplicate: list[tuple[int, int]]) -> Answer:
        """An ACK of what there is."""
        self.acks += 1
        self.withheld, self.deadline = 0, float("inf")
        most = 3 if self.scenario["ts"] else 4
        blocks = (duplicate + self.runs)[:most] if self.scenario["sack"] else []
        return Answer(self.acks, self.cumulative, blocks, self.ece, self.window)

    def _keep(self, segment: int) -> None:
        touching = [run for run in self.runs if run[1] == segment or run[0] == segment + 1]
        low = min([segment, *(left for left, _ in touching)])
        high = max([segment + 1, *(right for _, right in touching)])
        self.runs = [(low, high), *(run for run in self.runs if run not in touching)]

    def _advance(self) -> None:
        self.cumulative += 1
        for run in self.runs:
            if run[0] == self.cumulative:
                self.cumulative = run[1]
                self.runs.remove(run)
                break


@dataclass
class Path:
    """One bottleneck that serves a segment in `gap_ms`, then half the RTT; scripted drops come before it."""

    scenario: dict[str, Any]
    free_at: float = 0.0

    def carry(self, now: float, segment: int, transmission: int) -> float | None:
        """When the segment arrives; nothing if it is dropped."""
        if [segment, transmission] in self.scenario.get("drop", []):
            return None
        self.free_at = max(self.free_at, now) + self.scenario["gap_ms"]
        late = [d for s, t, d in self.scenario.get("extra_delay_ms", []) if [s, t] == [segment, transmission]]
        return self.free_at + self.scenario["rtt_ms"] / 2 + sum(late)


class Wire:
    """Makes the packets that the kernel is to receive."""

    def __init__(self, scenario: dict[str, Any], port: int, iss: int) -> None:
        self.scenario, self.port, self.base = scenario, port, (iss + 1) & 0xFFFFFFFF

    def syn(self, now_ms: float) -> bytes:
        """The SYN to a kernel that listens."""
        ecn = ECE | CWR if self.scenario.get("ecn") else 0
        return self._packet(ISS, 0, SYN | ecn, 65535, self._offers(now_ms, 0))

    def syn_ack(self, syn: Packet, now_ms: float) -> bytes:
        """The answer to the kernel's SYN."""
        ecn = ECE if syn.flags & ECE and syn.flags & CWR and self.scenario.get("ecn") else 0
        options = self._offers(now_ms, syn.timestamp or 0)
        return self._packet(ISS, syn.seq + 1, SYN | ACK | ecn, 65535, options)

    def _offers(self, now_ms: float, echo: int) -> bytes:
        """Options of a SYN."""
        room = 12 if self.scenario["ts"] else 0
        options = struct.pack("!BBH", 2, 4, self.scenario["mss"] + room)
        options += struct.pack("!BBBB", 1, 3, 3, WINDOW_SCALE)
        if self.scenario["sack"]:
            options += struct.pack("!BBBB", 1, 1, 4, 2)
        if self.scenario["ts"]:
            options += struct.pack("!BBBBII", 1, 1, 8, 10, int(now_ms) + 1, echo)
        return options

    def ack(self, answer: Answer, recent: int | None, now_ms: float) -> bytes:
        """An ACK."""
        options = b""
        if recent is not None:
            options += struct.pack("!BBBBII", 1, 1, 8, 10, int(now_ms) + 2, recent)
        if answer.blocks:
            options += struct.pack("!BBBB", 1, 1, 5, 2 + 8 * len(answer.blocks))
            for left, right in answer.blocks:
                options += struct.pack("!II", self._number(left), self._number(right))
        flags = ACK | (ECE if answer.ece else 0)
        return self._packet(ISS + 1, self._number(answer.cumulative), flags, answer.window >> WINDOW_SCALE, options)

    def segment_of(self, packet: Packet) -> int:
        """The number of a data segment."""
        return ((packet.seq - self.base) & 0xFFFFFFFF) // self.scenario["mss"]

    def _number(self, segment: int) -> int:
        return (self.base + segment * self.scenario["mss"]) & 0xFFFFFFFF

    def _packet(self, seq: int, ack: int, flags: int, window: int, options: bytes) -> bytes:
        ack &= 0xFFFFFFFF
        head = struct.pack(
            "!HHIIBBHHH", PORT, self.port, seq, ack, (20 + len(options)) << 2, flags, min(window, 65535), 0, 0
        )
        segment = head + options
        total = checksum(REMOTE + LOCAL + struct.pack("!BBH", 0, 6, len(segment)) + segment)
        segment = segment[:16] + struct.pack("!H", total) + segment[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(segment), 0, 0x4000, 64, 6, 0) + REMOTE + LOCAL
        return ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + segment
