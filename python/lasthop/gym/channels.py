"""The task `channels`: which of three channels each of five access points has.

An action is a channel for each access point, kept for the episode, since the load does not change: a bandit. The learner is the
cross-entropy method over a table of probabilities, a row for each access point, which keeps the best assignment so far. All assignments can
be tried, so the optimum is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..data.confidence import Estimate, estimate
from ..data.quantities import FLOW, MEDIUM
from ..study.scenario import Scenario
from .learner import ELITE, Generation
from .protocol import FIRST_EVALUATION_SEED
from .task import Task
from .vector import VectorEnv

NAME = "channels"
LEARNED, BEST = "learned", "the best of all assignments"
ONE, IN_TURN = "all on one channel", "in turn"
CHANNELS = (36, 40, 44)
#: Places of the access points in metres; a signal is sensed some 29 m away.
PLACES_M = (0, 36, 12, 48, 24)
NAMES = tuple(f"b{number}" for number in range(len(PLACES_M)))
STATIONS = tuple(f"s{number}" for number in range(len(PLACES_M)))

#: Share of the new probabilities that the old ones keep: with less, the first good assignment is the last.
KEPT = 0.8

Assignment = tuple[int, ...]


@dataclass(frozen=True)
class Outcome:
    """The result of the task."""

    learned: Assignment
    best: Assignment
    history: list[Generation]
    #: mean reward per step in the episode of each seed of the evaluation, of each assignment by name
    samples: dict[str, list[float]]

    def gap(self) -> Estimate | None:
        """The reward by which the best assignment is above the learned one, with its interval over the seeds."""
        return estimate([best - own for best, own in zip(self.samples[BEST], self.samples[LEARNED], strict=True)])


def _text(of: Assignment) -> str:
    """Access points in a row with these channels at the start, each with a station that downloads without a pause."""
    text = 'warmup = "200 ms"\n[channel]\npath_loss = { kind = "log_distance", exponent = 3.5 }\n'
    for name, place, channel in zip(NAMES, PLACES_M, of, strict=True):
        text += f'[[bss]]\nname = "{name}"\nstandard = "802.11n"\nchannel = {CHANNELS[channel]}\n'
        text += f'rate_control = {{ kind = "fixed", mcs = 7 }}\nap = {{ position = ["{place} m", "0 m"] }}\n'
    for name, station, place in zip(NAMES, STATIONS, PLACES_M, strict=True):
        text += f'[[station]]\nname = "{station}"\nbss = "{name}"\nposition = ["{place} m", "4 m"]\n'
    return text + '[[flow]]\nstation = "*"\ndirection = "down"\ntransport = "udp"\nrate = "saturated"\n'


def task() -> Task:
    """The task; all access points begin on one channel."""
    return Task(
        NAME,
        "which of three channels each of five access points in a row has",
        Scenario(_text((0,) * len(NAMES)), "task.toml"),
        tuple(f"channel:{name}.ap" for name in NAMES),
        min(CHANNELS),
        max(CHANNELS),
        {f"medium.{MEDIUM.busy_fraction}": 0.5},
        "250 ms",
        reward=" + ".join(f"log(0.001 + flows.{station}.down.{FLOW.goodput_bps} / 1e6)" for station in STATIONS),
        unit="sum of log Mbit/s",
        default=ONE,
        training="700 ms",
        evaluation="700 ms",
        generations=8,
        population=16,
        seeds=10,
    )


def rewards(
    assigned: Sequence[Assignment], seeds: Sequence[int], duration: str, threads: int | None = None
) -> list[list[float]]:
    """The mean reward per step of each assignment, in the episode of each seed."""
    pairs = [(of, seed) for of in assigned for seed in seeds]
    env = VectorEnv(task().setup(duration), len(pairs), threads)
    env.reset(seed=[seed for _, seed in pairs])
    actions = np.array([[CHANNELS[place] for place in of] for of, _ in pairs], dtype=np.float64)
    total, steps, is_over = np.zeros(len(pairs)), 0, False
    while not is_over:
        _, reward, _, truncated, _ = env.step(actions)
        total, steps, is_over = total + reward, steps + 1, bool(truncated.all())
    return [[*map(float, row)] for row in (total / steps).reshape(len(assigned), len(seeds))]


def canonical(of: Assignment) -> Assignment:
    """The same assignment with channels numbered as they first appear: they are alike."""
    names: dict[int, int] = {}
    return tuple(names.setdefault(channel, len(names)) for channel in of)


def assignments() -> list[Assignment]:
    """All assignments that differ in more than the names of channels."""
    return sorted({canonical(of) for of in product(range(len(CHANNELS)), repeat=len(PLACES_M))})


def train(
    seed: int = 1, *, generations: int | None = None, population: int | None = None, threads: int | None = None
) -> tuple[Assignment, list[Generation]]:
    """Returns the best assignment of the last generation, and the generations."""
    given = task()
    random = np.random.default_rng(seed)
    shape = (len(PLACES_M), len(CHANNELS))
    chances = np.full(shape, 1 / len(CHANNELS))
    size, history = population or given.population, []
    best: list[Assignment] = []
    for _ in range(generations or given.generations):
        episode = int(random.integers(1, 100_000))
        # The best so far is drawn once more, in this episode.
        drawn = best + [
            tuple(int(random.choice(len(CHANNELS), p=row)) for row in chances) for _ in range(size - len(best))
        ]
        scores = np.array([row[0] for row in rewards(drawn, [episode], given.training, threads)])
        order = np.argsort(scores)[::-1][: max(2, int(size * ELITE))]
        history.append(Generation(float(scores.mean()), float(scores[order].mean())))
        # Channels are alike: the first access point names them.
        elite = [canonical(drawn[place]) for place in order]
        best = elite[:1]
        counts = np.stack([(np.array(elite) == channel).mean(axis=0) for channel in range(shape[1])], axis=1)
        chances = KEPT * chances + (1 - KEPT) * counts
    return best[0], history


def run(
    seed: int = 1,
    *,
    generations: int | None = None,
    population: int | None = None,
    seeds: int | None = None,
    threads: int | None = None,
) -> Outcome:
    """Trains, and evaluates the learned assignment and all others with seeds that training never drew; by default as the task says."""
    given = task()
    learned, history = train(seed, generations=generations, population=population, threads=threads)
    unseen = range(FIRST_EVALUATION_SEED, FIRST_EVALUATION_SEED + (seeds or given.seeds))
    all_of_them = sorted({*assignments(), canonical(learned)})
    every = dict(zip(all_of_them, rewards(all_of_them, unseen, given.evaluation, threads), strict=True))
    best = max(every, key=lambda of: math.fsum(every[of]))
    in_turn = canonical(tuple(place % len(CHANNELS) for place in range(len(PLACES_M))))
    named = {LEARNED: canonical(learned), ONE: (0,) * len(PLACES_M), IN_TURN: in_turn, BEST: best}
    return Outcome(learned, best, history, {name: every[of] for name, of in named.items()})


def with_assignment(of: Assignment) -> Scenario:
    """The scenario of the evaluation with these channels, for `lasthop run`."""
    return Scenario(f'name = "{NAME}"\nduration = "{task().evaluation}"\n{_text(of)}', "task.toml")


def shown(of: Assignment) -> str:
    """An assignment by its channel numbers."""
    return ", ".join(str(CHANNELS[channel]) for channel in of)
