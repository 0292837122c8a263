"""The account of a result: shares of time, by flow and by channel, over the seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...data.confidence import Estimate, estimate
from ...data.extras import pandas_for
from ...data.quantities import FLOW, LINK, TOTALS
from ...data.queue_report import QueueLoss, queue_losses
from ...data.result import Result
from ...data.runs import run_of
from ...data.selection import matching
from .damage import whole
from .hidden import HiddenPair, hidden_pairs
from .marks import QueueMarks, queue_marks

if TYPE_CHECKING:
    import pandas

# The terms, with their labels in display order.
FLOW_TERMS = {
    "own_data": "own data on air",
    "own_tcp_acks": "own TCP ACKs on air",
    "own_control": "own control frames and SIFS",
    "rate_below_best": "rate below the best",
    "triggered": "own packets that a trigger asked for, on air",
    "padding": "padding in PPDUs of several users",
    "collisions": "own collisions",
    "interference": "lost to hidden nodes",
    "interferers": "lost to interferers",
    "noise": "lost to noise",
    "backoff_and_spaces": "backoff and inter-frame spaces",
    "waits_for_trigger": "held by MU EDCA until a trigger",
    "waiting_for_others": "others have the medium",
    "queues": "in queues",
    "congestion_window": "congestion window",
    "receive_window": "receiver's window",
    "pacing": "pacing",
    "device": "own device",
    "opening": "handshake",
    "on_the_wire": "on the wire",
    "rto_silence": "RTO silence",
    "application_idle": "application idle",
    "unattributed": "unattributed",
}
CHANNEL_TERMS = {
    "data": "data at the best rate",
    "tcp_acks": "TCP ACKs at the best rate",
    "rate_below_best": "rate below the best",
    "padding": "padding in PPDUs of several users",
    "control": "control frames",
    "beacons": "beacons",
    "collided": "collisions",
    "missed_preamble": "collisions after a missed preamble",
    "lost_to_noise": "lost to noise",
    "lost_to_interferers": "lost to interferers",
    "within_exchanges": "SIFS within exchanges",
    "interferers": "interferers alone on the air",
    "contending": "backoff and inter-frame spaces",
    "idle": "no node has anything to send",
}
# Terms that only runs with PPDUs of several users have.
OF_SEVERAL_USERS = ("triggered", "padding", "waits_for_trigger")
# Those that only runs with interferers have.
OF_INTERFERERS = ("interferers", "lost_to_interferers")
SILENT = ("within_exchanges", "interferers", "contending", "idle")
PACKETS = ("data", "data_dropped", "tcp_acks", "tcp_acks_dropped", "given_up")
CAUSES = {
    "collision": LINK.rate_changes_down_after_collision,
    "noise": LINK.rate_changes_down_after_noise,
    "interference": LINK.rate_changes_down_after_interference,
    "success": LINK.rate_changes_down_after_success,
}


@dataclass(frozen=True)
class FlowTime:
    """The time of a flow: shares of it, mean over the seeds."""

    id: str
    station: str
    direction: str
    shares: dict[str, Estimate]
    """by term"""
    waiting: dict[str, float]
    """the nodes that held the medium while a packet was at the head of a MAC"""
    queues: dict[str, dict[str, float]]
    """for each queue, the nodes that held the medium while packets waited in it, and `nobody`"""
    packets: dict[str, dict[str, int]]
    """arrivals and drops at each end of the wireless link, over all seeds"""
    goodput_bps: float | None
    timeouts: float | None
    goodput_by_seed: dict[int, float] = field(default_factory=dict)
    """in bit/s, of the seeds that have one"""
    traffic: str = "bulk"
    transport: str = "tcp"
    facts: dict[str, float] = field(default_factory=dict)
    """the numbers of the flow by their names, mean over the seeds"""

    def share(self, term: str) -> float:
        """The mean share of a term; zero for one of a feature that is off."""
        return self.shares[term].mean if term in self.shares else 0.0

    @cached_property
    def behind(self) -> dict[str, float]:
        """The nodes that used the medium while packets waited, at the head of a MAC or in a queue; the longest first."""
        total = dict(self.waiting)
        for meanwhile in self.queues.values():
            for name, share in meanwhile.items():
                total[name] = total.get(name, 0.0) + share
        total.pop("nobody", None)
        return dict(sorted(total.items(), key=lambda item: -item[1]))

    def queue_share(self, queue: str) -> float:
        """The share of time in one queue."""
        return sum(self.queues[queue].values())


@dataclass(frozen=True)
class ChannelTime:
    """The time of a channel: shares of it, mean over the seeds."""

    channel: int
    shares: dict[str, Estimate]
    """by term"""
    nodes: dict[str, dict[str, float]]
    """for each node, the shares of its own PPDUs, by term"""
    begun_after_missed_preamble_per_s: float = 0.0
    """PPDUs begun during another whose preamble the sender had missed"""
    mhz: float | None = None
    """its centre frequency, if BSSs have moved"""

    @property
    def whose(self) -> str:
        """Its name among several, in the genitive: its number, or its frequency if BSSs have moved."""
        return f"channel {self.channel}'s" if self.mhz is None else f"{self.mhz:g} MHz channel's"

    def share(self, term: str) -> float:
        """The mean share of a term; zero for one of a feature that is off."""
        return self.shares[term].mean if term in self.shares else 0.0


@dataclass(frozen=True)
class LinkRates:
    """The behaviour of a link's rate control, mean over the seeds."""

    rate_bps: float | None
    lowered: dict[str, float] = field(default_factory=dict)
    """changes to a lower rate per run, by the outcome of the attempt before"""
    mpdus_by_seed: dict[int, float] = field(default_factory=dict)
    """MPDUs per A-MPDU, the mean of each seed that has one"""


