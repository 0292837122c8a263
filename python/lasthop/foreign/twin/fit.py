"""A twin is right if captures of it resemble those of the original: it is simulated, captured, read alike, and corrected."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...data.temporary import TemporaryFolder
from ...study.simulation import run
from ..analysis import analyze
from . import losses
from .losses import Split
from .model import Ends, Twin, name_in_twin
from .observation import Seen, seen_in
from .path import Queue, air_s, fifo_of, least_turnaround, standing_s
from .provenance import percent, time_text
from .signal import Signals, signals_of
from .verdict import SEEDS, Verdict, verdict_of

ROUNDS = 2
ENOUGH_ATTEMPTS = 30_000
"""of all seeds together, for collisions to a third of a percent"""
MOST_SEEDS = 8
QUEUE_STEP = 3.0
"""by how much a queue is corrected at once, at most"""
QUEUES = (0.5, 0.95)
"""quantiles of the queueing delay by which queues are compared"""


@dataclass(frozen=True)
class Simulated:
    """Captures of a twin, one for each seed."""

    seen: tuple[Seen, ...]

    def split(self, ends: Ends, twin: Twin) -> Split | None:
        """The outcomes of a link's attempts over all seeds; `noise` is the loss that the twin has. None without attempts."""
        sender, receiver = (name_in_twin(node, twin.seen.aps) for node in ends)
        links = [seen.links[sender, receiver] for seen in self.seen if (sender, receiver) in seen.links]
        told = twin.splits[ends]
        if told.is_of_aggregates:
            lost, sent, size = losses.aggregates(links)
            if sent < losses.ENOUGH:
                return None
            return replace(told, noise=told.told, unanswered=losses.lost_alone(lost / sent, size), attempts=sent)
        single = sum(mode.single for link in links for mode in link.modes)
        failed = sum(mode.single_unanswered for link in links for mode in link.modes)
        if single == 0:
            single, failed = sum(link.attempts for link in links), sum(link.unanswered for link in links)
        return replace(told, noise=told.told, unanswered=failed / single, attempts=single) if single else None

    def signals(self, like: Signals) -> list[Signals]:
        """Those by which signals of the original are corrected, each estimated in the same way."""
        return [found for seen in self.seen if (found := signals_of(seen, [like.fading])) is not None]

    @property
    def turnaround_s(self) -> float | None:
        least = [least_turnaround(seen) for seen in self.seen if any(flow.turnarounds for flow in seen.flows)]
        return sum(least) / len(least) if least else None

    def standing_s(self, share: float) -> float:
        return sum(standing_s(seen, share) for seen in self.seen) / len(self.seen)


def fit(twin: Twin, tell: Callable[[str], None] = lambda _: None) -> Twin:
    """The twin, simulated and corrected twice; `tell` receives each step in words."""
    twin = _with_better_queue(twin, tell)
    for number in range(1, ROUNDS + 1):
        tell(f"round {number} of {ROUNDS}")
        twin = replace(corrected(twin, simulated(twin, seeds_of(twin.seen))), rounds=number)
    tell("how good the twin is")
    return replace(twin, verdict=judged(twin))


def judged(twin: Twin) -> Verdict:
    """The verdict of the twin as it is, by seeds that no round used."""
    seen = twin.seen
    names = {node: name_in_twin(node, seen.aps) for node in (*seen.stations, *seen.aps)}
    return verdict_of(seen, simulated(twin, range(MOST_SEEDS + 1, MOST_SEEDS + 1 + SEEDS)).seen, names)


def seeds_of(seen: Seen) -> int:
    """The number of seeds that suffices for collisions."""
    return min(MOST_SEEDS, math.ceil(ENOUGH_ATTEMPTS / max(1, seen.attempts)))


def simulated(twin: Twin, seeds: int | Sequence[int] = 1) -> Simulated:
    """Runs the twin with a few seeds, and reads its captures like those of the original."""
    with TemporaryFolder("lasthop-twin") as temporary:
        folder = temporary.path
        run(twin.scenario_in(folder), seeds=seeds, interval_s=None, pcap=folder / "captures", progress=False)
        captures = sorted(folder.glob("captures/**/air.pcapng"))
        end = twin.warmup_s + twin.seen.length_s
        read = [analyze([capture], twin.warmup_s or None, end, None, writes=True) for capture in captures]
    return Simulated(tuple(seen_in(result) for result in read))


