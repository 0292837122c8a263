"""Where packets were lost and where they waited: the queues of nodes and of wired links, and what is to be said of them.

A queue that drops more than 1 % of what comes to it, or that has no limit and holds packets for more than 100 ms,
shapes a result more than most things in a scenario do; so does a wire that is slower than the air.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .alike import named
from .quantities import NODE, QUEUE, WIRE

DROPPED_SHARE = 0.01
HELD_S = 0.1
# A link whose transmitter is on for so much of the time has no more to give.
BUSY_SHARE = 0.9


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
    """the longest wait, where it is known; else the mean"""
    busy: float
    """of a wire: share of time for which its transmitter was on, mean over the runs; of a node 0"""

    @property
    def share(self) -> float:
        """What part of the packets it dropped."""
        return self.dropped / self.packets if self.packets else 0.0



def is_ap(name: str) -> bool:
    """Whether a node of this name is an access point."""
    return name == "ap" or name.endswith(".ap")


def queue_losses(runs: Iterable[Mapping[str, Any]]) -> list[QueueLoss]:
    """The queues of the nodes, then those of the wires; none for runs of a version that did not tell."""
    losses = Losses()
    for run in runs:
        losses.take(run)
    return losses.all()


class Losses:
    """The queues of runs that are taken one by one, of which only sums are kept."""

    def __init__(self) -> None:
        self._nodes: list[_Tally] = []
        self._wires: list[_Tally] = []
        self._several_aps = False

    def take(self, run: Mapping[str, Any]) -> None:
        """Adds a run, which has the same nodes and wires as those before."""
        if not (run.get("queues") and run.get("wires")):
            return
        if not self._wires:
            self._nodes = [_Tally(row["name"], row) for row in run["queues"]]
            self._wires = [_Tally(row["ap"], row) for row in run["wires"]]
            self._several_aps = len({row["ap"] for row in run["wires"]}) > 1
        for tally, queue, node in zip(self._nodes, run["queues"], run["nodes"], strict=True):
            tally.take(queue, node, QUEUE.packets, NODE.queue_drops, NODE.queue_drops_tcp_ack)
        for tally, row in zip(self._wires, run["wires"], strict=True):
            tally.take(row, row, WIRE.packets, WIRE.queue_drops, WIRE.queue_drops_tcp_ack)
            tally.longest_s = max(tally.longest_s, row[WIRE.wait_max_s] or 0.0)
            tally.busy += row[WIRE.busy_fraction]

    def all(self) -> list[QueueLoss]:
        """The queues of the nodes, then those of the wires."""
        nodes = [each.loss("AP" if is_ap(each.name) else "station", each.name, each.wait_s) for each in self._nodes]
        return [*nodes, *(each.loss("wired link", self._wire(each), each.longest_s) for each in self._wires)]

    def _wire(self, tally: _Tally) -> str:
        return f"wired link{' of ' + tally.name if self._several_aps else ''}, {tally.first['direction']}"


class _Tally:
    """One queue over the runs so far."""

    def __init__(self, name: str, first: Mapping[str, Any]) -> None:
        self.name, self.first = name, first
        self.runs = self.packets = self.dropped = self.tcp_acks = 0
        self.wait_s = self.longest_s = self.busy = 0.0

    def take(self, queue: Mapping[str, Any], drops: Mapping[str, Any], *names: str) -> None:
        """Adds the row of a run, and that which tells of its drops; `names` of packets, drops and dropped TCP ACKs."""
        packets, dropped, tcp_acks = names
        self.runs += 1
        self.packets += queue[packets]
        self.dropped += drops[dropped]
        self.tcp_acks += drops[tcp_acks]
        self.wait_s = max(self.wait_s, queue[QUEUE.wait_mean_s] or 0.0)

    def loss(self, place: str, name: str, longest_s: float) -> QueueLoss:
        """What it comes to."""
        return QueueLoss(
            place=place,
            name=name,
            discipline=_discipline(self.first),
            is_endless=self.first["limit"] == "unlimited",
            packets=self.packets,
            dropped=self.dropped,
            tcp_acks=self.tcp_acks,
            wait_s=self.wait_s,
            longest_s=longest_s,
            busy=self.busy / self.runs,
        )


def _discipline(row: Mapping[str, Any]) -> str:
    return ", ".join(str(part) for part in (row["kind"], row["limit"]) if part is not None)


def loss_warnings(runs: Iterable[Mapping[str, Any]]) -> list[str]:
    """What a reader of the results of these runs should know of queues; alike for several stations, once."""
    return warnings_of(queue_losses(runs))


def warnings_of(losses: Sequence[QueueLoss]) -> list[str]:
    """`loss_warnings` of what is summed up already."""
    stations = sum(loss.place == "station" for loss in losses)
    lossy = [loss for loss in losses if loss.share > DROPPED_SHARE]
    held = [loss for loss in losses if loss.is_endless and loss.longest_s > HELD_S]
    return [
        *(_dropped(group, stations) for group in _groups(lossy)),
        *(_held(group, stations) for group in _groups(held)),
    ]


def bottlenecks(runs: Sequence[Mapping[str, Any]]) -> list[QueueLoss]:
    """The directions of wired links that carry all they can, and at which packets wait or are lost rather than at the air."""
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


def bottleneck_text(runs: Sequence[Mapping[str, Any]]) -> str:
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
    share = _range(f"{shares[0]:.2g}", f"{shares[-1]:.2g}")
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
    return f"{seconds:.2g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