@dataclass(frozen=True)
class Explanation:
    """The time of each flow and of each channel."""

    name: str
    seeds: list[int]
    covered_s: float
    goodput_bps: Estimate | None
    flows: list[FlowTime]
    channels: list[ChannelTime]
    links: dict[str, LinkRates]
    """by the names under which flows wait for them: a station's, or `ap to STATION`"""
    accounts: dict[int, dict[str, Any]]
    """as in results, by seed"""
    goodput_by_seed: dict[int, float] = field(default_factory=dict)
    """of all flows, in bit/s"""
    directions: dict[str, dict[int, float]] = field(default_factory=dict)
    """the same of all uploads ("up") and downloads ("down"), if both carry data"""
    losses: list[QueueLoss] = field(default_factory=list)
    """drops of queues, over all seeds"""
    marks: list[QueueMarks] = field(default_factory=list)
    """marks of L4S packets, over all seeds, of queues that treat these unlike others"""
    hidden: list[HiddenPair] = field(default_factory=list)
    """the pairs that the scenario hides from each other"""

    def of_flows(self, patterns: str | Sequence[str]) -> Explanation:
        """The explanation of the flows whose ids match a pattern; `LookupError` for a pattern without a match."""
        ids = set(matching("flow", patterns, (flow.id for flow in self.flows), self.name))
        accounts = {
            seed: {**account, "flows": [flow for flow in account["flows"] if flow["id"] in ids]}
            for seed, account in self.accounts.items()
        }
        return replace(self, flows=[flow for flow in self.flows if flow.id in ids], accounts=accounts)

    def lowered(self) -> dict[str, float]:
        """The changes to a lower rate per run, on all links, by the outcome of the attempt before."""
        return {cause: sum(link.lowered.get(cause, 0.0) for link in self.links.values()) for cause in CAUSES}

    def frame(self) -> pandas.DataFrame:
        """Tidy: one row for each seed, flow and term, with `time_s` and `share`."""
        rows = [
            (seed, flow["id"], term, time_s, time_s / account["covered_s"])
            for seed, account in self.accounts.items()
            for flow in account["flows"]
            for term, time_s in _times(flow["terms"], FLOW_TERMS).items()
        ]
        return _frame(rows, ["seed", "flow", "term", "time_s", "share"])

    def waiting_frame(self) -> pandas.DataFrame:
        """One row for each seed, flow, place (`MAC` or a queue) and the node that held the medium meanwhile."""
        rows = []
        for seed, account in self.accounts.items():
            for flow in account["flows"]:
                places = [("MAC", flow["waiting_for"]), *((q["queue"], q["meanwhile"]) for q in flow["queues"])]
                rows += [
                    (seed, flow["id"], place, item["name"], item["time_s"], item["time_s"] / account["covered_s"])
                    for place, items in places
                    for item in items
                ]
        return _frame(rows, ["seed", "flow", "place", "name", "time_s", "share"])

    def channel_frame(self) -> pandas.DataFrame:
        """One row for each seed, channel, node and term of its airtime. Silence belongs to no node: its name is empty."""
        rows = []
        for seed, account in self.accounts.items():
            for channel in account["channels"]:
                owners = [("", channel, SILENT), *((n["name"], n, CHANNEL_TERMS) for n in channel["nodes"])]
                rows += [
                    (seed, channel["channel"], name, term, time_s, time_s / account["covered_s"])
                    for name, owner, terms in owners
                    for term, time_s in _times(owner, terms).items()
                ]
        return _frame(rows, ["seed", "channel", "node", "term", "time_s", "share"])


