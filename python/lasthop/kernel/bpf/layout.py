"""The bytes that programs in the kernel and this package exchange: `bpf/layout.h` in Python."""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

BASES = {"cubic": 0, "reno": 1}
EVENTS = ("round trip", "missing", "halved", "ended")

ACK_LOSS_SETTINGS = struct.Struct("=II")
ACK_SKIP_SETTINGS = struct.Struct("=II")
SPLIT_QUEUE_SETTINGS = struct.Struct("=I")
COUNTS = struct.Struct("=QQ")
SOCKET = struct.Struct("=QQQQQQQ16s16sIIIIHHHH")
RECORD = struct.Struct("=QQIIIIII")
# The kernel's value for an ssthresh that was never set.
UNSET = 0x7FFFFFFF


class Socket(NamedTuple):
    """The state of a socket under `ack_loss`: addresses with ports, counts, the window in segments.

    `watched` are ACKs that came next to one that came, `would_show` those of them by which it would have shown, had the one before
    been lost.
    """

    serial: int
    began_s: float
    acks: int
    missing: int
    halvings: int
    watched: int
    would_show: int
    local: str
    remote: str
    cwnd_segments: int
    ssthresh_segments: int | None
    srtt_s: float
    normal_jump_segments: int
    ended: bool

    @property
    def findable_share(self) -> float | None:
        """The share of lost ACKs that this sender can detect; None before the first sample."""
        return self.would_show / self.watched if self.watched else None

    @property
    def lost_estimate(self) -> float | None:
        """The estimated number of lost ACKs, from the detected ones and the share that can be detected; None if unknown."""
        return self.missing / self.findable_share if self.findable_share else None


class Record(NamedTuple):
    """An event of a socket; times in seconds of CLOCK_MONOTONIC."""

    time_s: float
    serial: int
    event: str
    missing: int
    cwnd_segments: int
    ssthresh_segments: int | None
    srtt_s: float
    normal_jump_segments: int


def socket_of(raw: bytes) -> Socket | None:
    """A place of the map; None if no socket has taken it."""
    serial, began, *counts, local, remote, cwnd, ssthresh, srtt, jump, family, port, peer, ended = SOCKET.unpack(raw)
    if serial == 0:
        return None
    ends = _address(family, local, port), _address(family, remote, peer)
    return Socket._make((serial, began / 1e9, *counts, *ends, cwnd, _set(ssthresh), srtt / 1e6, jump, bool(ended)))


def record_of(raw: bytes) -> Record:
    """A record of the ring buffer."""
    time, serial, event, missing, cwnd, ssthresh, srtt, jump = RECORD.unpack(raw)
    return Record(time / 1e9, serial, EVENTS[event], missing, cwnd, _set(ssthresh), srtt / 1e6, jump)


def _set(ssthresh: int) -> int | None:
    return None if ssthresh >= UNSET else ssthresh


def _address(family: int, raw: bytes, port: int) -> str:
    if family == socket.AF_INET6:
        address = socket.inet_ntop(socket.AF_INET6, raw)
        return f"{address.removeprefix('::ffff:')}:{port}" if address.startswith("::ffff:") else f"[{address}]:{port}"
    return f"{socket.inet_ntop(socket.AF_INET, raw[:4])}:{port}"
