"""The path behind the air: the wire, its delay and rate, and the queue of the AP, by the time from the air to the server
and back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .observation import Flow, Seen
from .provenance import Line, Section, Told, rate_text, time_text
from .radio import standard_of

GIGABIT = 1e9
IDLE_AIR = 0.35
"""share of idle time from which on bulk flows must be held back by something else than the air"""
STANDING_S = 10e-3
"""least queueing delay that shows a bottleneck"""
CODEL_S = 60e-3
"""delay that mac80211's CoDel, with a target of 20 ms, does not let persist"""
OTHER_SERVER_S = 2e-3
BEFORE_N = ("802.11b", "802.11a", "802.11g")
AT_MOST = "at most, as no connection was seen to open and queues may never have been empty: "
FEW = 5
"""times from the air to a server and back, which may all have waited"""
LEAST_LIMIT = 10
DEVICE_PACKETS = 1000
"""txqueuelen of a wireless device, and so the limit of its FIFO"""
SPARE = 1.03
"""by how much a wire that is the bottleneck is faster than what goes over it, headers of links included"""


@dataclass(frozen=True)
class Queue:
    """A FIFO of so many packets; or None, for the default of the standard."""

    limit: int | None
    origin: str
    is_shown: bool = True
    """whether delays show its limit"""

    def line(self) -> list[Line]:
        """Its line, if there is one."""
        return [] if self.limit is None else [Line("queue", fifo(self.limit), self.origin)]

    def ap_line(self, standard: str) -> Line:
        """The queue of an AP, which always has one: without an observed FIFO the default of its standard."""
        if self.limit is not None:
            return self.line()[0]
        return Line(
            "queue",
            default_queue(standard, "airtime_fq_codel"),
            "assumed: the default; no delays show a longer FIFO",
        )


@dataclass(frozen=True)
class Path:
    """The way between AP and servers."""

    delay_s: Told[float]
    """one way, of the nearest server"""
    rate_bps: Told[float]
    wire_queue: Queue
    ap_queue: Queue
    ap_driver: Told[str] | None = None
    """of hardware that holds packets for each station, below the queue"""

    def section(self) -> Section:
        """`[wired]`."""
        lines = [
            Line("rate", rate_text(self.rate_bps.value), self.rate_bps.origin),
            Line("delay", time_text(self.delay_s.value), self.delay_s.origin),
        ]
        return Section("[wired]", (*lines, *self.wire_queue.line()))

    def with_delay(self, delay_s: float, origin: str) -> Path:
        """The same with another delay."""
        return replace(self, delay_s=Told(max(0.0, delay_s), origin))


def path_of(seen: Seen, idle_fraction: float | None) -> Path:
    """The way that the turnarounds of TCP show."""
    down_bps = sum(8 * flow.bytes for flow in seen.flows if flow.direction == "down") / seen.length_s
    known = [flow for flow in seen.flows if flow.turnaround_s.get(0.0) is not None]
    if not known:
        delay = Told(0.0, "assumed: no round trip beyond the air was seen")
        wire = Told(GIGABIT * (10 if down_bps > 0.9 * GIGABIT else 1), "assumed")
        return Path(delay, wire, Queue(None, ""), Queue(None, ""))
    delay = Told(max(0.0, least_turnaround(seen) - air_s(seen)) / 2, _delay_origin(known, seen))
    standing = {share: standing_s(seen, share) for share in (0.5, 0.95, 0.99)}
    packets_per_s = downward_packets(seen) / seen.length_s
    bulk = [flow for flow in seen.flows if flow.direction == "down" and is_bulk(flow) and flow.transport == "tcp"]
    holds_back = idle_fraction is not None and idle_fraction > IDLE_AIR and standing[0.95] > STANDING_S
    limit = max(LEAST_LIMIT, round(standing[0.99] * packets_per_s))
    shown = f"{round(standing[0.5] * packets_per_s)} to {limit} packets: delays of {time_text(standing[0.5])} to {time_text(standing[0.99])} stood"
    if bulk and holds_back:
        rate = sum(
            8 * (flow.bytes + flow.packets * (flow.packet_bytes - flow.payload_bytes))
            for flow in seen.flows
            if flow.direction == "down"
        )
        origin = f"estimated: the air is idle for {100 * (idle_fraction or 0):.0f} % of the time while packets queue"
        return Path(
            delay, Told(SPARE * rate / seen.length_s, origin), Queue(limit, f"estimated: {shown}"), Queue(None, "")
        )
    wire = Told(GIGABIT * (10 if down_bps > 0.9 * GIGABIT else 1), "assumed: faster than the air")
    has_codel = standard_of(seen.modes) not in BEFORE_N
    # Without a flow that has enough turnarounds nothing is known of delays.
    if not bulk or standing[0.99] == 0 or (has_codel and standing[0.95] < CODEL_S):
        return Path(delay, wire, Queue(None, ""), Queue(None, ""))
    return Path(delay, wire, Queue(None, ""), Queue(limit, f"estimated: {shown}"))