def explanation_of(result: Result) -> Explanation:
    """The account in `result`; raises `LookupError` unless all its runs have one."""
    accounts = {run["seed"]: run["account"] for run in result.runs if "account" in run}
    if not accounts or len(accounts) < len(result.runs):
        raise LookupError(f"{result.source or 'this result'}: has no account of time; run with --explain")
    with whole(result, "account of time", "run it again with --explain"):
        return _explanation(result, accounts)


def _explanation(result: Result, accounts: dict[int, dict[str, Any]]) -> Explanation:
    first = next(iter(accounts.values()))
    goodputs = [run["totals"][TOTALS.goodput_bps] for run in result.runs]
    return Explanation(
        name=result.name,
        seeds=list(accounts),
        covered_s=first["covered_s"],
        goodput_bps=estimate([goodput for goodput in goodputs if goodput is not None]),
        flows=[_flow(result.runs, index) for index in range(len(first["flows"]))],
        channels=_channels(list(accounts.values())),
        links=_links(result.runs),
        accounts=accounts,
        goodput_by_seed=_by_seed(result.runs, lambda run: run["totals"][TOTALS.goodput_bps]),
        directions=_directions(result.runs),
        losses=queue_losses(result.told_runs),
        marks=queue_marks(map(run_of, result.told_runs)),
        hidden=hidden_pairs(result.scenario or {}),
    )


def _times(owner: Mapping[str, Any], terms: Iterable[str]) -> dict[str, float]:
    return {term: owner[f"{term}_s"] for term in terms if f"{term}_s" in owner}


def _shares(times: list[tuple[Mapping[str, float], float]], terms: Iterable[str]) -> dict[str, Estimate]:
    """Shares from times in seconds by term and the covered time, one pair for each seed, of terms that any seed has."""
    known = [term for term in terms if any(term in of for of, _ in times)]
    estimates = {term: estimate([of.get(term, 0.0) / covered_s for of, covered_s in times]) for term in known}
    return {term: mean for term, mean in estimates.items() if mean is not None}


def _mean_by_name(lists: list[tuple[list[dict[str, Any]], float]]) -> dict[str, float]:
    """Mean shares by name, of lists of times, one for each seed; the longest first."""
    shares: dict[str, float] = {}
    for items, covered_s in lists:
        for item in items:
            shares[item["name"]] = shares.get(item["name"], 0.0) + item["time_s"] / covered_s / len(lists)
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _flow(runs: list[dict[str, Any]], index: int) -> FlowTime:
    of_seeds = [(run["account"]["flows"][index], run["account"]["covered_s"]) for run in runs]
    facts = runs[0]["flows"][index]
    names = dict.fromkeys(queue["queue"] for flow, _ in of_seeds for queue in flow["queues"])

    def meanwhile(flow: dict[str, Any], name: str) -> list[dict[str, Any]]:
        return next((queue["meanwhile"] for queue in flow["queues"] if queue["queue"] == name), [])

    return FlowTime(
        id=facts["id"],
        station=facts["station"],
        direction=facts["direction"],
        shares=_shares([(_times(flow["terms"], FLOW_TERMS), covered) for flow, covered in of_seeds], FLOW_TERMS),
        waiting=_mean_by_name([(flow["waiting_for"], covered) for flow, covered in of_seeds]),
        queues={name: _mean_by_name([(meanwhile(flow, name), c) for flow, c in of_seeds]) for name in names},
        packets=_packets([flow["packets"] for flow, _ in of_seeds]),
        traffic=facts.get("traffic", "bulk"),
        transport=facts.get("transport", "tcp"),
        facts=_facts([run["flows"][index] for run in runs]),
        goodput_bps=_mean(run["flows"][index].get(FLOW.goodput_bps) for run in runs),
        timeouts=_mean(run["flows"][index].get("timeouts") for run in runs),
        goodput_by_seed=_by_seed(runs, lambda run: run["flows"][index].get(FLOW.goodput_bps)),
    )


