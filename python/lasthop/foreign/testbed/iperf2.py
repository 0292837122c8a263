"""Output of iperf 2: CSV (`-y C`) and text, also enhanced (`-e`), of either end.

A row is an interval of one connection; the row that begins at zero and lasts longest is its sum, and is the only row without `-i`.
The end with the port of the server, 5001 unless told, receives. A client of TCP counts bytes that it wrote: a socket's buffer more
than arrived.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from ...data.foreign_text import Unreadable
from ...data.quantities import FLOW, SERIES
from .model import Flow, Series, Test, level_mean
from .ss_log import PREFIXES

# Since 2.1 the zone comes first, and since 2.2 the interval has two columns, with a heading above.
CSV = re.compile(
    r"(?:[+-]\d{4}:)?\d{14}(?:\.\d+)?(?:[+-]\d{4})?,[^,]*,\d+,[^,]*,\d+,-?\d+,\d{1,9}(?:\.\d{1,9})?[-,]\d{1,9}(?:\.\d{1,9})?,\d{1,18},\d{1,18}\s*(?:,|$)",
    re.ASCII,
)
STAMP = re.compile(r"(?:([+-]\d{4}):)?(\d{14})(?:\.\d+)?([+-]\d{4})?")
HEADING = "time,srcaddress,srcport,"
IN_HEADING = 10
"""columns of a heading before those that depend on the protocol"""
UNKNOWN_RETRIES = (1 << 32) - 1
"""what iperf 2.2 writes where it does not know the retransmissions"""
BANNER = re.compile(r"(Client connecting to (\S+), |Server listening on )(TCP|UDP) port (\d+)")
ENDS = re.compile(r"\[ *(\*?\d+)\] local (\S+) port (\d+) connected with (\S+) port (\d+)")
ROW = re.compile(
    r"\[ *(\*?\d+|SUM)\](?:\[UD\])? +(\d{1,9}(?:\.\d{1,9})?) ?- ?(\d{1,9}(?:\.\d{1,9})?) +sec +[\d.]+ +[KMGT]?Bytes +(\d{1,9}(?:\.\d{1,9})?) +([KMGT]?)(bits|Bytes)/sec(.*)"
)
LOSS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) +ms +(-?\d{1,15})/ *(\d{1,15})\b")
ENHANCED = re.compile(r"\d+/\d+ +(\d{1,15}) +(-?\d{1,12})K(?:\([\d-]+\))?/(\d{1,12})(?:\(\d+\))? us")
KIB = 1024
PORT = 5001
SHORTEST_S = 1e-6
WHOLE = 0.75
"""of a test: a row that is shorter is an interval, not the sum"""


@dataclass(frozen=True)
class _Row:
    """An interval, in SI units."""

    begin_s: float
    end_s: float
    bps: float
    bytes: int | None = None
    lost: tuple[float, int, int] | None = None
    """of UDP: jitter in s, datagrams lost, datagrams in all"""
    retransmitted: int | None = None
    cwnd_bytes: int | None = None
    rtt_s: float | None = None


@dataclass
class _Connection:
    """A connection as one end reports it."""

    local: str = ""
    remote: str = ""
    rows: list[_Row] = field(default_factory=list)
    began_s: float | None = None
    is_udp: bool = False

    @property
    def whole(self) -> _Row:
        """The row of the whole test."""
        first, last = min(row.begin_s for row in self.rows), max(row.end_s for row in self.rows)
        # At the end of UDP the report of the server follows, which counts arrivals.
        longest = max(
            (row for row in self.rows if row.begin_s == first), key=lambda row: (row.end_s, row.lost is not None)
        )
        return longest if longest.end_s - first > WHOLE * (last - first) else _sum(self.rows)

    @property
    def intervals(self) -> list[_Row]:
        """The rows of single intervals, in order."""
        whole = self.whole
        inner = [row for row in self.rows if (row.begin_s, row.end_s) != (whole.begin_s, whole.end_s)]
        return sorted(inner, key=lambda row: row.end_s) or [whole]


def _sum(rows: list[_Row]) -> _Row:
    """The whole of a test that was ended before its last row."""
    lengths = [row.end_s - row.begin_s for row in rows]
    bits = sum(row.bps * length_s for row, length_s in zip(rows, lengths, strict=True))
    lost = [row.lost for row in rows if row.lost is not None]
    return _Row(
        min(row.begin_s for row in rows),
        max(row.end_s for row in rows),
        bits / sum(lengths),
        None if any(row.bytes is None for row in rows) else sum(row.bytes or 0 for row in rows),
        (lost[-1][0], sum(one[1] for one in lost), sum(one[2] for one in lost)) if len(lost) == len(rows) else None,
    )


def looks_like_iperf2(text: str) -> bool:
    """Whether a text that begins so is of iperf 2."""
    lines = text.splitlines()[:40]
    return any(CSV.match(line) or BANNER.search(line) for line in lines)


def tests_of(file: str, text: str) -> list[Test]:
    """The tests in a text, one after another. Raises `Unreadable` if it has no intervals."""
    lines = text.splitlines()
    is_csv = any(CSV.match(line) for line in lines[:40])
    groups = [_of_csv(lines)] if is_csv else _of_text(lines)
    groups = [found for group in groups if (found := [each for each in group if each.rows])]
    if not groups and any((row := ROW.search(line)) and row[1] == "SUM" for line in lines):
        raise Unreadable(f"{file}: has only sums of parallel connections; repeat the test without --sum-only")
    if not groups:
        raise Unreadable(f"{file}: iperf measured nothing; was it ended before the first interval? repeat the test")
    every = [each for group in groups for each in group]
    port = _port(every)
    # A client that also receives (-d, -r) has connections of both kinds.
    by_client = any(not each.local.endswith(port) for each in every)
    return [_test(file, group, port, by_client) for group in groups]


def _of_csv(lines: Iterable[str]) -> list[_Connection]:
    found: dict[tuple[str, ...], _Connection] = {}
    names: list[str] = []
    for line in lines:
        if line.startswith(HEADING):
            names = [name.strip() for name in line.split(",")[IN_HEADING:]]
        words = _csv_words(line) if CSV.match(line) else []
        if not words or words[5].startswith("-"):
            continue  # the sum of parallel connections
        local, remote = f"{words[1]}:{words[2]}", f"{words[3]}:{words[4]}"
        connection = found.setdefault((local, remote, words[5]), _Connection(local, remote))
        row = _csv_row(words, names)
        if row is None:
            continue
        connection.rows.append(row)
        connection.is_udp |= row.lost is not None
        stamp_s = _stamp(words[0])
        if connection.began_s is None and stamp_s is not None:
            connection.began_s = stamp_s - row.end_s
    return _joined(found.values())


def _csv_words(line: str) -> list[str]:
    """The columns of a row, with the interval as one."""
    words = line.strip().split(",")
    return words if "-" in words[6] else [*words[:6], f"{words[6]}-{words[7]}", *words[8:]]


def _joined(found: Iterable[_Connection]) -> list[_Connection]:
    """Connections, where the report that a server sends back belongs to its client's connection."""
    by_ends: dict[frozenset[str], _Connection] = {}
    for each in found:
        other = by_ends.setdefault(frozenset((each.local, each.remote)), each)
        if other is not each:
            other.rows += each.rows
            other.is_udp |= each.is_udp
    return list(by_ends.values())


