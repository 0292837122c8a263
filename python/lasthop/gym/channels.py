"""The task `channels`: which of three channels each of five access points has.

A channel is chosen before a run, not during it, so this is a bandit and no environment of Gymnasium: an action is a channel for each
access point, and its reward comes from a whole run. The learner is the cross-entropy method over a table of probabilities, a row
for each access point. All assignments can be tried, so the optimum is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from ..data.confidence import Estimate
from ..data.quantities import FLOW
from ..study.scenario import Scenario
from ..study.simulation import run as run_scenario
from .learner import ELITE, KEPT, Generation
from .protocol import FIRST_EVALUATION_SEED, scores_of

NAME = "channels"
SUMMARY = "which of three channels each of five access points in a row has"
UNIT = "sum of log Mbit/s"
CHANNELS = (36, 40, 44)
#: Places of the access points in metres; a signal is sensed some 29 m away.
PLACES_M = (0, 36, 12, 48, 24)
#: Length of a run in training, and in the evaluation.
TRAINING, EVALUATION = "700 ms", "1200 ms"
GENERATIONS, POPULATION, SEEDS = 8, 10, 4

Assignment = tuple[int, ...]


def scenario() -> Scenario:
    """Access points in a row, each with a station that downloads without a pause."""
    text = 'warmup = "200 ms"\n[channel]\npath_loss = { kind = "log_distance", exponent = 3.5 }\n'
    for number, place in enumerate(PLACES_M):
        text += f'[[bss]]\nname = "b{number}"\nstandard = "802.11n"\nchannel = {CHANNELS[0]}\n'
        text += f'rate_control = {{ kind = "fixed", mcs = 7 }}\nap = {{ position = ["{place} m", "0 m"] }}\n'
    for number, place in enumerate(PLACES_M):
        text += f'[[station]]\nname = "s{number}"\nbss = "b{number}"\nposition = ["{place} m", "4 m"]\n'
    return Scenario(
        text + '[[flow]]\nstation = "*"\ndirection = "down"\ntransport = "udp"\nrate = "saturated"\n', "task.toml"
    )


def reward(of: Assignment, duration: str, seeds: Sequence[int], jobs: int | None = None) -> list[float]:
    """The sum of the logarithms of the goodputs of all access points in Mbit/s, for each seed."""
    chosen = scenario().set("duration", duration)
    for number, channel in enumerate(of):
        chosen = chosen.set(f"bss.{number}.channel", CHANNELS[channel])
    result = run_scenario(chosen, seeds=[*seeds], interval_s=None, jobs=jobs)
    flows = [result.metrics[f"flows.s{number}.down.{FLOW.goodput_bps}"] for number in range(len(of))]
    return [sum(math.log(1e-3 + flow[seed] / 1e6) for flow in flows) for seed in seeds]


def canonical(of: Assignment) -> Assignment:
    """The same assignment with channels numbered as they first appear: they are alike."""
    names: dict[int, int] = {}
    return tuple(names.setdefault(channel, len(names)) for channel in of)


def assignments() -> list[Assignment]:
    """All assignments that differ in more than the names of channels."""
    return sorted({canonical(of) for of in product(range(len(CHANNELS)), repeat=len(PLACES_M))})


def train(
    seed: int = 1, *, generations: int = GENERATIONS, population: int = POPULATION
) -> tuple[Assignment, list[Generation]]:
    """Returns the most likely assignment after training, and the generations."""
    random = np.random.default_rng(seed)
    shape = (len(PLACES_M), len(CHANNELS))
    chances = np.full(shape, 1 / len(CHANNELS))
    history = []
    for _ in range(generations):
        episode = int(random.integers(1, 100_000))
        drawn = [tuple(int(random.choice(len(CHANNELS), p=row)) for row in chances) for _ in range(population)]
        scores = np.array([reward(of, TRAINING, [episode])[0] for of in drawn])
        best = np.argsort(scores)[::-1][: max(2, int(population * ELITE))]
        history.append(Generation(float(scores.mean()), float(scores[best].mean())))
        # Channels are alike: the first access point of the best names them.
        elite = np.array([canonical(drawn[place]) for place in best])
        counts = np.stack([(elite == channel).mean(axis=0) for channel in range(shape[1])], axis=1)
        chances = KEPT * chances + (1 - KEPT) * counts
    return tuple(int(row.argmax()) for row in chances), history


def evaluate(learned: Assignment, seeds: int = SEEDS) -> tuple[dict[str, Estimate], Assignment]:
    """The scores of the learned assignment, of fixed ones, and of the best of all, which is returned too."""
    unseen = range(FIRST_EVALUATION_SEED, FIRST_EVALUATION_SEED + seeds)
    every = {of: reward(of, EVALUATION, unseen) for of in assignments()}
    best = max(every, key=lambda of: float(np.mean(every[of])))
    in_turn = canonical(tuple(place % len(CHANNELS) for place in range(len(PLACES_M))))
    samples = {
        "learned": every[canonical(learned)],
        "all on one channel": every[(0,) * len(PLACES_M)],
        "in turn": every[in_turn],
        "the best of all assignments": every[best],
    }
    return scores_of(samples), best


def shown(of: Assignment) -> str:
    """An assignment by its channel numbers."""
    return ", ".join(str(CHANNELS[channel]) for channel in of)
