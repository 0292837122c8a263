"""A network seen in captures, in the terms of a scenario: its links with their modes, and its flows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ...data.quantities import FLOW
from ...data.result import Result
from .provenance import Told, percent, time_text

SHORTEST_S, LONGEST_S = 1e-3, 999_990.0
"""lengths of a capture that a run can have behind its warm-up"""
HEADERS_BYTES = {"tcp": 40, "udp": 28}
TIMESTAMPS_BYTES = 12
HIDDEN_TIMES = 3
SHARE_OF_ANSWERS = 0.05
FEW_MISSED = 0.03
"""share of frames that a sniffer may miss: their missing answers count as so many losses"""
LEAST_BYTES = 100_000
"""bytes of TCP from which on they show how much a sniffer missed"""
HIDDEN_SHARE = 0.01
"""of a node's PPDUs that begin during another's: the share above which it is hidden from it"""
DEAF = 0.45
"""of the PPDUs that nodes without ears for one another would begin during one another's: the share above which they are hidden. Those
that only miss preambles of a weak signal now and then have less than a third"""


@dataclass(frozen=True)
class Mode:
    """A PHY mode of a link, and what became of the data PPDUs in it."""

    name: str
    format: str
    """"dsss", "ofdm", "ht", "vht" or "he"""
    is_2_4_ghz: bool
    mcs: int | None
    streams: int
    width_mhz: int
    guard_ns: int
    has_short_preamble: bool
    rate_bps: int
    attempts: int
    unanswered: int
    mpdus: int
    large_answered: int
    """A-MPDUs of four MPDUs or more that were answered; what `mpdus_answered` and `mpdus_lost_alone` are of"""
    mpdus_answered: int
    mpdus_lost_alone: int
    single: int
    single_unanswered: int
    instead_of: str = ""
    """the mode of a host that no BSS of the twin has, and how far this one is from it"""


@dataclass(frozen=True)
class Strength:
    """The signal of a link's frames at the sniffer."""

    samples: int
    mean_dbm: float
    variance: float
    """of the power in mW, relative to the square of its mean"""
    correlation: tuple[tuple[float, int, float], ...]
    """lags in seconds, pairs of samples, and `mean(P(t) P(t + lag)) / mean(P)²`"""


@dataclass(frozen=True)
class Link:
    """One direction between a station and its AP."""

    sender: str
    receiver: str
    modes: tuple[Mode, ...]
    most_mpdus: tuple[int, int]
    """MPDUs of the largest A-MPDU, and how many were as large"""
    most_bytes: tuple[int, int]
    longest_s: float
    in_txop: int
    """attempts that followed an exchange of the same sender without a backoff"""
    after_rts: int
    """attempts behind RTS and CTS"""
    shortest_after_rts: int | None
    longest_without_rts: int
    """bytes of PSDUs"""
    answers_unheard: int
    """MPDUs that were sent again though they were acknowledged"""
    rts_unanswered: int
    rate_interval_s: float
    rates_over_time_bps: tuple[int | None, ...]
    tells_losses: bool = True
    counted_by: str = ""
    """what a host's modes are, in words; empty for a capture"""
    signal: Strength | None = None
    ampdus_repeated: int = 0
    """A-MPDUs that were lost as a whole and sent again, and the PPDUs of the link between"""
    ppdus_before_repeats: int = 0

    @cached_property
    def attempts(self) -> int:
        return sum(mode.attempts for mode in self.modes)

    @cached_property
    def unanswered(self) -> int:
        return sum(mode.unanswered for mode in self.modes)

    @cached_property
    def main(self) -> Mode:
        """The mode of most MPDUs."""
        return max(self.modes, key=lambda mode: mode.mpdus)

    @cached_property
    def share_of_main(self) -> float:
        return self.main.mpdus / max(1, sum(mode.mpdus for mode in self.modes))


@dataclass(frozen=True)
class Flow:
    """The traffic of a station with one port of one server, in one direction. Times are seconds from the start of the
    measurement.
    """

    id: str
    station: str
    direction: str
    transport: str
    goodput_bps: float
    rtt_p95_s: float | None
    is_echo: bool
    opened_s: float | None
    first_s: float | None
    last_s: float | None
    packets: int
    bytes: int
    payload_bytes: int
    idle_s: float
    has_timestamps: bool
    has_sack: bool
    fins: int
    acks: int
    segments: int
    writes: tuple[tuple[float, int], ...] | None
    turnarounds: int
    turnaround_s: Mapping[float, float | None]
    """from the air to the server and back to the air, by probability; 0 is the least"""

    @property
    def packet_bytes(self) -> int:
        """A full IP packet."""
        return self.payload_bytes + HEADERS_BYTES[self.transport] + (TIMESTAMPS_BYTES if self.has_timestamps else 0)


@dataclass(frozen=True)
class Unheard:
    """A node that began to send while another one was sending, and so did not hear it."""

    node: str
    unheard: str
    times: int
    begun: int
    """PPDUs that `node` began in all"""