def _by_seed(runs: list[dict[str, Any]], value: Callable[[dict[str, Any]], float | None]) -> dict[int, float]:
    by_seed = {run["seed"]: value(run) for run in runs}
    return {seed: number for seed, number in by_seed.items() if number is not None}


def _directions(runs: list[dict[str, Any]]) -> dict[str, dict[int, float]]:
    """The goodput of each direction by seed; empty unless both carry data in some run."""
    keys = {"up": TOTALS.goodput_up_bps, "down": TOTALS.goodput_down_bps}
    sums = {way: {run["seed"]: run["totals"].get(key) or 0.0 for run in runs} for way, key in keys.items()}
    return sums if all(any(by_seed.values()) for by_seed in sums.values()) else {}


def _facts(of_seeds: list[dict[str, Any]]) -> dict[str, float]:
    names = dict.fromkeys(key for row in of_seeds for key, value in row.items() if isinstance(value, int | float))
    return {name: mean for name in names if (mean := _mean(row.get(name) for row in of_seeds)) is not None}


def _packets(of_seeds: list[list[dict[str, Any]]]) -> dict[str, dict[str, int]]:
    ends = zip(*of_seeds, strict=True)
    return {rows[0]["node"]: {key: sum(row[key] for row in rows) for key in PACKETS} for rows in ends}


def _channels(accounts: list[dict[str, Any]]) -> list[ChannelTime]:
    """The channels of all seeds: BSSs number them in the order of their moves, so frequencies name the same ones."""

    def by_name(account: dict[str, Any]) -> dict[float, dict[str, Any]]:
        return {channel.get("mhz", channel["channel"]): channel for channel in account["channels"]}

    of_seeds = [(by_name(account), account["covered_s"]) for account in accounts]
    names = dict.fromkeys(name for channels, _ in of_seeds for name in channels)

    def idle(covered_s: float) -> dict[str, Any]:
        return {"nodes": [], "within_exchanges_s": 0.0, "contending_s": 0.0, "idle_s": covered_s}

    return [_channel([(of.get(name, idle(s)), s) for of, s in of_seeds]) for name in names]


def _channel(of_seeds: list[tuple[dict[str, Any], float]]) -> ChannelTime:
    nodes: dict[str, dict[str, float]] = {}
    for channel, covered_s in of_seeds:
        for node in channel["nodes"]:
            shares = nodes.setdefault(node["name"], {})
            for term, time_s in _times(node, CHANNEL_TERMS).items():
                shares[term] = shares.get(term, 0.0) + time_s / covered_s / len(of_seeds)

    def times(channel: dict[str, Any]) -> dict[str, float]:
        on_air = [_times(node, CHANNEL_TERMS) for node in channel["nodes"]]
        known = [term for term in CHANNEL_TERMS if any(term in node for node in on_air)]
        return {term: sum(node.get(term, 0.0) for node in on_air) for term in known} | _times(channel, SILENT)

    of_channel = _shares([(times(channel), covered_s) for channel, covered_s in of_seeds], CHANNEL_TERMS)
    begun = sum(channel.get("begun_after_missed_preamble", 0) / covered_s for channel, covered_s in of_seeds)
    had = next(channel for channel, _ in of_seeds if "channel" in channel)
    return ChannelTime(had["channel"], of_channel, nodes, begun / len(of_seeds), had.get("mhz"))


def _links(runs: list[dict[str, Any]]) -> dict[str, LinkRates]:
    links = {}
    for index, link in enumerate(runs[0]["links"]):
        of_seeds = [run["links"][index] for run in runs]
        is_up = index % 2 == 0
        lowered = {cause: _mean(row.get(key) for row in of_seeds) or 0.0 for cause, key in CAUSES.items()}
        rate_bps = _mean(row.get(LINK.mean_data_rate_bps) for row in of_seeds)
        name = link["node"] if is_up else f"{link['node']} to {link['peer']}"
        links[name] = LinkRates(rate_bps, lowered, _sizes(runs, index))
    return links


def _sizes(runs: list[dict[str, Any]], index: int) -> dict[int, float]:
    """The MPDUs per A-MPDU of a link, by seed."""
    return _by_seed(runs, lambda run: run["links"][index].get(LINK.mpdus_per_ampdu_mean))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _frame(rows: list[tuple[Any, ...]], columns: list[str]) -> pandas.DataFrame:
    frame: pandas.DataFrame = pandas_for("a data frame of an explanation").DataFrame(rows, columns=columns)
    return frame
