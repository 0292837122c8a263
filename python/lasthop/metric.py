"""What the numbers of a result are called, in which unit they are, and how a person reads them.

A metric's name is dotted: where it stands (`totals`, `flows.ID`, `nodes.NAME`, …), then its key. docs/model/metrics.md
defines each; a test holds the two lists, and a result, together.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import NamedTuple


class UnknownMetric(ValueError):
    """No run has a metric of that name."""


class Metric(NamedTuple):
    """A key of a result, of what it is, its unit there, and what it says."""

    scope: str
    key: str
    unit: str
    summary: str

    @property
    def name(self) -> str:
        """The dotted name, with a word for what stands there: `flows.ID.goodput_bps`."""
        entity = ENTITIES[self.scope]
        return ".".join(part for part in (self.scope, entity, self.key) if part)


class Shown(NamedTuple):
    """How a number is shown: the unit, the factor from the stored number, and decimals."""

    unit: str
    scale: float
    decimals: int


ENTITIES = {
    "totals": "",
    "medium": "",
    "flows": "ID",
    "nodes": "NAME",
    "links": "NODE.PEER",
    "queues": "NODE",
    "wires": "AP.up|down",
    "simulator": "",
}
GLOB = re.compile(r"[*?\[]")
GOODPUT = "payload delivered in order to the application"
# (where, keys, unit, what they say), in the order in which they are listed.
_TABLE: tuple[tuple[str, str, str, str], ...] = (
    ("totals", "goodput_bps goodput_up_bps goodput_down_bps", "bit/s", f"{GOODPUT}: all flows, uploads, downloads"),
    ("totals", "jain_index jain_index_up jain_index_down", "", "Jain's index of the goodputs: 1 where all are equal"),
    ("totals", "unsettled_s", "s", "for how long after the warm-up goodput had plainly not settled"),
    ("medium", "collision_probability", "", "attempts lost to a collision, over attempts"),
    ("medium", "busy_fraction", "", "share of time with a PPDU on the air"),
    ("medium", "idle_fraction", "", "share of time without"),
    ("medium", "collision_fraction", "", "share of time with two PPDUs or more on the air"),
    ("medium", "contending_stations_mean", "", "nodes with something to send, mean over time"),
    ("flows", "goodput_bps", "bit/s", GOODPUT),
    ("flows", "bytes_delivered", "B", GOODPUT),
    ("flows", "completion_time_s", "s", "of transfers with a size: mean time to complete"),
    ("flows", "transfers_completed", "", "of transfers with a size: how many were completed"),
    ("flows", "starved_s", "s", "the longest time in which nothing was delivered"),
    ("flows", "cwnd_mean_segments cwnd_max_segments", "segments", "congestion window: mean over time, largest"),
    ("flows", "rtt_mean_s rtt_min_s rtt_p50_s rtt_p95_s rtt_p99_s", "s", "the sender's RTT samples; of a ping, its round trips"),
    ("flows", "segments_sent", "", "segments or datagrams with payload that were sent"),
    ("flows", "segments_retransmitted", "", "of these, sent again"),
    ("flows", "timeouts", "", "expiries of the retransmission timer"),
    ("flows", "ack_losses_detected", "", "ACKs that the sender found missing; needs ack_loss"),
    ("flows", "loss_fraction", "", "UDP: datagrams that did not arrive, over sent; of a ping, round trips"),
    ("flows", "reordered", "", "UDP: datagrams that came after a later one"),
    ("flows", "delay_p50_s delay_p95_s delay_p99_s", "s", "UDP: one-way delay, quantiles"),
    ("flows", "jitter_s", "s", "UDP: smoothed difference of transit times"),
    ("flows", "late_fraction", "", "voip: packets too late to be played, over sent"),
    ("flows", "mouth_to_ear_s", "s", "voip: delay from mouth to ear"),
    ("flows", "r_factor", "", "voip: rating of the E-model"),
    ("flows", "mos", "", "voip: mean opinion score that the rating stands for"),
    ("flows", "pages pages_abandoned", "", "web: pages loaded, pages given up"),
    ("flows", "page_load_time_mean_s page_load_time_p50_s page_load_time_p95_s", "s", "web: time to load a page"),
    ("flows", "stalls", "", "video: how often it stalled"),
    ("flows", "stall_time_s", "s", "video: for how long it stalled"),
    ("flows", "startup_delay_s", "s", "video: wait before the film begins"),
    ("flows", "video_segments", "", "video: segments that came"),
    ("flows", "video_bitrate_mean_bps", "bit/s", "video: mean bitrate of the segments"),
    ("flows", "video_bitrate_switches", "", "video: changes of the bitrate"),
    ("nodes", "queue_mean_packets queue_max_packets", "packets", "interface queue: mean over time, largest"),
    ("nodes", "queue_drops queue_drops_tcp_ack queue_drops_data", "packets", "dropped by the interface queue: all, pure TCP ACKs, others"),
    ("nodes", "queue_drops_tail queue_drops_early", "packets", "of these, for want of room, and by the law of the queue"),
    ("nodes", "acks_filtered", "packets", "pure ACKs that a filter took out of the queue"),
    ("nodes", "queue_marks", "packets", "marked with CE by the interface queue"),
    ("nodes", "wired_queue_drops wired_queue_drops_tail wired_queue_drops_early", "packets", "APs: dropped by the wired link, both directions"),
    ("nodes", "wired_acks_filtered wired_queue_marks", "packets", "APs: ACKs filtered and packets marked there"),
    ("nodes", "frames_sent", "", "attempts"),
    ("nodes", "frames_retried", "", "attempts at what had been tried before"),
    ("nodes", "frames_dropped_retry_limit", "", "MSDUs given up by the MAC"),
    ("nodes", "frames_dropped_reorder_timeout", "", "MSDUs that came after their recipient had given them up"),
    ("nodes", "mean_data_rate_bps", "bit/s", "PHY rate, mean over attempts"),
    ("nodes", "mpdus_per_ampdu_mean", "", "MPDUs of a data PPDU"),
    ("nodes", "collision_probability noise_probability interference_probability", "", "attempts lost to collisions, to noise, to hidden nodes, over attempts"),
    ("nodes", "internal_collisions", "", "two access categories of the node wanted to send at once"),
    ("nodes", "airtime_fraction", "", "share of time for which its transmitter was on"),
    ("nodes", "latency_down_min_s latency_down_p50_s latency_down_p95_s latency_down_p99_s", "s", "stations: delay of IP packets from the server"),
    ("nodes", "latency_up_min_s latency_up_p50_s latency_up_p95_s latency_up_p99_s", "s", "stations: delay of IP packets to the server"),
    ("links", "frames_sent", "", "attempts"),
    ("links", "mean_data_rate_bps", "bit/s", "PHY rate, mean over attempts"),
    ("links", "mpdus_per_ampdu_mean", "", "MPDUs of a data PPDU"),
    ("links", "retry_fraction", "", "attempts at what had been tried before, over attempts"),
    ("links", "airtime_fraction", "", "share of time that the link took"),
    ("links", "delay_p50_s delay_p95_s", "s", "from the head of the queue to the arrival"),
    ("links", "mpdu_loss_fraction", "", "MPDUs not acknowledged, over sent"),
    ("links", "rate_changes_up", "", "changes to a higher rate"),
    ("links", "rate_changes_down_after_collision rate_changes_down_after_noise rate_changes_down_after_interference rate_changes_down_after_success", "", "changes to a lower rate, by what the attempt before came to"),
    ("links", "failures_before_rate_down_collision failures_before_rate_down_noise failures_before_rate_down_interference", "", "attempts that failed before a change to a lower rate, by cause"),
    ("queues", "packets", "packets", "handed to the interface queue of a node, or asked for"),
    ("queues", "wait_mean_s", "s", "mean wait in the interface queue of a node"),
    ("wires", "packets", "packets", "handed to this direction of the wired link"),
    ("wires", "busy_fraction", "", "share of time for which its transmitter was on"),
    ("wires", "wait_mean_s wait_p95_s wait_max_s", "s", "wait in its queue: mean, 95th percentile, longest"),
    ("wires", "queue_drops queue_drops_tcp_ack", "packets", "dropped by its queue: all, pure TCP ACKs"),
    ("wires", "queue_marks", "packets", "marked with CE by its queue"),
    ("simulator", "events", "", "events handled"),
)
METRICS = tuple(Metric(scope, key, unit, text) for scope, keys, unit, text in _TABLE for key in keys.split())
_BY_PLACE = {(metric.scope, metric.key): metric for metric in METRICS}
# Seconds that are seconds: nobody speaks of a completion time in milliseconds.
_LONG = ("completion_time_s", "starved_s", "stall_time_s", "startup_delay_s", "page_load_time", "unsettled_s")
_FINE = ("jitter_s",)


def metric_of(name: str) -> Metric | None:
    """The metric that a dotted name is of, with its entity or a glob in its place."""
    scope, _, rest = name.partition(".")
    return _BY_PLACE.get((scope, rest.rpartition(".")[2]))


def shown(name: str) -> Shown:
    """How the metric of this dotted name is shown: Mbit/s, ms, percent, as in the tables of `lasthop run`."""
    metric, key = metric_of(name), name.rpartition(".")[2]
    unit = metric.unit if metric else ""
    match unit:
        case "bit/s":
            return Shown("Mbit/s", 1e-6, 3)
        case "s" if key.startswith(_LONG):
            return Shown("s", 1.0, 3)
        case "s":
            return Shown("ms", 1e3, 2 if key in _FINE else 1)
        case "B":
            return Shown("B", 1.0, 0)
        case "segments" | "packets":
            return Shown(unit, 1.0, 1)
    if key.endswith("_fraction"):
        return Shown("%", 100.0, 2)
    if key.endswith("_probability") or key.startswith("jain_index"):
        return Shown("", 1.0, 4)
    return Shown("", 1.0, 2 if metric is None or key in ("mos", "r_factor") or key.endswith("_mean") else 1)


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that a pattern is or matches."""
    return [name for name in names if fnmatchcase(name, pattern)]


