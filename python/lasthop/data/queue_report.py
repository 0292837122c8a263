"""Drops and waits at the queues of nodes and of wired links, and warnings about them.

A queue that drops more than 1 % of its arrivals, or that has no limit and holds packets for more than 100 ms,
shapes a result more than most things in a scenario do; so does a wire that is slower than the air.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import add
from typing import Any, NamedTuple

from .confidence import LARGEST
from .grouping import named
from .plain_number import plain
from .quantities import NODE, QUEUE, WIRE
from .runs import Run, is_number, run_of

DROPPED_SHARE = 0.01
HELD_S = 0.1
_OF_QUEUES = ("name", "kind", "limit", QUEUE.packets, QUEUE.wait_mean_s)
_OF_NODES = (NODE.queue_drops, NODE.queue_drops_tcp_ack)
_OF_WIRES = (
    "ap",
    "kind",
    "limit",
    "direction",
    WIRE.packets,
    WIRE.queue_drops,
    WIRE.queue_drops_tcp_ack,
    WIRE.wait_mean_s,
    WIRE.wait_max_s,
    WIRE.busy_fraction,
)
# A link is at capacity if its transmitter is on for more than this fraction of the time.
BUSY_SHARE = 0.9


_Column = list[Any]


class QueueLoss(NamedTuple):
    """A queue over all runs of a scenario."""

    place: str
    """`AP`, `station` or `wired link`"""
    name: str
    """the node's, or `wired link, down` (with several APs: `wired link of A.ap, down`)"""
    discipline: str
    """kind and limit, such as `fifo, 50 packets`"""
    is_endless: bool
    packets: int
    """that came to it, all runs together"""
    dropped: int
    tcp_acks: int
    """of those dropped"""
    wait_s: float
    """the mean wait there, of the run in which it was longest"""
    longest_s: float
    """the longest wait, if it is known; else the mean"""
    busy: float
    """of a wire: share of time for which its transmitter was on, mean over the runs; of a node 0"""

    @property
    def share(self) -> float:
        """The share of packets that it dropped."""
        return self.dropped / self.packets if self.packets else 0.0


def is_ap(name: str) -> bool:
    """Whether a node of this name is an access point."""
    return name == "ap" or name.endswith(".ap")


def queue_losses(runs: Iterable[Run | Mapping[str, Any]]) -> list[QueueLoss]:
    """The queues of the nodes, then the queues of the wires; empty for runs of versions without them."""
    return _losses_of(runs).all()


def _losses_of(runs: Iterable[Run | Mapping[str, Any]]) -> Losses:
    losses = Losses()
    for run in runs:
        losses.take(run_of(run))
    return losses


class Losses:
    """The queues of runs that are taken one by one, of which only sums are kept."""

    def __init__(self) -> None:
        self._nodes = _Tally()
        self._wires = _Tally()
        self._several_aps = False

    def take(self, run: Run) -> None:
        """Adds a run, which has the same nodes and wires as those before."""
        self.add(queues_of(run))

    def add(self, queues: Queues | None) -> None:
        """The same for what `queues_of` a run gave."""
        if queues is None or (self._nodes.runs > 0 and len(queues.nodes[0]) != len(self._nodes.names)):
            return
        names, kinds, limits, packets, waits, dropped, tcp_acks = queues.nodes
        self._nodes.take((names, kinds, limits), packets, dropped, tcp_acks, waits)
        aps, kinds, limits, ways, *counted, longest, busy = queues.wires
        self._several_aps = len(set(aps)) > 1
        names = [
            f"wired link{f' of {ap}' if self._several_aps else ''}, {way}" for ap, way in zip(aps, ways, strict=True)
        ]
        self._wires.take((names, kinds, limits), *counted)
        self._wires.longest_s = _greater(self._wires.longest_s, longest)
        self._wires.busy = _summed(self._wires.busy, busy)

    def all(self) -> list[QueueLoss]:
        """The queues of the nodes, then the queues of the wires."""
        return [*map(self._node, range(len(self._nodes.names))), *map(self._wire, range(len(self._wires.names)))]

    def warnings(self) -> list[str]:
        """Returns warnings about these queues; those that apply to several stations are merged."""
        told = [
            *(self._node(index) for index in self._nodes.notable(self._nodes.wait_s)),
            *(self._wire(index) for index in self._wires.notable(self._wires.longest_s)),
        ]
        stations = sum(not is_ap(name) for name in self._nodes.names)
        lossy = [loss for loss in told if loss.share > DROPPED_SHARE]
        held = [loss for loss in told if loss.is_endless and loss.longest_s > HELD_S]
        return [
            *(_dropped(group, stations) for group in _groups(lossy)),
            *(_held(group, stations) for group in _groups(held)),
        ]

    def _node(self, index: int) -> QueueLoss:
        tally = self._nodes
        return tally.loss(index, "AP" if is_ap(tally.names[index]) else "station", tally.wait_s[index], 0.0)

    def _wire(self, index: int) -> QueueLoss:
        tally = self._wires
        return tally.loss(index, "wired link", tally.longest_s[index], tally.busy[index] / tally.runs)