def corrected(twin: Twin, like: Simulated) -> Twin:
    """The twin less what `like`, simulated of it, differs by."""
    splits = losses.pooled(_refined(twin, like))
    signals = twin.signals and twin.signals.corrected(like.signals(twin.signals))
    path = twin.path
    if like.turnaround_s is not None and not path.delay_s.origin.startswith("assumed"):
        least = least_turnaround(twin.seen)
        delay = path.delay_s.value + (least - like.turnaround_s) / 2
        path = path.with_delay(
            delay, f"fitted: {time_text(least)} from the air to a server and back, and what the air takes of it"
        )
    path = replace(
        path,
        ap_queue=_corrected_queue(path.ap_queue, twin.seen, like),
        wire_queue=_corrected_queue(path.wire_queue, twin.seen, like),
    )
    return replace(twin, splits=splits, path=path, signals=signals)


def _refined(twin: Twin, like: Simulated) -> dict[Ends, Split]:
    """The splits with the collisions of simulations: one probability for all links of a sender that all hear."""
    if twin.signals is not None:
        return dict(twin.splits)
    groups: dict[tuple[str, ...], list[Split | None]] = {}
    for ends in twin.splits:
        groups.setdefault(twin.seen.alike(*ends), []).append(like.split(ends, twin))
    collided = {key: losses.collided_in(splits) for key, splits in groups.items()}
    return {ends: losses.refined(split, collided[twin.seen.alike(*ends)]) for ends, split in twin.splits.items()}


def _corrected_queue(queue: Queue, seen: Seen, like: Simulated) -> Queue:
    if queue.limit is None:
        return queue
    wanted, there = standing_s(seen, 0.95), like.standing_s(0.95)
    if wanted <= 0 or there <= 0:
        return queue
    by = min(QUEUE_STEP, max(1 / QUEUE_STEP, wanted / there))
    limit = max(1, round(queue.limit * by))
    return Queue(
        limit,
        f"fitted: delays of {time_text(standing_s(seen, 0.5))} to {time_text(standing_s(seen, 0.99))} in it",
    )


def _with_better_queue(twin: Twin, tell: Callable[[str], None]) -> Twin:
    """The twin with a FIFO at the AP, or without, as its delays are nearer to those that were seen."""
    seen = twin.seen
    if seen.queues or standing_s(seen, 0.95) <= air_s(seen) or twin.path.wire_queue.limit is not None:
        return twin
    tell("which queue the AP has")
    plain = replace(twin, path=replace(twin.path, ap_queue=Queue(None, "")))
    # The limit is found before it is judged.
    fifo = replace(twin, path=replace(twin.path, ap_queue=fifo_of(seen)))
    fifo = corrected(fifo, simulated(fifo))
    by = {name: distance(seen, simulated(one)) for name, one in (("plain", plain), ("fifo", fifo))}
    if by["plain"] <= by["fifo"]:
        return plain
    return replace(fifo, splits=twin.splits, signals=twin.signals)


def distance(seen: Seen, like: Simulated) -> float:
    """How far queueing delays are from those that were seen: the mean of the logarithms of their quotients."""
    parts = [abs(math.log((like.standing_s(share) + 1e-4) / (standing_s(seen, share) + 1e-4))) for share in QUEUES]
    return sum(parts) / len(parts)


def report(twin: Twin) -> str:
    """Returns the findings about losses in words: the least certain numbers."""
    lines = []
    for (sender, receiver), split in twin.splits.items():
        if split.attempts:
            lines.append(
                f"{sender} → {receiver}: {percent(split.unanswered)} of {split.attempts} attempts unanswered; noise {percent(split.noise)} "
                f"({percent(split.noise_low)} to {percent(split.noise_high)}), collisions {percent(split.collided)}"
            )
    return "".join(f"{line}\n" for line in lines)