def check_keys(patterns: Iterable[str]) -> None:
    """Raises `UnknownMetric` for what no run of any scenario can have; asked before anything runs."""
    for pattern in patterns:
        scope, _, rest = pattern.partition(".")
        if GLOB.search(scope):
            continue  # it may stand for all of the name
        known = [metric for metric in METRICS if fnmatchcase(metric.scope, scope)]
        if not any(_may_be(metric, rest) for metric in known):
            raise unknown(pattern, _candidates(pattern))


def check_names(patterns: Iterable[str], names: Collection[str]) -> None:
    """Raises `UnknownMetric` unless each pattern is or matches one of `names`, those that runs have, values or not."""
    for pattern in patterns:
        if not matching(pattern, names):
            raise unknown(pattern, names)


def unknown(pattern: str, names: Collection[str], listed: str = "`lasthop list metric` names them") -> UnknownMetric:
    """The error for a name that none of `names` is, with the nearest; `listed` says where they stand."""
    return UnknownMetric(f"{pattern}: no run has such a metric{_did_you_mean(pattern, names)}; {listed}")


def _may_be(metric: Metric, rest: str) -> bool:
    """Whether what follows the scope may name this metric of some entity."""
    if not ENTITIES[metric.scope]:
        return fnmatchcase(metric.key, rest)
    # A glob may stand for the entity and part of the key; entities have dots of their own.
    if GLOB.search(rest):
        return any(fnmatchcase(name, rest) for name in (f"x.{metric.key}", f"x.x.{metric.key}")) or fnmatchcase(
            metric.key, rest.rpartition(".")[2]
        )
    return rest.endswith(f".{metric.key}") and len(rest) > len(metric.key) + 1


def _candidates(pattern: str) -> list[str]:
    """Names to suggest without a run: of the same entity as the pattern has."""
    entity = pattern.partition(".")[2].rpartition(".")[0]
    return [
        f"{metric.scope}.{entity or ENTITIES[metric.scope]}.{metric.key}" if ENTITIES[metric.scope] else metric.name
        for metric in METRICS
    ]


def _did_you_mean(name: str, names: Collection[str]) -> str:
    if GLOB.search(name):
        return ""
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    last = name.rpartition(".")[2]
    # Somebody may know the key and not where it stands.
    near = [known for known in names if known.rpartition(".")[2] == last][:3] or near
    return f"; did you mean {' or '.join(near)}?" if near else ""