def _csv_row(words: list[str], names: list[str]) -> _Row | None:
    begin, _, end = words[6].partition("-")
    if float(end) - float(begin) < SHORTEST_S:
        return None
    lost, whole = None, (float(begin), float(end), float(words[8]), int(words[7]))
    # A jitter has decimals, unlike the counts of writes that a row of TCP has in its place.
    if len(words) >= 12 and "." in words[9] and all(_is_number(word) for word in words[9:12]):
        lost = float(words[9]) / 1e3, int(float(words[10])), int(float(words[11]))
    told = {name: int(word) for name, word in zip(names, words[9:], strict=False) if word.isdecimal()}
    retransmitted, rtt_us = told.get("tcpretry"), told.get("tcprtt")
    if retransmitted == UNKNOWN_RETRIES:
        retransmitted = None
    return _Row(*whole, lost, retransmitted, None, None if rtt_us is None else rtt_us * 1e-6)


def _is_number(word: str) -> bool:
    return re.fullmatch(r"\d{1,15}(?:\.\d+)?", word) is not None


def _stamp(word: str) -> float | None:
    found = STAMP.match(word)
    if found is None:
        return None
    try:
        return datetime.strptime(found[2] + (found[1] or found[3] or "+0000"), "%Y%m%d%H%M%S%z").timestamp()
    except ValueError:
        return None


def _of_text(lines: Iterable[str]) -> list[list[_Connection]]:
    """The connections by their tests: an id that is free again belongs to a later one."""
    groups: list[dict[str, _Connection]] = [{}]
    is_udp = False
    for line in lines:
        if banner := BANNER.search(line):
            is_udp = banner[3] == "UDP"
        elif ends := ENDS.search(line):
            local, remote = f"{ends[2]}:{ends[3]}", f"{ends[4]}:{ends[5]}"
            before = groups[-1].get(ends[1].lstrip("*"))
            if before is not None and before.rows:
                groups.append({})
            groups[-1][ends[1].lstrip("*")] = _Connection(local, remote, is_udp=is_udp)
        elif (row := ROW.search(line)) and row[1] != "SUM" and (read := _text_row(row)) is not None:
            index = row[1].lstrip("*")
            # A connection may outlast another one whose id was used again.
            owner = next((group for group in reversed(groups) if index in group), groups[-1])
            owner.setdefault(index, _Connection(is_udp=is_udp)).rows.append(read)
    return [list(group.values()) for group in groups]