@dataclass(frozen=True)
class Seen:
    """All of it."""

    source: str
    length_s: float
    channels_mhz: tuple[int, ...]
    aps: tuple[str, ...]
    stations: Mapping[str, str]
    """each with its AP"""
    links: Mapping[tuple[str, str], Link]
    flows: tuple[Flow, ...]
    missed: float | None
    management_s: Mapping[str, float]
    """airtime of management frames, by node"""
    foreign_s: float
    """airtime of PPDUs whose sender is not known"""
    notes: tuple[str, ...] = field(default=())
    unheard: tuple[Unheard, ...] = ()
    is_of_hosts: bool = False
    """whether it comes from counters of hosts, which have the latest mode and RTT alone"""
    unused: tuple[str, ...] = ()
    """notes on output of hosts that a twin does not use"""
    data_s: Mapping[str, float] = field(default_factory=dict)
    """airtime of data frames, by node"""
    queues: Mapping[str, Told[Any]] = field(default_factory=dict)
    """queues that a host printed, by node; None for the default of the standard"""
    heard: float = 1.0
    """share of the frames that the sniffer heard"""

    @property
    def attempts(self) -> int:
        return sum(link.attempts for link in self.links.values())

    @property
    def is_thin(self) -> bool:
        """Whether a sniffer missed so much that attempts without an answer do not show losses."""
        return self.heard < 1 - FEW_MISSED

    def without_losses(self) -> Seen:
        """The same without what frames that were not heard would change: losses, A-MPDUs, TXOPs, RTS, hidden nodes."""
        links = {
            ends: Link(
                *ends,
                link.modes,
                (2, 0),
                (0, 0),
                0.0,
                1,
                0,
                None,
                0,
                0,
                0,
                link.rate_interval_s,
                (),
                False,
                "",
                link.signal,
            )
            for ends, link in self.links.items()
        }
        note = (
            f"The sniffer heard {percent(self.heard)} of frames, which does not show losses, A-MPDUs, TXOPs, RTS and hidden nodes.",
            "SNRs are those of the signals, and rates adapt to them.",
        )
        return replace(self, links=links, unheard=(), notes=(*self.notes, *note))

    @cached_property
    def hidden(self) -> Mapping[tuple[str, str], tuple[Unheard, ...]]:
        """Pairs of nodes that do not hear one another, with what showed it.

        One hears the other if frames pass between them, or if a beginning in the midst of the other's PPDU is as rare as a missed
        preamble of a weak signal.
        """
        nodes = {*self.stations, *self.aps}
        pairs: dict[tuple[str, str], tuple[Unheard, ...]] = {}
        for one in self.unheard:
            pair = _pair(one.node, one.unheard)
            if nodes.issuperset(pair) and pair not in self.links and pair[::-1] not in self.links:
                pairs[pair] = (*pairs.get(pair, ()), one)
        return {
            pair: ways
            for pair, ways in pairs.items()
            if any(one.times >= HIDDEN_TIMES and one.times >= HIDDEN_SHARE * one.begun for one in ways)
            and sum(one.times for one in ways) >= DEAF * sum(one.begun * self._open_share(one.unheard) for one in ways)
        }

    def _open_share(self, node: str) -> float:
        """The share of the time with data of a node that no CTS protects."""
        data_s = self.data_s.get(node, 0.0)
        if not data_s:
            return 0.0
        links = [link for (sender, _), link in self.links.items() if sender == node]
        protected = sum(link.after_rts for link in links) / max(1, sum(link.attempts for link in links))
        return (1 - protected) * data_s / self.length_s

    def may_be_unheard(self, sender: str, receiver: str) -> bool:
        """Whether a node that the receiver hears may begin to send in the midst of the sender's PPDUs."""
        others = [low if high == sender else high for low, high in self.hidden if sender in (low, high)]
        return any(_pair(other, receiver) not in self.hidden for other in others)

    def alike(self, sender: str, receiver: str) -> tuple[str, ...]:
        """A key of the links that collide as often as this one: all of a sender, whose receivers hear the same nodes."""
        if self.may_be_unheard(sender, receiver):
            return sender, receiver
        hidden = {node for pair in self.hidden if receiver in pair for node in pair if node != receiver}
        return (sender, "", *sorted(hidden))

    @property
    def modes(self) -> Iterable[Mode]:
        return (mode for link in self.links.values() for mode in link.modes)


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


