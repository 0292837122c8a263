"""Logs of `ss -ti` that was run again and again: the samples of each socket, by its two addresses.

Each sample follows its time, as `while sleep 0.2; do date +%s.%N; ss -tin; done` writes it: seconds since 1970, also in
milliseconds or nanoseconds, a date in ISO 8601 or as `date` alone writes it, or a time of day. With `-O` a socket is one line, otherwise two.
The input is the text of iproute2, whose fields are the fields of the kernel's `tcp_info`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from ...data.foreign_text import Unreadable
from .model import LARGEST
from .stamps import DAY_S, Stamp, stamp_of

STATES = {
    *("ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN", "CLOSE-WAIT", "LAST-ACK"),
    *("LISTEN", "CLOSING", "CLOSED"),
}
PORT = re.compile(r"[\w.+*-]+")
RATE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)([KMGT]?)bps")
PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
# Names before their rate, separated by a space.
RATES = ("send", "pacing_rate", "delivery_rate")
TIMES_MS = {"minrtt": "minrtt_s", "busy": "busy_s"}
COUNTS = (
    *("cwnd", "ssthresh", "mss", "bytes_acked", "bytes_received", "bytes_sent", "data_segs_out", "unacked"),
    *("delivered", "bytes_retrans"),
)


@dataclass
class Sample:
    """A socket at one time; numbers by the names that `ss` gives them, in seconds, bytes and bit/s."""

    time_s: float
    numbers: dict[str, float]


@dataclass
class Socket:
    """One end of a connection, over the whole log."""

    local: str
    remote: str
    samples: list[Sample] = field(default_factory=list)
    congestion_control: str | None = None
    was_there_first: bool = False
    """whether the first sample of the log has it"""
    before_s: float | None = None
    """the sample of the log before its first one"""

    def last(self, name: str) -> float | None:
        """The latest value of a number."""
        return next((sample.numbers[name] for sample in reversed(self.samples) if name in sample.numbers), None)


@dataclass
class Log:
    """The content of a log."""

    file: str
    sockets: dict[tuple[str, str], Socket]
    times_s: list[float]
    is_dated: bool = True
    """whether times count from 1970, and not from a midnight"""


def looks_like_ss(text: str) -> bool:
    """Whether a text that begins so is a log of ss."""
    words = {word for line in text.splitlines()[:60] for word in line.split()[:2]}
    return bool(words & STATES) or "Recv-Q" in text[:4000]


def read_log(file: str, lines: Iterable[str]) -> Log:
    """The log in these lines. Raises `Unreadable` if a sample has no time, or no socket has any values."""
    log = Log(file, {}, [])
    _read(log, lines)
    if not log.times_s:
        raise Unreadable(f"{file}: has no socket; log with: while sleep 0.2; do date +%s.%N; ss -tin; done")
    if not any(sample.numbers for socket in log.sockets.values() for sample in socket.samples):
        raise Unreadable(
            f"{file}: has no values of any TCP socket; log `ss -tin`, whose option -i shows the state of the kernel"
        )
    return log


def latest(lines: Iterable[str]) -> list[Socket]:
    """The connections of `ss` in any form, with or without times, each with its last sample."""
    log = Log("ss", {}, [0.0])
    _read(log, lines, has_times=False)
    return list(log.sockets.values())


def _read(log: Log, lines: Iterable[str], has_times: bool = True) -> None:
    """Reads lines into a log: times, sockets, and the indented lines that continue a socket."""
    current: Socket | None = None
    for number, line in enumerate(lines, 1):
        if (stamp := stamp_of(line)) is not None:
            if has_times:
                _add_time(log, number, stamp)
            current = None
        elif line[:1].isspace():
            if current is not None:
                _add(current, line.split())
        else:
            current = _begun(log, number, line.split())


def _add_time(log: Log, number: int, stamp: Stamp) -> None:
    time_s, before_s = stamp.time_s, log.times_s[-1] if log.times_s else 0.0
    log.is_dated &= stamp.is_dated
    if not stamp.is_dated:
        days = before_s // DAY_S
        time_s += DAY_S * (days + (time_s + DAY_S * days < before_s - DAY_S / 2))
    if time_s < before_s:
        raise Unreadable(f"{log.file}, line {number}: the time goes back; give each log of ss as a file of its own")
    log.times_s.append(time_s)


def _begun(log: Log, number: int, words: list[str]) -> Socket | None:
    """The socket whose line has these words; None for headings and other lines without a connection."""
    place = next((place for place, word in enumerate(words[:2]) if word in STATES), None)
    if place is None:
        return None
    state = words[place]
    if place == 1 and words[0] != "tcp":
        return None  # with several kinds of sockets, `ss` names the kind of each
    addresses = [_address(word) for word in words[place + 3 : place + 5]]
    local, remote = addresses if len(addresses) == 2 else (None, None)
    if local is None or remote is None:
        raise Unreadable(f"{log.file}, line {number}: no two addresses with ports behind {state}; log with `ss -tin`")
    if not log.times_s:
        raise Unreadable(
            f"{log.file}, line {number}: no time before this sample; log with: while sleep 0.2; do date +%s.%N; ss -tin; done"
        )
    if state in ("LISTEN", "UNCONN", "TIME-WAIT"):
        return None
    if (socket := log.sockets.get((local, remote))) is None:
        first = len(log.times_s) == 1
        before_s = None if first else log.times_s[-2]
        socket = log.sockets[local, remote] = Socket(local, remote, was_there_first=first, before_s=before_s)
    socket.samples.append(Sample(log.times_s[-1], {}))
    _add(socket, words[place + 5 :])
    return socket


def _address(word: str) -> str | None:
    """`10.0.0.1:5201` of the ways in which ss writes an address; None for other words. Without -n a port is a service."""
    host, colon, port = word.rpartition(":")
    if not colon or not host or not PORT.fullmatch(port):
        return None
    host = host.partition("%")[0].strip("[]")
    return f"{host.removeprefix('::ffff:')}:{port}"


def _add(socket: Socket, words: list[str]) -> None:
    """Reads the words after the addresses."""
    numbers, before, is_at_head = socket.samples[-1].numbers, "", True
    for word in words:
        key, colon, value = word.partition(":")
        if before in RATES and (rate := RATE.fullmatch(word)):
            numbers[before] = float(rate[1]) * PREFIXES[rate[2]]
        elif colon and is_at_head and key in ("wscale", "rto"):
            # The last word before the first number is the congestion control, after flags.
            socket.congestion_control = before or socket.congestion_control
            is_at_head = False
        if colon:
            with suppress(ValueError):
                _add_number(numbers, key, value)
        before = "" if colon else word


def _add_number(numbers: dict[str, float], key: str, value: str) -> None:
    if key == "rtt":
        name, found = "rtt_smoothed_s", float(value.partition("/")[0]) / 1e3
    elif key == "retrans":
        name, found = key, float(value.rpartition("/")[2])
    elif key in TIMES_MS:
        name, found = TIMES_MS[key], float(value.partition("ms")[0]) / 1e3
    elif key in COUNTS:
        name, found = key, float(value)
    else:
        return
    if 0 <= found < LARGEST:
        numbers[name] = found
