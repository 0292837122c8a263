"""Flows of a test from logs of ss, or flows that only these logs show."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...data.quantities import FLOW, SERIES
from .model import Flow, Series, Test, add_level
from .ss_log import Log, Socket

# A connection that has not outgrown its initial window of ten segments [RFC 6928] is taken for control, not for a flow.
FEWEST_SEGMENTS = 10
PORT = re.compile(r"\d{1,5}", re.ASCII)
# Series of a socket that no run has.
RATES = ("pacing_rate", "delivery_rate")


def shares_connections(test: Test, log: Log) -> bool:
    """Whether a log has a flow of the test."""
    return any(_ends(flow, log) for flow in test.flows)


def add_to(test: Test, log: Log) -> None:
    """Adds the samples of a log to the flows of another program's test."""
    test.files.append(log.file)
    for flow in test.flows:
        for socket in _ends(flow, log):
            _add(flow, socket, _zero(test, socket, log.is_dated), test)


def tests_of(logs: Sequence[Log]) -> list[Test]:
    """The tests of logs alone: logs that share a connection belong to one."""
    groups: list[list[Log]] = []
    for log in logs:
        of_log = {frozenset(ends) for ends in log.sockets}
        joined = [
            group for group in groups if any(frozenset(ends) in of_log for other in group for ends in other.sockets)
        ]
        groups = [group for group in groups if group not in joined] + [
            [each for group in joined for each in group] + [log]
        ]
    return [_test_of(group) for group in groups]


def _ends(flow: Flow, log: Log) -> list[Socket]:
    """The sockets of a flow that are in the log: the sender's and the receiver's."""
    if flow.ends is None or flow.transport != "tcp":
        return []
    sender, receiver = flow.ends
    return [log.sockets[ends] for ends in ((sender, receiver), (receiver, sender)) if ends in log.sockets]


def _zero(test: Test, socket: Socket, is_dated: bool) -> float:
    """The begin of the test by the clock of the log: the appearance of its connection, else the time stamp of the test."""
    if socket.was_there_first and test.began_s is not None and is_dated:
        return test.began_s
    first = socket.samples[0]
    return first.time_s - first.numbers.get("busy_s", 0.0)


def _test_of(logs: Sequence[Log]) -> Test:
    directed = {ends: socket for log in logs for ends, socket in log.sockets.items()}
    begins, flows, small = [], [], 0
    for pair in dict.fromkeys(frozenset(ends) for ends in directed):
        one, other = sorted(pair, key=_is_server) if len(pair) == 2 else (next(iter(pair)),) * 2
        for sender, receiver in ((one, other), (other, one)):
            amount, segments = _moved(directed.get((sender, receiver)), directed.get((receiver, sender)))
            if segments < FEWEST_SEGMENTS:
                small += amount > 0
                continue
            flows.append(_bare_flow(sender, receiver, is_up=sender == one))
            begins.append(_begin_s(directed.get((sender, receiver)), directed.get((receiver, sender))))
    zero_s = min(begins, default=min(log.times_s[0] for log in logs))
    files = [log.file for log in logs]
    began_s = zero_s if all(log.is_dated for log in logs) else None
    test = Test("ss", "ss", "", files, flows, began_s, 0.0, 0.0)
    advanced = [
        _end_s(log.sockets[ends], log)
        for log in logs
        for flow in flows
        for ends in _both_ways(flow)
        if ends in log.sockets
    ]
    test.to_s = max(advanced, default=zero_s) - zero_s
    for flow in flows:
        for log in logs:
            for socket in _ends(flow, log):
                _add(flow, socket, zero_s, test)
    if small:
        test.notes.append(
            f"{', '.join(files)}: {small} ways of connections that carried less than {FEWEST_SEGMENTS} segments are left out"
        )
    return test


def _both_ways(flow: Flow) -> list[tuple[str, str]]:
    """The ends of a flow by which logs may know its sockets."""
    return [] if flow.ends is None else [flow.ends, (flow.ends[1], flow.ends[0])]


def _is_server(end: str) -> tuple[int, str]:
    """Orders the ends of a connection: who opened it has the higher port, as its kernel has drawn it."""
    port = end.rpartition(":")[2]
    return (-int(port) if PORT.fullmatch(port) else 0), end


def _moved(sender: Socket | None, receiver: Socket | None) -> tuple[float, float]:
    """Bytes that went one way within the log, and how many segments these are."""
    bytes_, size = 0.0, 1448.0
    for socket, key in ((sender, "bytes_acked"), (receiver, "bytes_received")):
        if socket is not None and (series := _delivered(socket, key)).values:
            bytes_ = max(bytes_, series.values[-1])
            size = socket.last("mss") or size
    return bytes_, bytes_ / size


def _bare_flow(sender: str, receiver: str, *, is_up: bool) -> Flow:
    station, server = (sender, receiver) if is_up else (receiver, sender)
    hosts = station.rpartition(":")[0], server.rpartition(":")[0]
    return Flow(*hosts, direction="up" if is_up else "down", transport="tcp", ends=(sender, receiver))


