"""The protocol of a task: training, then an evaluation with seeds that training never drew, with fixed policies for comparison."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..data.confidence import Estimate, estimate
from .learner import Generation, Policy, train, values
from .setup import Numbers, Setup
from .tasks import Task
from .vector import VectorEnv

#: Seeds of evaluations start here; those of training are smaller.
FIRST_EVALUATION_SEED = 1_000_001

Act = Callable[[Numbers], Numbers | None]


@dataclass(frozen=True)
class Outcome:
    """The result of a task."""

    policy: Policy
    history: list[Generation]
    #: mean reward per step in the episode of each seed of the evaluation, of each policy by name
    samples: dict[str, list[float]]
    #: and the optimum, with its source, if it is known
    optimum: tuple[float, str] | None

    LEARNED = "learned"

    @property
    def scores(self) -> dict[str, Estimate]:
        """The mean over the seeds, with its interval, of each policy by name."""
        found = {name: estimate(rewards) for name, rewards in self.samples.items()}
        return {name: one for name, one in found.items() if one is not None}

    def gap(self) -> Estimate | None:
        """The share of the optimum that the learned policy misses, with its interval."""
        if self.optimum is None:
            return None
        best, of = self.optimum[0], self.scores[self.LEARNED]
        low, high = (None if end is None else 1 - end / best for end in (of.ci95_high, of.ci95_low))
        return Estimate(1 - of.mean / best, low, high, of.n)


def run(task: Task, *, generations: int, population: int, seeds: int, seed: int, threads: int | None = None) -> Outcome:
    """Trains a policy and evaluates it with `seeds` seeds, and the default and the constants of the task with the same."""
    start = task.start()
    training = VectorEnv(task.setup(task.training), population, threads)

    def score(weights: Numbers, episode: int) -> Numbers:
        act = lambda seen: values(seen, weights, start)
        return _rewards(training, task, [episode] * population, act)

    policy, history = train(start, score, generations=generations, population=population, seed=seed)
    evaluation = VectorEnv(task.setup(task.evaluation), seeds, threads)
    unseen = list(range(FIRST_EVALUATION_SEED, FIRST_EVALUATION_SEED + seeds))
    weights = np.tile(np.asarray(policy.weights), (seeds, 1))
    policies: dict[str, Act] = {
        Outcome.LEARNED: lambda seen: values(seen, weights, policy),
        task.default: lambda _: None,
        **{f"constant {value:g}": _constant(value, seeds) for value in task.constants},
    }
    samples = {name: [*map(float, _rewards(evaluation, task, unseen, act))] for name, act in policies.items()}
    return Outcome(policy, history, samples, task.optimum and task.optimum(task.scenario))


def _constant(value: float, rows: int) -> Act:
    return lambda _: np.full(rows, value)


def _rewards(env: VectorEnv, task: Task, seeds: list[int], act: Act) -> Numbers:
    """The mean reward of each episode."""
    seen, _ = env.reset(seed=[*seeds])
    total, steps = np.zeros(env.num_envs), 0
    while True:
        chosen = act(seen)
        actions = None if chosen is None else np.repeat(chosen[:, None], len(task.knobs), axis=1)
        seen, rewards, _, truncated, _ = env.step(actions)
        total += rewards
        steps += 1
        if truncated.all():
            mean: Numbers = total / steps
            return mean


__all__ = ["Outcome", "Setup", "run"]