def seen_in(result: Result) -> Seen:
    """Returns the network in a result of `analyze`; raises `ValueError` if it has no frame of a station."""
    (run,) = result.runs
    capture = run["capture"]
    source = result.scenario["description"].removeprefix("read from ")
    if capture["air"] is None:
        raise ValueError(
            f"{source}: no capture of the air, and so no frames of the MAC: a twin needs one, as of a monitor interface"
        )
    names = {row["name"]: safe_name(row["name"]) for row in [*capture["stations"], *run["nodes"]]}
    stations = {names[row["name"]]: names[row["ap"]] for row in capture["stations"] if row["name"] != row["ap"]}
    links = {}
    for row in capture["links"]:
        if row["sent"]["modes"]:
            link = _link(row, names)
            links[link.sender, link.receiver] = link
    if not links:
        raise ValueError(
            f"{source}: no data frame of a station whose mode is known: radiotap must contain rates or MCSs"
        )
    begin, end = capture["from_s"], capture["to_s"]
    if not SHORTEST_S <= end - begin <= LONGEST_S:
        raise ValueError(
            f"{source}: spans {time_text(end - begin)}, and a run has 1 ms to {time_text(LONGEST_S)}: give --from and --to"
        )
    told = {row["id"]: row for row in capture["flows"]}
    flows = [
        _flow(row, told[row["id"]], names, begin) for row in run["flows"] if not _is_part_of_another(row["id"], told)
    ]
    length_s = end - begin
    linked = {name: ap for name, ap in stations.items() if (name, ap) in links or (ap, name) in links}
    return Seen(
        source,
        length_s,
        tuple(capture["channels_mhz"]),
        tuple(dict.fromkeys(stations.values())),
        linked,
        links,
        tuple(flow for flow in flows if flow.station in linked and flow.packets),
        capture["missed"]["fraction"],
        {names[row["name"]]: row["management_s"] or 0.0 for row in capture["airtime"]},
        capture["air"]["airtime_of_unknown_senders_s"] or 0.0,
        tuple(result.warnings),
        heard=_heard(capture["missed"]["fraction"], flows, length_s),
        data_s={names[row["name"]]: row["data_s"] or 0.0 for row in capture["airtime"]},
        unheard=tuple(
            Unheard(names[row["node"]], names[row["unheard"]], row["ppdus_begun_during"], row["ppdus_begun"])
            for row in capture["hidden_pairs"]
        ),
    )


def _heard(missed: float | None, flows: Iterable[Flow], length_s: float) -> float:
    """The share of frames that was heard: by acknowledgements of the MAC, else by the bytes that TCP acknowledges."""
    if missed is not None:
        return 1.0 - missed
    tcp = [flow for flow in flows if flow.transport == "tcp" and flow.goodput_bps > 0]
    acknowledged = sum(flow.goodput_bps for flow in tcp) * length_s / 8
    return min(1.0, sum(flow.bytes for flow in tcp) / acknowledged) if acknowledged >= LEAST_BYTES else 1.0


def _is_part_of_another(flow: str, told: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a flow is the requests, or the short answers, in the connections of a flow with far more bytes."""
    other = told[flow]["answers"]
    return other is not None and told[flow]["bytes_seen"] < SHARE_OF_ANSWERS * told[other]["bytes_seen"]


def safe_name(name: str) -> str:
    """A name as scenarios have them: letters, digits, - and _."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "station"


def _link(row: Mapping[str, Any], names: Mapping[str, str]) -> Link:
    sent = row["sent"]
    return Link(
        names[row["node"]],
        names[row["peer"]],
        tuple(Mode(**mode) for mode in sent["modes"]),
        tuple(sent["mpdus_in_ampdu_most"]),
        tuple(sent["psdu_bytes_most"]),
        sent["ppdu_longest_s"] or 0.0,
        sent["attempts_in_txop"] or 0,
        sent["attempts_after_rts"],
        sent["psdu_bytes_after_rts_least"],
        sent["psdu_bytes_without_rts_most"],
        sent["answers_unheard"],
        row["rts_unanswered"],
        sent["rate_interval_s"],
        tuple(sent["rates_over_time_bps"] or ()),
        signal=_strength(row["signal"]),
        ampdus_repeated=sent["ampdus_repeated"],
        ppdus_before_repeats=sent["ppdus_before_repeats"],
    )


def _strength(row: Mapping[str, Any] | None) -> Strength | None:
    if row is None:
        return None
    return Strength(row["samples"], row["mean_dbm"], row["variance"], tuple(map(tuple, row["correlation"])))


def _flow(row: Mapping[str, Any], told: Mapping[str, Any], names: Mapping[str, str], begin: float) -> Flow:
    load = told["load"]

    def since(time_s: float | None) -> float | None:
        return None if time_s is None else time_s - begin

    writes, echo = load["writes"], told.get("echo")
    least = {0.0: load["turnaround_min_s"]}
    return Flow(
        row["id"],
        names.get(row["station"], row["station"]),
        row["direction"],
        row["transport"],
        row[FLOW.goodput_bps] or 0.0,
        row.get(FLOW.rtt_p95_s) if echo is None else echo["rtt_beyond_p95_s"],
        echo is not None,
        since(load["opened_s"]),
        since(load["first_s"]),
        since(load["last_s"]),
        load["packets"],
        load["bytes"],
        load["payload_most_bytes"],
        load["idle_s"],
        load["has_timestamps"],
        load["has_sack"],
        load["fins"],
        told.get("acks", 0),
        told.get("segments_seen", 0),
        None if writes is None else tuple((time_s - begin, size) for time_s, size in writes),
        load["turnarounds"],
        least | dict(load["turnaround_quantiles"]),
    )