class Queues(NamedTuple):
    """The queues of one run: lists of what each is and of its counts."""

    nodes: Sequence[_Column]
    """name, kind, limit, packets, mean wait, drops, dropped TCP ACKs"""
    wires: Sequence[_Column]
    """AP, kind, limit, direction, packets, drops, dropped TCP ACKs, mean wait, longest wait, share of time busy"""


def queues_of(run: Run) -> Queues | None:
    """The queues of a run; None for a run of versions without them, and for a damaged one without counts or owners."""
    columns = run.columns
    nodes = [*columns("queues", _OF_QUEUES), *columns("nodes", _OF_NODES)]
    wires = columns("wires", _OF_WIRES)
    if not (nodes[0] and wires[0]) or len(nodes[5]) != len(nodes[0]):
        return None
    # A wait is unknown if no packet waited.
    waits = (value for value in chain(nodes[4], wires[7], wires[8]) if value is not None)
    counts = [*nodes[3], *nodes[5], *nodes[6], *wires[4], *wires[5], *wires[6], *wires[9], *waits]
    is_told = {*map(type, counts)} <= {int, float} and max(map(abs, counts)) < LARGEST
    is_named = {*map(type, nodes[0]), *map(type, wires[0])} <= {str, type(None)}
    return Queues(nodes, wires) if is_told and is_named else None


class _Tally:
    """Queues over the runs so far: of each a place in every list."""

    def __init__(self) -> None:
        self.runs = 0
        self.names: list[str] = []
        self._kinds: _Column = []
        self._limits: _Column = []
        self._packets: _Column = []
        self._dropped: _Column = []
        self._tcp_acks: _Column = []
        self.wait_s: _Column = []
        self.longest_s: _Column = []
        self.busy: _Column = []

    def take(
        self, described: Sequence[_Column], packets: _Column, dropped: _Column, tcp_acks: _Column, waits: _Column
    ) -> None:
        """Adds a run."""
        if not self.runs:
            self.names, self._kinds, self._limits = described
        self.runs += 1
        self._packets = _summed(self._packets, packets)
        self._dropped = _summed(self._dropped, dropped)
        self._tcp_acks = _summed(self._tcp_acks, tcp_acks)
        self.wait_s = _greater(self.wait_s, waits)

    def notable(self, longest_s: _Column) -> list[int]:
        """The places of the queues to warn about."""
        told = zip(self._packets, self._dropped, self._limits, longest_s, strict=True)
        return [
            index
            for index, (packets, dropped, limit, longest) in enumerate(told)
            if (packets and dropped / packets > DROPPED_SHARE) or (limit == "unlimited" and longest > HELD_S)
        ]

    def loss(self, index: int, place: str, longest_s: float, busy: float) -> QueueLoss:
        """Returns the sums of one queue."""
        kind, limit = self._kinds[index], self._limits[index]
        return QueueLoss(
            place=place,
            name=self.names[index],
            discipline=", ".join(str(part) for part in (kind, limit) if part is not None),
            is_endless=limit == "unlimited",
            packets=self._packets[index],
            dropped=self._dropped[index],
            tcp_acks=self._tcp_acks[index],
            wait_s=self.wait_s[index],
            longest_s=longest_s,
            busy=busy,
        )


def _summed(before: _Column, new: _Column) -> _Column:
    return [*map(add, before, new)] if before else new