def _delivered(socket: Socket, key: str) -> Series:
    """Bytes since the log began, or the connection: their count goes over a SYN too, and is read at the sender as ACKs come."""
    counted = [(sample.time_s, sample.numbers[key]) for sample in socket.samples if key in sample.numbers]
    if not counted:
        return Series([], [])
    first = counted[0][1] if socket.was_there_first else min(1.0, counted[0][1]) if key == "bytes_acked" else 0.0
    begin = [] if socket.before_s is None else [(socket.before_s, first)]
    times, values = zip(*begin, *counted, strict=True)
    return Series(list(times), [value - first for value in values])


def _begin_s(sender: Socket | None, receiver: Socket | None) -> float:
    """The begin of data by the clock of the log: the kernel of a sender counts the time for which it was busy."""
    socket = sender or receiver
    assert socket is not None  # data moved, and a log says so
    first = socket.samples[0]
    if not socket.was_there_first and socket is sender and "busy_s" in first.numbers:
        return first.time_s - first.numbers["busy_s"]
    return first.time_s if socket.before_s is None else socket.before_s


def _end_s(socket: Socket, log: Log) -> float:
    """The last sample up to which data flowed: that before the last advance, if the log goes on, as the flow then ended in between."""
    advances = [socket.samples[0].time_s]
    for key in ("bytes_acked", "bytes_received"):
        series = _delivered(socket, key)
        steps = zip(series.times_s[1:], series.values[1:], series.values, strict=False)
        advances += [time_s for time_s, value, before in steps if value > before]
    advances.sort()
    ended = advances[-1] < log.times_s[-1]
    return advances[-2] if ended and len(advances) > 2 else advances[-1]


def _add(flow: Flow, socket: Socket, zero_s: float, test: Test) -> None:
    is_sender = flow.ends is not None and socket.local == flow.ends[0]
    if is_sender:
        _add_sender(flow, socket, zero_s, test)
    delivered = _delivered(socket, "bytes_acked" if is_sender else "bytes_received")
    delivered = Series([time_s - zero_s for time_s in delivered.times_s], delivered.values)
    amount, length_s = _amount(delivered, test.from_s, test.to_s)
    if not length_s:
        return
    if flow.is_as_written or not is_sender or SERIES.goodput_bps not in flow.series:
        flow.series[SERIES.goodput_bps] = _rates(delivered)
        flow.is_as_written = False
    # A receiver's own counts take precedence over those reported to its sender.
    if flow.values.get(FLOW.goodput_bps) is None or (test.tool == "ss" and not is_sender):
        flow.values[FLOW.bytes_delivered] = int(amount)
        flow.values[FLOW.goodput_bps] = amount * 8 / length_s


def _amount(delivered: Series, from_s: float, to_s: float) -> tuple[float, float]:
    """Bytes of the window, and in how many seconds: up to its last sample."""
    samples = [
        (time_s, value) for time_s, value in zip(delivered.times_s, delivered.values, strict=True) if time_s <= to_s
    ]
    before = [sample for sample in samples if sample[0] <= from_s]
    if len(samples) < 2 or len(before) == len(samples):
        return 0.0, 0.0
    begin_s, base = (from_s, before[-1][1]) if before else samples[0]
    return samples[-1][1] - base, samples[-1][0] - begin_s


def _rates(delivered: Series) -> Series:
    """Bit/s between each two samples, at the later one."""
    found = Series([], [])
    steps = zip(delivered.times_s, delivered.times_s[1:], delivered.values, delivered.values[1:], strict=False)
    for before_s, time_s, before, now in steps:
        if time_s > before_s:
            found.times_s.append(time_s)
            found.values.append((now - before) * 8 / (time_s - before_s))
    return found


def _add_sender(flow: Flow, socket: Socket, zero_s: float, test: Test) -> None:
    flow.congestion_control = flow.congestion_control or socket.congestion_control

    def series(key: str) -> Series:
        rows = (sample for sample in socket.samples if key in sample.numbers)
        return Series.of((sample.time_s - zero_s, sample.numbers[key]) for sample in rows)

    # A socket is sampled more often than iperf3 reports: if both exist, the denser series counts.
    told: dict[str, Series] = {SERIES.cwnd_segments: series("cwnd"), SERIES.rtt_s: series("rtt_smoothed_s")}
    told[SERIES.ssthresh_segments] = series("ssthresh")
    unacked, mss = series("unacked"), socket.last("mss")
    if mss:
        told[SERIES.flight_size] = Series(unacked.times_s, [segments * mss for segments in unacked.values])
    told |= {f"{name}_bps": series(name) for name in RATES}
    for metric, found in told.items():
        if len(found.values) > len(flow.series.get(metric, Series([], [])).values):
            flow.series[metric] = found
            add_level(flow, metric, test)
    if minimum := series("minrtt_s").values:
        flow.values[FLOW.rtt_min_s] = min(minimum)
    _add_counts(flow, socket)


def _add_counts(flow: Flow, socket: Socket) -> None:
    """Segments since the log began, or the connection."""
    for quantity, key in ((FLOW.segments_sent, "data_segs_out"), (FLOW.segments_retransmitted, "retrans")):
        last = socket.last(key)
        if last is None and key == "retrans" and socket.last("data_segs_out") is not None:
            last = 0.0  # ss leaves out zeros
        if last is not None and flow.values.get(quantity) is None:
            first = socket.samples[0].numbers.get(key, 0.0) if socket.was_there_first else 0.0
            flow.values[quantity] = int(last - first)
