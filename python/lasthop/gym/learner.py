"""A learner without a framework: the cross-entropy method over a linear policy. [Rubinstein, Kroese 2004]

Each generation draws weights from a normal distribution, runs an episode with each, all of the same seed, and moves the
distribution to the best quarter. Noise that ends after two thirds of the generations keeps it from becoming narrow too
early [Szita, Lőrincz 2006]. It needs no gradient, and a run with few weights takes seconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import _core
from ..data.foreign_text import parsed_json
from .setup import Numbers

#: Weights of a generation that the next one follows.
ELITE = 0.25
#: Share of the new mean and deviation that the old ones keep.
KEPT = 0.3
#: Noise of the first generation, in initial deviations, and the share of the generations that have noise.
NOISE, NOISY = 0.3, 2 / 3


@dataclass(frozen=True)
class Policy:
    """A value of a knob from an observation: 2 to the power of a weighted sum of `log2(1 + quantity / scale)`, in bounds."""

    quantities: tuple[str, ...]
    scales: tuple[float, ...]
    least: float
    most: float
    #: of the constant and of each quantity
    weights: tuple[float, ...]

    def __call__(self, observation: Numbers) -> float:
        """The value for one observation."""
        rows = np.asarray(observation, dtype=np.float64)[None, :]
        return float(values(rows, np.asarray(self.weights)[None, :], self)[0])

    def to_json(self) -> str:
        """The policy as JSON, which `Policy.read` reads; numbers and names only."""
        return json.dumps({name: getattr(self, name) for name in self.__dataclass_fields__}, indent=2) + "\n"

    @classmethod
    def read(cls, text: str) -> Policy:
        """Reads a policy; raises `ValueError` for a text that is none."""
        try:
            told = parsed_json("a policy", text)
            numbers = [tuple(map(float, told[name])) for name in ("scales", "weights")]
            quantities = tuple(map(str, told["quantities"]))
            policy = cls(quantities, numbers[0], float(told["least"]), float(told["most"]), numbers[1])
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a policy: {error}") from None
        if len(policy.weights) != len(quantities) + 1 or len(policy.scales) != len(quantities):
            raise ValueError("not a policy: it needs a scale for each quantity, and a weight more")
        return policy


def values(observations: Numbers, weights: Numbers, policy: Policy) -> Numbers:
    """The values of rows of observations under rows of weights."""
    found: Numbers = np.empty(len(observations))
    rows = [np.ascontiguousarray(table, dtype=np.float64) for table in (observations, weights)]
    # The engine computes them, as in a run with the policy.
    _core.linear_values(rows[0], rows[1], list(policy.scales), (policy.least, policy.most), found)
    return found


@dataclass(frozen=True)
class Generation:
    """A generation in figures: the mean reward of all weights, and of the best quarter."""

    mean: float
    best: float


def train(
    start: Policy,
    score: Callable[[Numbers, int], Numbers],
    *,
    generations: int,
    population: int,
    seed: int,
) -> tuple[Policy, list[Generation]]:
    """Returns the policy learned from `start`, and its generations.

    `score` returns the mean reward of rows of weights in the episode of a seed; seeds are below 100,000.
    """
    random = np.random.default_rng(seed)
    mean = np.asarray(start.weights)
    deviation = np.concatenate([[np.log2(start.most / start.least) / 4], np.full(len(mean) - 1, 0.5)])
    noise = NOISE * deviation
    history = []
    for generation in range(generations):
        weights = mean + deviation * random.standard_normal((population, len(mean)))
        scores = score(weights, int(random.integers(1, 100_000)))
        best = np.argsort(scores)[::-1][: max(2, int(population * ELITE))]
        history.append(Generation(float(scores.mean()), float(scores[best].mean())))
        mean = KEPT * mean + (1 - KEPT) * weights[best].mean(axis=0)
        spread = KEPT * deviation + (1 - KEPT) * weights[best].std(axis=0)
        deviation = np.hypot(spread, noise * max(0.0, 1 - generation / (NOISY * generations)))
    learned = tuple(map(float, mean))
    return Policy(start.quantities, start.scales, start.least, start.most, learned), history