def fifo_of(seen: Seen) -> Queue:
    """The FIFO at the AP that explains the observed delays."""
    standing, packets_per_s = standing_s(seen, 0.99), downward_packets(seen) / seen.length_s
    limit = max(LEAST_LIMIT, round(standing * packets_per_s))
    return Queue(limit, f"estimated: {limit} packets, from standing delays of up to {time_text(standing)}")


def fifo_above_hardware(path: Path) -> Path:
    """The path with hardware that holds packets in a queue for each station, as mt76's does, below a FIFO that seldom fills."""
    queue = Queue(DEVICE_PACKETS, "assumed: hardware holds the packets, and this queue seldom has one", is_shown=False)
    driver = Told("mt76", "fitted: each station's packets wait behind its own alone, and no CoDel limits that")
    return replace(path, ap_queue=queue, ap_driver=driver)


def fifo(packets: int) -> dict[str, str]:
    """A FIFO of so many packets."""
    return {"kind": "fifo", "limit": f"{packets} packets"}


def default_queue(standard: str, modern: str) -> str | dict[str, str]:
    """The default of a scenario without a queue: `modern` from 802.11n on."""
    return fifo(50) if standard in BEFORE_N else modern


def is_bulk(flow: Flow) -> bool:
    """Whether the flow had something outstanding nearly all the time."""
    span = (flow.last_s or 0.0) - (flow.first_s or 0.0)
    return flow.transport == "udp" or flow.idle_s < 0.05 * span


def least_turnaround(seen: Seen) -> float:
    """The shortest time from the air to a server and back to the air."""
    return min(least for flow in seen.flows if (least := flow.turnaround_s.get(0.0)) is not None)


def standing_s(seen: Seen, share: float) -> float:
    """By how much turnarounds are longer than the shortest, at a quantile: the most of all flows with enough of them."""
    longer = [0.0]
    for flow in seen.flows:
        least, at = flow.turnaround_s.get(0.0), flow.turnaround_s.get(share)
        if least is not None and at is not None and _has_enough(flow, seen):
            longer.append(at - least)
    return max(longer)


def _has_enough(flow: Flow, seen: Seen) -> bool:
    """Whether quantiles of a flow's turnarounds mean anything; those of a host's kernel are its own estimates."""
    return flow.turnarounds >= 20 or seen.is_of_hosts


def downward_packets(seen: Seen) -> float:
    """Packets that the AP sends to stations, those that a sniffer missed too."""
    return sum(flow.packets if flow.direction == "down" else flow.acks for flow in seen.flows) / seen.heard


def air_s(seen: Seen) -> float:
    """The AP's approximate time to send a packet with an empty queue: access, and a PPDU with one packet."""
    to_stations = [link for link in seen.links.values() if link.sender in seen.aps]
    if not to_stations:
        return 0.0
    mode = max(to_stations, key=lambda link: link.attempts).main
    # DIFS and half a contention window, then preamble and packet. [802.11-2020 §15, §17]
    access, preamble = (360e-6, 192e-6) if mode.format == "dsss" else (110e-6, 40e-6)
    down = [flow.packet_bytes for flow in seen.flows if flow.direction == "down"] or [52]
    return access + preamble + 8 * max(down) / mode.rate_bps


def delay_beyond(seen: Seen, flow: Flow) -> float:
    """How much farther away the server of a flow is than the nearest, one way."""
    own = flow.turnaround_s.get(0.0)
    further = 0.0 if own is None else own - least_turnaround(seen)
    # Delay that a queue before all of them may have added is not a distance.
    is_known = further > max(OTHER_SERVER_S, standing_s(seen, 0.99)) and _has_enough(flow, seen)
    return further / 2 if is_known else 0.0


def _delay_origin(known: list[Flow], seen: Seen) -> str:
    samples = sum(flow.turnarounds for flow in known)
    least = time_text(least_turnaround(seen))
    how = "seen: " if _was_empty(known, seen) else AT_MOST
    if samples < FEW and not seen.is_of_hosts:
        how = "estimated: "
    if seen.is_of_hosts:
        return f"{how}{least}, the least RTT of ss, less {time_text(air_s(seen))} of air"
    times = "the only time" if samples == 1 else f"the least of {samples} times"
    return f"{how}{least}, {times} from the air to a server and back, less {time_text(air_s(seen))} of air"


def _was_empty(known: list[Flow], seen: Seen) -> bool:
    """Whether the queue was empty at some time: a connection was opened, or delays are far apart, or none stood at all. A sender
    that fills a queue, and takes back 30 % at a loss as CUBIC does, need never drain it."""
    ratio = least_turnaround(seen) / (least_turnaround(seen) + standing_s(seen, 0.95))
    return any(flow.opened_s is not None for flow in known) or not 0.6 <= ratio <= 0.9
