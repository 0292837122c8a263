"""The offered load of flows: bulk data, a size, a rate, or the single writes of an application."""

from __future__ import annotations

from dataclasses import dataclass

from .observation import Flow, Seen
from .path import delay_beyond, is_bulk
from .provenance import Line, Section, percent, rate_text, time_text

RAMP_S = 2.0
"""the simulated time before the compared interval, if flows existed before the capture"""
JITTER = "100 ms"
AT_ONCE_S = 0.2
BEFORE_END_S = 2e-6
"""in times of whole microseconds, the least time before the end at which a flow may start"""
EVERY_SEGMENT = 0.8
"""ACKs for each segment from which on all are acknowledged"""
FULL_PACKET_BYTES = 1500
LEAST_SEGMENTS = 500


@dataclass(frozen=True)
class Load:
    """A flow of the twin."""

    flow: Flow
    lines: tuple[Line, ...]
    trace: tuple[str, str] | None = None
    """name and text of the file with its writes"""

    def section(self) -> Section:
        """`[[flow]]`."""
        return Section("[[flow]]", self.lines)


def warmup_of(seen: Seen) -> float:
    """The simulated time before the interval that is compared with the capture."""
    return RAMP_S if any(flow.opened_s is None and flow.transport == "tcp" for flow in seen.flows) else 0.0


def load_of(flow: Flow, seen: Seen, name: str, delay_s: float) -> Load:
    """A flow with the offered load of the original; `name` begins the name of its file, if it needs one, `delay_s` is the wire's."""
    lines = [
        Line("station", flow.station, "seen"),
        Line("direction", flow.direction, "seen: it goes where most bytes went"),
    ]
    if flow.transport == "udp":
        lines.append(Line("transport", "udp", "seen"))
    # A ping has its own key for its payload.
    if flow.packet_bytes != FULL_PACKET_BYTES and flow.packets > 10 and not flow.is_echo:
        lines.append(Line("packet_size", f"{flow.packet_bytes} B", "seen: its largest packet"))
    further = delay_beyond(seen, flow)
    if further:
        lines.append(
            Line("wired_delay", time_text(further), "seen: so much longer are its shortest turnarounds, halved")
        )
    lines += _start(flow, seen, delay_s + further if flow.direction == "down" else 0.0)
    if flow.transport == "tcp":
        lines += _acks(flow)
    more, trace = _demand(flow, seen, name)
    return Load(flow, (*lines, *more), trace)


def _start(flow: Flow, seen: Seen, behind_s: float) -> list[Line]:
    """When it starts: `behind_s` before its first packet reaches the air, as servers open what goes down."""
    warmup_s = warmup_of(seen)
    # The last packet of a capture may be the first of a flow, which then starts with the end of the run.
    latest_s = warmup_s + seen.length_s - BEFORE_END_S
    if flow.opened_s is not None:
        start_s = max(0.0, min(flow.opened_s + warmup_s - behind_s, latest_s))
        return [Line("start", time_text(start_s), "seen: its connection was opened then")]
    if flow.first_s is not None and flow.first_s >= AT_ONCE_S:
        return [Line("start", time_text(min(flow.first_s + warmup_s, latest_s)), "seen: its first data")]
    return [Line("start_jitter", JITTER, "assumed: it was there when the capture began")]


def _acks(flow: Flow) -> list[Line]:
    if flow.segments >= LEAST_SEGMENTS and flow.acks > EVERY_SEGMENT * flow.segments:
        return [Line("ack", "every_segment", f"seen: {flow.acks} ACKs for {flow.segments} segments")]
    return []


def _demand(flow: Flow, seen: Seen, name: str) -> tuple[list[Line], tuple[str, str] | None]:
    span = max((flow.last_s or 0.0) - (flow.first_s or 0.0), 1e-9)
    if flow.transport == "udp":
        return _datagrams(flow, seen)
    if not is_bulk(flow) and flow.writes is not None:
        file = f"{name}.{flow.id}.csv"
        begin = flow.first_s or 0.0
        rows = "".join(f"{time_s - begin:.6f},{size}\n" for time_s, size in flow.writes)
        origin = f"seen: nothing was outstanding for {time_text(flow.idle_s)} of {time_text(span)}"
        line = Line("traffic", {"kind": "trace", "file": file}, origin)
        return [line], (file, f"# seconds, bytes: data of {flow.id} as they passed\n{rows}")
    has_ended = flow.fins > 0 and (flow.last_s or 0.0) < seen.length_s - AT_ONCE_S
    if has_ended and flow.opened_s is not None:
        return [Line("size", f"{flow.bytes} B", "seen: then the connection was closed")], None
    return [], None


def _datagrams(flow: Flow, seen: Seen) -> tuple[list[Line], None]:
    span = max((flow.last_s or 0.0) - (flow.first_s or 0.0), 1e-9)
    bytes_each = flow.bytes / flow.packets + 28
    if flow.is_echo:
        interval = seen.heard * span / max(1, flow.packets - 1)
        size = f"{round(flow.bytes / flow.packets)} B"
        return [
            Line(
                "traffic",
                {"kind": "ping", "interval": time_text(interval), "payload": size},
                f"seen: {flow.packets} datagrams that came back",
            )
        ], None
    rate = 8 * bytes_each * max(1, flow.packets - 1) / span / seen.heard
    origin = f"seen: {flow.packets} packets; whether more was offered does not show"
    if seen.is_thin:
        origin = f"estimated: {flow.packets} packets, of which the sniffer heard {percent(seen.heard)}"
    return [Line("rate", rate_text(round(rate)), origin)], None