def _text_row(row: re.Match[str]) -> _Row | None:
    begin_s, end_s, rate = float(row[2]), float(row[3]), float(row[4])
    bps = rate * (PREFIXES[row[5]] if row[6] == "bits" else 8 * KIB ** " KMGT".index(row[5] or " "))
    if end_s - begin_s < SHORTEST_S:
        return None
    loss, more = LOSS.search(row[7]), ENHANCED.search(row[7])
    lost = (float(loss[1]) / 1e3, max(0, int(loss[2])), int(loss[3])) if loss else None
    if more is None:
        return _Row(begin_s, end_s, bps, None, lost)
    window = int(more[2]) * KIB
    return _Row(begin_s, end_s, bps, None, lost, int(more[1]), window if window > 0 else None, int(more[3]) * 1e-6)


def _test(file: str, connections: list[_Connection], port: str, by_client: bool) -> Test:
    flows = [_flow(each, port, by_client) for each in connections]
    ends_s = max(each.whole.end_s for each in connections)
    began = [each.began_s for each in connections if each.began_s is not None]
    test = Test("iperf2", "iperf 2", "", [file], flows, min(began, default=None), 0.0, ends_s)
    for flow, each in zip(flows, connections, strict=True):
        _add(flow, each, test)
    written = [flow for flow in flows if flow.is_as_written and flow.transport == "tcp"]
    if written:
        test.notes.append(
            f"{file}: goodput is the sender's writes, a socket's buffer more than arrived; the server has what arrived"
        )
    return test


def _port(connections: list[_Connection]) -> str:
    """The end of the address of the server: 5001, or the port that all connections have in common."""
    ports = [{end.rpartition(":")[2] for end in (each.local, each.remote)} for each in connections]
    shared = set.intersection(*ports) - {""}
    usual = str(PORT)
    return f":{usual if usual in shared or not shared else min(shared, key=lambda port: (len(port), port))}"


def _flow(each: _Connection, port: str, by_client: bool) -> Flow:
    sends = not each.local.endswith(port)
    client, server = (each.local, each.remote) if by_client else (each.remote, each.local)
    hosts = client.rpartition(":")[0] or "station", server.rpartition(":")[0] or "server"
    sender, receiver = (each.local, each.remote) if sends else (each.remote, each.local)
    direction = "up" if sends or not by_client else "down"
    ends = (sender, receiver) if sender and receiver else None
    return Flow(*hosts, direction, "udp" if each.is_udp else "tcp", ends=ends, is_as_written=sends)


def _add(flow: Flow, each: _Connection, test: Test) -> None:
    whole, rows = each.whole, each.intervals
    flow.series[SERIES.goodput_bps] = Series([row.end_s for row in rows], [row.bps for row in rows])
    if flow.transport == "udp" and whole.lost is None:
        return  # what a client sent, of which nothing is known to have arrived
    length_s = whole.end_s - whole.begin_s
    flow.values[FLOW.goodput_bps] = whole.bps if whole.bytes is None else whole.bytes * 8 / length_s
    flow.values[FLOW.bytes_delivered] = None if flow.is_as_written and whole.lost is None else whole.bytes
    if whole.lost is not None:
        _add_lost(flow, *whole.lost)
    _add_enhanced(flow, rows, test)


def _add_lost(flow: Flow, jitter_s: float, lost: int, sent: int) -> None:
    flow.values[FLOW.jitter_s] = jitter_s
    flow.values[FLOW.segments_sent] = sent
    flow.values[FLOW.loss_fraction] = lost / sent if sent >= lost and sent else None


def _add_enhanced(flow: Flow, rows: list[_Row], test: Test) -> None:
    """Retransmissions, and the window in bytes and the RTT of the kernel, at the end of each interval."""
    counted = [row.retransmitted for row in rows if row.retransmitted is not None]
    if counted:
        flow.values[FLOW.segments_retransmitted] = sum(counted)
    rtt = [(row.end_s, row.rtt_s) for row in rows if row.rtt_s]
    if rtt:
        flow.series[SERIES.rtt_s] = Series.of(rtt)
        flow.values[FLOW.rtt_mean_s] = level_mean(flow.series[SERIES.rtt_s], test.from_s, test.to_s)
    windows = [(row.end_s, float(row.cwnd_bytes)) for row in rows if row.cwnd_bytes]
    if windows:
        flow.series["cwnd_bytes"] = Series.of(windows)
