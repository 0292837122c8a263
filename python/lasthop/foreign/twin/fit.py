"""A twin is right if captures of it resemble those of the original: it is simulated, captured, read alike, and corrected."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...data.quantities import FLOW
from ...data.temporary import TemporaryFolder
from ...study.scenario import Scenario
from ...study.simulation import run
from ..analysis import analyze
from . import losses
from .losses import Split
from .model import Ends, Twin, name_in_twin
from .observation import Seen, seen_in
from .path import (
    BEFORE_N,
    DEVICE_PACKETS,
    FEW,
    Queue,
    air_s,
    fifo_above_hardware,
    fifo_of,
    least_turnaround,
    standing_s,
)
from .provenance import percent, time_text
from .radio import standard_of
from .signal import Signals, signals_of
from .strength import OFF_DB
from .verdict import SEEDS, Verdict, by_place, verdict_of, verdict_of_rates

ROUNDS = 2
ENOUGH_ATTEMPTS = 30_000
"""of all seeds together, for collisions to a third of a percent"""
MOST_SEEDS = 8
QUEUE_STEP = 3.0
"""by how much a queue is corrected at once, at most"""
USUAL = 1.25
"""factor by which delays of one capture may be off from those of a FIFO with the usual limit, so that it is taken"""
MOST_OFF = 2.0
"""factor by which a fitted limit may differ from delay times rate"""
PLAIN = 0.6
"""how far delays of a twin with queues in hardware may be off, of how far those of the better twin without are, so that it is taken"""
LEAST_DELAY_S = 1e-3
"""delays are compared to no less than that"""
ENOUGH_TURNAROUNDS = 100
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
    """The twin, simulated and corrected twice; `tell` receives each step in words. The twin of a host's output is judged alone."""
    if twin.seen.is_of_hosts:
        tell("how good the twin is")
        return replace(twin, verdict=_by_all(twin, _judged_by_runs))
    twin = _with_better_queue(twin, tell)
    for number in range(1, ROUNDS + 1):
        tell(f"round {number} of {ROUNDS}")
        twin = replace(corrected(twin, simulated(twin, seeds_of(twin.seen))), rounds=number)
    tell("how good the twin is")
    return replace(twin, verdict=_by_all(twin, judged))


def _by_all(twin: Twin, judge: Callable[[Twin], Verdict]) -> Verdict:
    """The verdict, with the intervals of all SNRs that are possible if signals alone show them."""
    signals = twin.signals
    if signals is None or not signals.is_by_strength:
        return judge(twin)
    others = [judge(replace(twin, signals=signals.with_gain(db))) for db in (-OFF_DB, OFF_DB)]
    return judge(twin).widened(others, f"SNRs of {OFF_DB:g} dB less and more")


def _judged_by_runs(twin: Twin) -> Verdict:
    """The verdict of a twin of a host's output: its flows in runs, next to the rates of its connections."""
    runs = run(_in_memory(twin), seeds=range(1, SEEDS + 1), interval_s=None, progress=False).runs
    return verdict_of_rates(twin.seen.flows, [[flow[FLOW.goodput_bps] or 0.0 for flow in one["flows"]] for one in runs])


def _in_memory(twin: Twin) -> Scenario:
    return Scenario(twin.text(), f"{twin.name}.toml")


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
    signals = twin.signals
    if signals is not None and not signals.is_by_strength:
        signals = signals.corrected(like.signals(signals))
    path = twin.path
    if like.turnaround_s is not None and not path.delay_s.origin.startswith("assumed"):
        least = least_turnaround(twin.seen)
        delay = path.delay_s.value + (least - like.turnaround_s) / 2
        samples = sum(flow.turnarounds for flow in twin.seen.flows)
        few = f" (estimated from {samples} alone)" if samples < FEW else ""
        path = path.with_delay(
            delay, f"fitted: {time_text(least)} from the air to a server and back{few}, and what the air takes of it"
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
    if queue.limit is None or not queue.is_shown:
        return queue
    wanted, there = standing_s(seen, 0.95), like.standing_s(0.95)
    if wanted <= 0 or there <= 0:
        return queue
    by = min(QUEUE_STEP, max(1 / QUEUE_STEP, wanted / there))
    # Where the twin's link is another one, its delays say little of the limit, which delay and rate show as well. [Little 1961]
    shown = fifo_of(seen).limit or 1
    limit = max(1, round(min(MOST_OFF * shown, max(shown / MOST_OFF, queue.limit * by))))
    delays = f"delays of {time_text(standing_s(seen, 0.5))} to {time_text(standing_s(seen, 0.99))} in it"
    if DEVICE_PACKETS / USUAL <= limit <= DEVICE_PACKETS * USUAL:
        return Queue(DEVICE_PACKETS, f"fitted: {delays} show {limit}, and {DEVICE_PACKETS} are Linux's txqueuelen")
    return Queue(limit, f"fitted: {delays}")


def _with_better_queue(twin: Twin, tell: Callable[[str], None]) -> Twin:
    """The twin with a FIFO at the AP, with one above hardware that has a queue for each station, or with neither, as its delays
    are nearest to those that were seen."""
    seen = twin.seen
    if seen.queues or standing_s(seen, 0.95) <= air_s(seen) or twin.path.wire_queue.limit is not None:
        return twin
    tell("which queue the AP has")
    plain = replace(twin, path=replace(twin.path, ap_queue=Queue(None, "")))
    # The limit is found before it is judged.
    fifo = replace(twin, path=replace(twin.path, ap_queue=fifo_of(seen)))
    fifo = corrected(fifo, simulated(fifo))
    tried = [plain, replace(fifo, splits=twin.splits, signals=twin.signals)]
    if any(standard_of(link.modes) not in BEFORE_N for link in seen.links.values()):
        tried.append(replace(twin, path=fifo_above_hardware(twin.path)))
    off = [distance(seen, simulated(one).seen) for one in tried]
    # The default and a FIFO are usual; that hardware has queues of its own must be plain.
    least = 0 if off[0] <= off[1] else 1
    return tried[-1] if off[-1] < PLAIN * off[least] else tried[least]


def distance(seen: Seen, likes: Sequence[Seen]) -> float:
    """How far queueing delays of each flow are from those that were seen: the mean of the logarithms of their quotients."""
    wanted, there = delays_s(seen), [delays_s(like) for like in likes]
    parts = [
        abs(math.log((of[place] + LEAST_DELAY_S) / (wanted[place] + LEAST_DELAY_S)))
        for place in wanted
        for of in there
        if place in of
    ]
    return sum(parts) / len(parts) if parts else 0.0


def delays_s(seen: Seen) -> dict[tuple[object, ...], float]:
    """By how much turnarounds of each flow, and round trips of its echoes, are longer than the shortest of all, at quantiles."""
    least = least_turnaround(seen)
    found: dict[tuple[object, ...], float] = {}
    for place, flow in by_place(seen.flows, {}).items():
        if flow.is_echo and flow.rtt_p95_s is not None:
            found[place] = max(0.0, flow.rtt_p95_s - least)
        elif flow.turnarounds >= ENOUGH_TURNAROUNDS:
            found |= {
                (*place, share): max(0.0, at - least)
                for share in QUEUES
                if (at := flow.turnaround_s.get(share)) is not None
            }
    return found


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