def _greater(before: _Column, new: _Column) -> _Column:
    """The greater of each; None if both waits are unknown."""
    return [max(a, b or 0.0) for a, b in zip(before or [0.0] * len(new), new, strict=True)]


def loss_warnings(runs: Iterable[Run | Mapping[str, Any]]) -> list[str]:
    """Returns warnings about the queues of these runs; those that apply to several stations are merged."""
    return _losses_of(runs).warnings()


def bottlenecks(runs: Sequence[Run | Mapping[str, Any]]) -> list[QueueLoss]:
    """The directions of wired links that carry all they can, and at which packets wait or are lost rather than at the air."""
    # If no wire was busy in any run, none is on average; less than 1 % is rounding.
    busy = (value for run in runs for value in run_of(run).columns("wires", (WIRE.busy_fraction,))[0])
    if not any(is_number(value) and value > 0.99 * BUSY_SHARE for value in busy):
        return []
    losses = queue_losses(runs)
    return [
        loss
        for loss in losses
        if loss.place == "wired link" and loss.busy >= BUSY_SHARE and _waits_more(loss, _at_the_air(loss, losses))
    ]


def _at_the_air(wire: QueueLoss, losses: Iterable[QueueLoss]) -> list[QueueLoss]:
    """The queues before the air for the same direction; of an AP with a name, its own."""
    if wire.name.endswith("up"):
        return [loss for loss in losses if loss.place == "station"]
    aps = [loss for loss in losses if loss.place == "AP"]
    return [loss for loss in aps if f" {loss.name}," in wire.name] or aps


def _waits_more(wire: QueueLoss, others: Sequence[QueueLoss]) -> bool:
    packets = sum(other.packets for other in others)
    wait_s = sum(other.wait_s * other.packets for other in others) / packets if packets else 0.0
    share = sum(other.dropped for other in others) / packets if packets else 0.0
    return wire.wait_s > wait_s or wire.share > share


def bottleneck_text(runs: Sequence[Run | Mapping[str, Any]]) -> str:
    """A line for each bottleneck that is not the air."""
    return "".join(
        f"bottleneck: {wire.name}, busy for {100 * wire.busy:.1f} % of the time; packets wait {_time(wire.wait_s)} for it\n"
        for wire in bottlenecks(runs)
    )


def _groups(losses: Iterable[QueueLoss]) -> list[list[QueueLoss]]:
    """Stations with the same queue together, all others alone."""
    groups: dict[Any, list[QueueLoss]] = {}
    for loss in losses:
        key = loss.discipline if loss.place == "station" else (loss.name,)
        groups.setdefault(key, []).append(loss)
    return list(groups.values())


def _who(group: Sequence[QueueLoss], stations: int) -> str:
    if group[0].place == "wired link":
        return f"{group[0].name} ({group[0].discipline})"
    if group[0].place == "AP":
        return f"queue of {group[0].name} ({group[0].discipline})"
    names = named("station", [loss.name for loss in group], stations)
    return f"queue{'s' if len(group) > 1 else ''} of {names} ({group[0].discipline})"


def _dropped(group: Sequence[QueueLoss], stations: int) -> str:
    shares = sorted(100 * loss.share for loss in group)
    share = _range(plain(shares[0], 2), plain(shares[-1], 2))
    dropped, packets = sum(loss.dropped for loss in group), sum(loss.packets for loss in group)
    acks = sum(loss.tcp_acks for loss in group)
    kind = f", {acks} of them TCP ACKs" if acks else ""
    return f"{_who(group, stations)}: dropped {share} % of the packets that came ({dropped} of {packets}{kind})"


def _held(group: Sequence[QueueLoss], stations: int) -> str:
    waits = sorted(loss.longest_s for loss in group)
    time = _range(_time(waits[0]), _time(waits[-1]))
    much = f"for up to {_time(waits[-1])}" if group[0].place == "wired link" else f"for {time} on average"
    return f"{_who(group, stations)}: has no limit, and held packets {much}; give it the limit of a real one"


def _range(least: str, most: str) -> str:
    return most if least == most else f"{least} to {most}"


def _time(seconds: float) -> str:
    return f"{plain(seconds, 2)} s" if seconds >= 1 else f"{plain(1e3 * seconds, 3)} ms"
