"""Policies in files, as they act in the episodes of a task: linear ones in JSON, networks in ONNX, classes in Python."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.foreign_text import text_of
from ..study.code.loading import load
from ..study.code.network import load_network
from ..study.code.policy import Policy as Code
from .env import Env
from .learner import Policy
from .protocol import FIRST_EVALUATION_SEED, acting, evaluate
from .setup import Setup
from .task import Task

#: Kinds of policies by the endings of their files.
KINDS = {".json": "linear", ".onnx": "onnx", ".py": "python"}


@dataclass(frozen=True)
class Context:
    """The argument of a policy in Python, as a run gives it."""

    quantities: list[str]
    controls: list[tuple[str, float, float]]
    seed: int


@dataclass(frozen=True)
class Observation:
    """The observation of a policy in Python at a decision, as a run gives it."""

    now_s: float
    values: list[float]
    absent: list[bool]


def kind_of(path: Path) -> str:
    """The kind of the policy in a file, as a scenario names it. Raises `ValueError` for an unknown ending."""
    if path.suffix not in KINDS:
        raise ValueError(f"{path}: the file of a policy ends in {', '.join(KINDS)}")
    return KINDS[path.suffix]


def score(task: Task, path: Path, *, class_name: str = "Mine", seeds: int | None = None) -> list[float]:
    """The mean reward per step of the policy in a file, in the episode of each seed of the evaluation; its code runs, if it is code.

    Raises `ValueError` for a file that has no policy of this task.
    """
    match kind_of(path):
        case "linear":
            policy = Policy.read(text_of(path))
            if policy.quantities != tuple(task.observe):
                raise ValueError(f"{path}: it was learned from {', '.join(policy.quantities)}")
            return evaluate(task, acting(policy), seeds=seeds)
        case "onnx":
            made = load_network(path.read_bytes(), str(path))
        case _:
            made = load(path.read_bytes(), path, str(path), class_name, "Policy")
    setup = task.setup(task.evaluation)
    return [episode(setup, made, FIRST_EVALUATION_SEED + place) for place in range(seeds or task.seeds)]


def episode(setup: Setup, kind: type[Code], seed: int) -> float:
    """The mean reward per step of a policy in Python in one episode."""
    env = Env(setup)
    values, info = env.reset(seed=seed)
    controls = [(knob.name, knob.least, knob.most) for knob in setup.knobs]
    context: Any = Context(list(setup.quantities), controls, seed)
    policy, total, steps, is_over = kind(context), 0.0, 0, False
    while not is_over:
        seen: Any = Observation(info["time_s"], [*map(float, values)], env.absent())
        values, reward, _, is_over, info = env.step(_action(policy.act(seen), len(controls)))
        total, steps = total + reward, steps + 1
    return total / steps


def _action(answer: Any, count: int) -> list[float] | None:
    if answer is None:
        return None
    numbers = [float(answer)] if isinstance(answer, int | float) else [*map(float, answer)]
    return numbers * count if len(numbers) == 1 else numbers
