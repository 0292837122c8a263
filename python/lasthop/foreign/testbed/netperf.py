"""Output of netperf 2: text of classic and omni tests, interim results (`-D`), CSV (`-o`, `-O`) and keyvals (`-k`).

Throughput of a stream is counted where it arrives, except for UDP, whose text has a row for each end. A test of requests and responses
is a ping: its mean round trip is the inverse of its rate, times the transactions that a burst keeps outstanding. Names of the omni test are in the appendix of netperf's manual.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...data.foreign_text import Unreadable
from ...data.quantities import FLOW, SERIES
from .model import BULK, LARGEST, PING, Flow, Series, Test

DECIMAL = r"\d{1,12}(?:\.\d{1,6})?"
TITLE = re.compile(
    r"(?:MIGRATED |OMNI )?(\w[\w/|\- ]*?) TEST(?: from (\S+)(?: \(\S*\))? port \d+(?: AF_\w+)? to (\S+)|\s*$|:)"
)
INTERIM = re.compile(rf"Interim result: +({DECIMAL}) +(\S+?)(?:/s)? +over +({DECIMAL}) seconds? ending at ({DECIMAL})")
BURST = re.compile(r"first burst (\d{1,6})\b")
KEYVAL = re.compile(r"([A-Z][A-Z0-9_]+)(?:\[(\d+)\])?=(.*)")
UNIT = re.compile(r"(10\^\d+bits|[KMG]?Bytes|bytes|Trans)/s", re.IGNORECASE)
NUMBERS = re.compile(r"\s*-?\d+(?:\.\d+)?(?:\s+-?\d+(?:\.\d+)?)*(?:\s+(\S*/s\S*))?\s*$")
BITS = {
    "10^3bits": 1e3,
    "10^6bits": 1e6,
    "10^9bits": 1e9,
    "bytes": 8.0,
    "kbytes": 8.0 * 2**10,
    "mbytes": 8.0 * 2**20,
    "gbytes": 8.0 * 2**30,
}
# Headings of CSV, which are the names of keyvals in words.
WORDS = {
    "throughput": "THROUGHPUT",
    "throughput units": "THROUGHPUT_UNITS",
    "elapsed time (sec)": "ELAPSED_TIME",
    "direction": "DIRECTION",
    "protocol": "PROTOCOL",
    "local bytes sent": "LOCAL_BYTES_SENT",
    "local bytes received": "LOCAL_BYTES_RECVD",
    "remote bytes received": "REMOTE_BYTES_RECVD",
    "remote recv throughput": "REMOTE_RECV_THROUGHPUT",
    "local recv throughput": "LOCAL_RECV_THROUGHPUT",
    "local transport retransmissions": "LOCAL_TRANSPORT_RETRANS",
    "remote transport retransmissions": "REMOTE_TRANSPORT_RETRANS",
    "local congestion control algorithm": "LOCAL_CONG_CONTROL",
    "remote congestion control algorithm": "REMOTE_CONG_CONTROL",
    "mean latency microseconds": "MEAN_LATENCY",
    "minimum latency microseconds": "MIN_LATENCY",
    "50th percentile latency microseconds": "P50_LATENCY",
    "99th percentile latency microseconds": "P99_LATENCY",
    "round trip latency usec/tran": "RT_LATENCY",
    "destination address": "DEST_ADDR",
    "source address": "SOURCE_ADDR",
}


@dataclass
class _Run:
    """One run of netperf: its title, and numbers by the names of the omni test."""

    title: str = ""
    server: str = ""
    unit: str = ""
    outstanding: int = 1
    """transactions at a time"""
    found: dict[str, str] = field(default_factory=dict)
    interim: list[tuple[float, float, str, float]] = field(default_factory=list)
    """rate, length in s, unit, end in s since 1970"""
    rows: list[list[float]] = field(default_factory=list)
    """rows of numbers in a text"""

    @property
    def is_empty(self) -> bool:
        return not (self.found or self.interim or self.rows)

    def number(self, name: str) -> float | None:
        """A number of the omni test; None if it is missing, or netperf did not know it and wrote -1."""
        try:
            value = float(self.found.get(name, ""))
        except ValueError:
            return None
        return value if 0 <= value < LARGEST else None


def looks_like_netperf(text: str) -> bool:
    """Whether a text that begins so is of netperf."""
    lines = text.splitlines()[:40]
    return any(_title(line) or INTERIM.match(line) or line.startswith("NETPERF_") for line in lines) or _has_names(
        lines
    )


def _title(line: str) -> re.Match[str] | None:
    found = TITLE.match(line)
    return found if found and (line.startswith(("MIGRATED ", "OMNI ")) or found[2] is not None) else None


def _has_names(lines: Iterable[str]) -> bool:
    keys = {found[1] for line in lines if (found := KEYVAL.fullmatch(line.strip()))}
    return bool(keys & {"THROUGHPUT", "TRANSACTION_RATE"}) or any(_is_heading(line) for line in lines)


def _is_heading(line: str) -> bool:
    names = {word.strip().lower() for word in line.split(",")}
    return "throughput" in names and "," in line


def tests_of(file: str, text: str) -> list[Test]:
    """A test for each run of netperf in a text. Raises `Unreadable` if it has no numbers."""
    runs = [run for run in _runs(text.splitlines()) if not run.is_empty]
    tests = [test for run in runs if (test := _test(file, run)) is not None]
    if not tests:
        raise Unreadable(f"{file}: netperf measured nothing; was it ended before its time? repeat the test")
    return tests


def _runs(lines: Iterable[str]) -> list[_Run]:
    runs, heading = [_Run()], ""
    for line in lines:
        if title := _title(line):
            burst = BURST.search(line)
            runs.append(_Run(title[1].upper(), title[3] or "", outstanding=1 + int(burst[1]) if burst else 1))
        elif _is_heading(line):
            runs = [*runs, _Run()] if runs[-1].found else runs
            heading = line
        elif heading and "," in line:
            runs[-1].found |= _of_csv(heading, line)
            heading = ""
        else:
            _add(runs, line)
    return runs


def _add(runs: list[_Run], line: str) -> None:
    run = runs[-1]
    if interim := INTERIM.match(line):
        run.interim.append((float(interim[1]), float(interim[3]), interim[2], float(interim[4])))
    elif pair := KEYVAL.fullmatch(line.strip()):
        if pair[2] is None and pair[1] in run.found:
            runs.append(_Run())
        runs[-1].found[pair[1] if pair[2] is None else f"{pair[1]}[{pair[2]}]"] = pair[3].strip()
    elif numbers := NUMBERS.match(line):
        run.rows.append([float(word) for word in line.split() if re.fullmatch(rf"-?{DECIMAL}", word)])
        run.unit = numbers[1] or run.unit
    elif unit := UNIT.search(line.replace("bits/sec", "bits/s")):
        run.unit = unit[0]


def _of_csv(heading: str, line: str) -> dict[str, str]:
    names, values = next(csv.reader([heading]), []), next(csv.reader([line]), [])
    pairs = zip((" ".join(name.split()).lower() for name in names), values, strict=False)
    return {WORDS[name]: value.strip() for name, value in pairs if name in WORDS}


def _bits(unit: str) -> float | None:
    """Bit/s of a unit of throughput; None for transactions and unknown ones."""
    return BITS.get(unit.lower().removesuffix("ec").removesuffix("/s"))


def _test(file: str, run: _Run) -> Test | None:
    is_ping, is_down = _is_ping(run), _is_down(run)
    transport = "udp" if "UDP" in run.title or run.found.get("PROTOCOL") == "UDP" else "tcp"
    server = run.found.get("DEST_ADDR") or run.server or "server"
    station = run.found.get("SOURCE_ADDR") or "station"
    station = "station" if station in ("0.0.0.0", "::") else station
    direction = "down" if is_down else "up"
    flow = Flow(station, server, direction, transport, PING if is_ping else BULK)
    flow.is_as_written = direction == "up"
    test = Test("netperf", "netperf", run.title.lower(), [file], [flow], None, 0.0, 0.0)
    length_s = _add_interim(flow, run, test)
    whole_s = _add_round_trips(flow, run) if is_ping else _add_throughput(flow, run, test)
    test.to_s = whole_s or length_s
    return test if test.to_s > 0 and (flow.values or flow.series) else None


def _is_ping(run: _Run) -> bool:
    unit = run.found.get("THROUGHPUT_UNITS") or run.unit or (run.interim[0][2] if run.interim else "")
    return "REQUEST/RESPONSE" in run.title or unit.lower().startswith("trans")


def _is_down(run: _Run) -> bool:
    direction = run.found.get("DIRECTION", "").lower()
    return "MAERTS" in run.title or run.title.startswith("REC") or direction.startswith("rec")


def _add_interim(flow: Flow, run: _Run, test: Test) -> float:
    """Adds throughput over time; returns how long it lasted."""
    rows = [*run.interim, *_interim_of_keyvals(run)]
    if not rows:
        return 0.0
    began_s = rows[0][3] - rows[0][1]
    test.began_s = began_s
    told = [(end_s - began_s, value * scale) for value, _, unit, end_s in rows if (scale := _bits(unit)) is not None]
    if told and flow.traffic == BULK:
        flow.series[SERIES.goodput_bps] = Series.of(told)
    return max(0.0, rows[-1][3] - began_s)


def _interim_of_keyvals(run: _Run) -> list[tuple[float, float, str, float]]:
    found: list[tuple[float, float, str, float]] = []
    while True:
        at = f"[{len(found)}]"
        numbers = [run.number(f"NETPERF_{name}{at}") for name in ("INTERIM_RESULT", "INTERVAL", "ENDING")]
        value, length_s, end_s = numbers
        if value is None or length_s is None or end_s is None:
            return found
        found.append((value, length_s, run.found.get(f"NETPERF_UNITS{at}", ""), end_s))


def _add_throughput(flow: Flow, run: _Run, test: Test) -> float | None:
    """Adds the throughput of a stream; returns how long it lasted, if that is known."""
    if flow.transport == "udp" and len(run.rows) >= 2:
        return _add_udp(flow, run)
    scale = _bits(run.found.get("THROUGHPUT_UNITS", run.unit or "10^6bits/s"))
    if run.found:
        return _add_omni(flow, run, scale, test)
    row = next((row for row in reversed(run.rows) if len(row) >= 5), None)
    if row is None or scale is None:
        return None
    # Sizes of two sockets and of a message, time, throughput.
    flow.values[FLOW.goodput_bps] = row[4] * scale
    return row[3]


def _add_udp(flow: Flow, run: _Run) -> float | None:
    """Adds a row of the sender and one of the receiver: datagrams, and throughput that arrived."""
    sent, received = run.rows[-2:]
    scale = _bits(run.unit)
    if len(sent) < 6 or len(received) < 4 or scale is None:
        return None
    flow.is_as_written = True
    flow.values[FLOW.segments_sent] = int(sent[3])
    flow.values[FLOW.bytes_delivered] = int(received[2] * sent[1])
    flow.values[FLOW.goodput_bps] = received[3] * scale
    if sent[3] >= received[2] and sent[3] > 0:
        flow.values[FLOW.loss_fraction] = 1 - received[2] / sent[3]
    return sent[2]


def _add_omni(flow: Flow, run: _Run, scale: float | None, test: Test) -> float | None:
    arrived = run.number("LOCAL_RECV_THROUGHPUT" if flow.direction == "down" else "REMOTE_RECV_THROUGHPUT")
    told = arrived if arrived is not None else run.number("THROUGHPUT")
    if flow.transport == "udp" and arrived is None:
        test.notes.append(f"{test.files[0]}: THROUGHPUT of UDP is the sender's; ask for REMOTE_RECV_THROUGHPUT too")
    elif told is not None and scale is not None:
        flow.values[FLOW.goodput_bps] = told * scale
    received = run.number("LOCAL_BYTES_RECVD" if flow.direction == "down" else "REMOTE_BYTES_RECVD")
    flow.values[FLOW.bytes_delivered] = None if received is None else int(received)
    side = "REMOTE" if flow.direction == "down" else "LOCAL"
    again = run.number(f"{side}_TRANSPORT_RETRANS")
    flow.values[FLOW.segments_retransmitted] = None if again is None else int(again)
    flow.congestion_control = run.found.get(f"{side}_CONG_CONTROL") or None
    return run.number("ELAPSED_TIME")


def _add_round_trips(flow: Flow, run: _Run) -> float | None:
    """Adds round trips of transactions; returns how long the test lasted, if that is known."""
    flow.is_as_written = False
    names: Mapping[str, str] = {
        FLOW.rtt_mean_s: "MEAN_LATENCY",
        FLOW.rtt_min_s: "MIN_LATENCY",
        FLOW.rtt_p50_s: "P50_LATENCY",
        FLOW.rtt_p99_s: "P99_LATENCY",
    }
    flow.values |= {key: found * 1e-6 for key, name in names.items() if (found := run.number(name)) is not None}
    # Sizes of two sockets, of a request and of a response, time, rate.
    row = next((row for row in run.rows if len(row) >= 6), None)
    rate, length_s = (row[5], row[4]) if row else (run.number("THROUGHPUT"), run.number("ELAPSED_TIME"))
    if rate and FLOW.rtt_mean_s not in flow.values:
        flow.values[FLOW.rtt_mean_s] = run.outstanding / rate
    return length_s
