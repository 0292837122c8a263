"""The protocol of a task: training, then an evaluation with seeds that training never drew, with fixed policies for comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.confidence import Estimate, estimate
from .learner import Generation, Policy, train, values
from .setup import Numbers, Setup
from .task import Task
from .vector import VectorEnv

#: Seeds of evaluations start here; those of training are smaller.
FIRST_EVALUATION_SEED = 1_000_001

#: The values of the controls of all environments, a row each, or one number for each environment, or None; from their observations.
Act = Callable[[VectorEnv, Numbers], Numbers | None]


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
        return scores_of(self.samples)

    def gap(self) -> Estimate | None:
        """The share of the optimum that the learned policy misses, with its interval."""
        if self.optimum is None:
            return None
        return gap_to(self.optimum[0], self.scores[self.LEARNED])


def gap_to(best: float, score: Estimate) -> Estimate:
    """The share of the optimum that a score misses, with its interval."""
    low, high = (None if end is None else 1 - end / best for end in (score.ci95_high, score.ci95_low))
    return Estimate(1 - score.mean / best, low, high, score.n)


def scores_of(samples: Mapping[str, list[float]]) -> dict[str, Estimate]:
    """The mean of each policy's samples, with its interval."""
    found = {name: estimate(rewards) for name, rewards in samples.items()}
    return {name: one for name, one in found.items() if one is not None}


def run(
    task: Task,
    *,
    generations: int | None = None,
    population: int | None = None,
    seeds: int | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Outcome:
    """Trains a policy and evaluates it, and the fixed policies of the task with the same seeds; by default as many as the task says."""
    population = population or task.population
    start = task.start()
    training = VectorEnv(task.setup(task.training), population, threads)

    def score(weights: Numbers, episode: int) -> Numbers:
        return _rewards(training, task, [episode] * population, lambda _, seen: values(seen, weights, start))

    policy, history = train(start, score, generations=generations or task.generations, population=population, seed=seed)
    samples = {Outcome.LEARNED: evaluate(task, acting(policy), seeds=seeds, threads=threads)}
    samples |= compare(task, seeds=seeds, threads=threads)
    return Outcome(policy, history, samples, task.optimum and task.optimum(task.scenario))


def acting(policy: Policy) -> Act:
    """A learned policy that acts in each environment."""

    def act(_: VectorEnv, seen: Numbers) -> Numbers:
        return values(seen, np.tile(np.asarray(policy.weights), (len(seen), 1)), policy)

    return act


def compare(task: Task, *, seeds: int | None = None, threads: int | None = None) -> dict[str, list[float]]:
    """The scores of the task's fixed policies, by name: the scenario's own algorithm, other algorithms, constants."""

    def still(_: VectorEnv, __: Numbers) -> None:
        return None

    def constant(value: float) -> Act:
        return lambda env, _: np.full(env.num_envs, value)

    algorithms: dict[str, Mapping[str, Any]] = {task.default: {}, **task.algorithms}
    found = {name: evaluate(task, still, of, seeds=seeds, threads=threads) for name, of in algorithms.items()}
    unit = task.setup(task.evaluation).knobs[0].unit
    for value in task.constants:
        found[f"constant {_shown(value, unit)}"] = evaluate(task, constant(value), seeds=seeds, threads=threads)
    return found


def _shown(value: float, unit: str) -> str:
    match unit:
        case "bit/s":
            return f"{value / 1e6:g} Mbit/s"
        case "s":
            return f"{1e3 * value:g} ms"
        case _:
            return f"{value:g}"


def evaluate(
    task: Task,
    act: Act,
    settings: Mapping[str, Any] | None = None,
    *,
    seeds: int | None = None,
    threads: int | None = None,
) -> list[float]:
    """The mean reward per step of a policy in the episode of each seed of the evaluation, perhaps with other settings."""
    env = VectorEnv(task.setup(task.evaluation, settings), seeds or task.seeds, threads)
    unseen = list(range(FIRST_EVALUATION_SEED, FIRST_EVALUATION_SEED + env.num_envs))
    return [*map(float, _rewards(env, task, unseen, act))]


def _rewards(env: VectorEnv, task: Task, seeds: list[int], act: Act) -> Numbers:
    """The mean reward of each episode."""
    seen, _ = env.reset(seed=[*seeds])
    total, steps = np.zeros(env.num_envs), 0
    while True:
        chosen = act(env, seen)
        if chosen is not None and chosen.ndim == 1:
            chosen = np.repeat(chosen[:, None], len(task.knobs), axis=1)
        seen, rewards, _, truncated, _ = env.step(chosen)
        total += rewards
        steps += 1
        if truncated.all():
            mean: Numbers = total / steps
            return mean


__all__ = [
    "FIRST_EVALUATION_SEED",
    "Act",
    "Outcome",
    "Setup",
    "acting",
    "compare",
    "evaluate",
    "gap_to",
    "run",
    "scores_of",
]
