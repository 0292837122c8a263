"""Connections in qlog files, as flows: congestion window, RTT, bytes in flight, losses, and bytes that passed.

Goodput is counted from STREAM frames, each byte once: of a direction that the end receives when they come, of one that it sends when an ACK frame
covers their packet. Without frames it is unknown, and bytes of packets are a series of their own.
"""

from __future__ import annotations

from collections import defaultdict
from math import ceil

from ...data.foreign_text import Unreadable
from ...data.quantities import FLOW, SERIES
from .model import BULK, QUIC, Flow, Series, Test, add_level, add_round_trips
from .qlog_connection import Connection, Way
from .qlog_file import Trace, traces

RATES_S = 0.1
MOST_RATES = 1000
"""rows of a series of rates, beyond which its steps are longer"""
FEWEST_BYTES = 14_480
"""ten segments, as in logs of ss: a direction with fewer carries requests"""


def tests_of(file: str, text: str) -> list[Test]:
    """A test for each trace of a file. Raises `Unreadable` if it has no events of packets or of recovery."""
    tests = [test for trace in traces(file, text) if (test := _test(file, trace)).flows]
    if not tests:
        raise Unreadable(f"{file}: has no packets and no recovery metrics; log events of transport and recovery")
    return tests


def _test(file: str, trace: Trace) -> Test:
    connections: dict[str, Connection] = defaultdict(Connection)
    for event in trace.events():
        connections[event.group].take(event)
    ends_s = max((each.last_s for each in connections.values()), default=0.0)
    begins_s = min((each.first_s for each in connections.values() if each.first_s is not None), default=0.0)
    test = Test("qlog", "qlog", trace.title, [file], [], trace.began_s, begins_s, ends_s, list(trace.notes))
    protocols = trace.common.get("protocol_type")
    transport = "tcp" if isinstance(protocols, list) and "TCP" in protocols else "udp"
    for each in connections.values():
        _add_flows(test, each, trace.point, transport)
    if trace.point == "unknown" and test.flows:
        test.notes.append(f"{file}: its end is unknown and taken for the client")
    return test


def _add_flows(test: Test, each: Connection, point: str, transport: str) -> None:
    """Adds the directions that carried data: the end's own with its metrics, the other's with received bytes."""
    own, other = ("down", "up") if point == "server" else ("up", "down")
    ways = [(own, each.sent, True), (other, each.received, False)]
    carries = [_carries(way, bool(each.metrics) and is_own) for _, way, is_own in ways]
    enough = [
        carried and (not way.has_frames or way.stream_bytes >= FEWEST_BYTES)
        for carried, (_, way, _) in zip(carries, ways, strict=True)
    ]
    kept = enough if any(enough) else carries
    for (direction, way, is_own), is_kept in zip(ways, kept, strict=True):
        if is_kept:
            flow = Flow("client", "server", direction, transport, QUIC if transport == "udp" else BULK)
            _add_way(flow, way, test)
            if is_own:
                _add_recovery(flow, each, test)
            test.flows.append(flow)
        elif way.has_streams:
            test.notes.append(f"{test.files[0]}: {direction}: carried less than {FEWEST_BYTES} bytes and is left out")


def _carries(way: Way, has_metrics: bool) -> bool:
    return way.has_streams or (not way.has_frames and (bool(way.bytes) or has_metrics))


def _add_way(flow: Flow, way: Way, test: Test) -> None:
    flow.values[FLOW.segments_sent] = way.packets or None
    length_s = test.to_s - test.from_s
    if way.delivered and length_s > 0:
        flow.values[FLOW.bytes_delivered] = way.stream_bytes
        flow.values[FLOW.goodput_bps] = 8 * way.stream_bytes / length_s
        flow.series[SERIES.goodput_bps] = _rates(way.delivered, test)
    else:
        test.notes.append(
            f"{test.files[0]}: {flow.direction}: goodput is unknown, as it has no STREAM frames that arrived; log frames"
        )
    if way.bytes and length_s > 0:
        flow.series["packets_bps"] = _rates(way.bytes, test)


def _rates(amounts: list[tuple[float, int]], test: Test) -> Series:
    """Bit/s in steps, at the end of each; the last one ends with the log."""
    length_s = test.to_s - test.from_s
    step_s = max(RATES_S, length_s / MOST_RATES)
    sums = [0] * max(1, ceil(length_s / step_s))
    for time_s, size in amounts:
        sums[min(len(sums) - 1, max(0, int((time_s - test.from_s) / step_s)))] += size
    ends_s = [min(test.to_s, test.from_s + step_s * (place + 1)) for place in range(len(sums))]
    begins_s = [test.from_s, *ends_s[:-1]]
    rates = [8 * size / max(end_s - begin_s, 1e-9) for begin_s, end_s, size in zip(begins_s, ends_s, sums, strict=True)]
    return Series(ends_s, rates)


def _add_recovery(flow: Flow, each: Connection, test: Test) -> None:
    """Adds the sender's state. Windows are in segments of the datagram's size, or of the largest payload."""
    found = {name: Series.of(rows) for name, rows in each.metrics.items()}
    size = each.datagram_bytes or each.payload_bytes or max((size for _, size in each.sent.bytes), default=0)
    for name, metric in (("cwnd_bytes", SERIES.cwnd_segments), ("ssthresh_bytes", SERIES.ssthresh_segments)):
        if name in found and size:
            flow.series[metric] = Series(found[name].times_s, [value / size for value in found[name].values])
    flow.series |= {name: found[name] for name in ("cwnd_bytes", "smoothed_rtt_s") if name in found}
    if "bytes_in_flight" in found:
        flow.series[SERIES.flight_size] = found["bytes_in_flight"]
    if each.lost_s:
        flow.series["packets_lost"] = Series(each.lost_s, [float(count) for count in range(1, len(each.lost_s) + 1)])
    if SERIES.cwnd_segments in flow.series:
        add_level(flow, SERIES.cwnd_segments, test)
    _add_rtt(flow, found, test)
    if each.sent.packets >= len(each.lost_s) and each.sent.packets:
        flow.values[FLOW.loss_fraction] = len(each.lost_s) / each.sent.packets


def _add_rtt(flow: Flow, found: dict[str, Series], test: Test) -> None:
    """Adds samples of the RTT; where only the smoothed RTT was logged, its mean."""
    least = [
        value for name in ("min_rtt_s", "latest_rtt_s") if name in found for value in found[name].values if value > 0
    ]
    if "latest_rtt_s" in found:
        flow.series[SERIES.rtt_s] = found["latest_rtt_s"]
        add_round_trips(flow, found["latest_rtt_s"].values)
    elif "smoothed_rtt_s" in found:
        flow.series[SERIES.rtt_s] = found["smoothed_rtt_s"]
        add_level(flow, SERIES.rtt_s, test)
    if least:
        flow.values[FLOW.rtt_min_s] = min(least)
