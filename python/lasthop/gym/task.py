"""A task: a scenario, a knob to learn, a reward, the policies to compare with, and the protocol of its evaluation."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from ..study.scenario import Scenario, toml_value
from .learner import Policy
from .setup import DEFAULT_REWARD, Setup

#: Optimum of a scenario in the unit of the reward, and the sentence that names its source.
Optimum = Callable[[Scenario], tuple[float, str]]


@dataclass(frozen=True)
class Task:
    """A task. All its knobs are set to one number, from `least` to `most`."""

    name: str
    summary: str
    scenario: Scenario
    knobs: tuple[str, ...]
    least: float
    most: float
    #: quantities that the policy sees, each with the scale of `Policy`
    observe: Mapping[str, float]
    every: str
    reward: str = DEFAULT_REWARD
    unit: str = "Mbit/s"
    #: the scenario's own algorithm, by name: no knob is turned
    default: str = "default"
    #: other algorithms, by name: settings of the scenario, in which no knob is turned
    algorithms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: the key of the scenario that names the built-in algorithm whose place the knobs take; "" if there are no others
    key: str = ""
    #: values of the knobs that stay constant
    constants: tuple[float, ...] = ()
    optimum: Optimum | None = None
    #: length of an episode in training, and of one in an evaluation
    training: str = "3 s"
    evaluation: str = "10 s"
    #: training: generations, and episodes of each; evaluation: seeds that training never draws
    generations: int = 15
    population: int = 16
    seeds: int = 10

    def setup(self, duration: str, settings: Mapping[str, Any] | None = None) -> Setup:
        """The task with episodes that end at this time, perhaps with other settings of its scenario."""
        scenario = self.scenario.set("duration", duration)
        for path, value in (settings or {}).items():
            scenario = scenario.set(path, value)
        return Setup(scenario, self.knobs, self.observe, self.reward, self.every)

    def compared_with(self, names: Iterable[str]) -> Task:
        """The task with these built-in algorithms among those to compare with. Raises `ValueError` if it has none."""
        names = list(names)
        if names and not self.key:
            raise ValueError(f"{self.name}: no built-in algorithm takes the place of its knobs")
        return replace(self, algorithms={**self.algorithms, **{name: {self.key: name} for name in names}})

    def digest(self) -> str:
        """The SHA-256 of all that decides the scores of a policy: two scores are comparable if it is equal."""
        told = [
            self.scenario.file_text(),
            self.knobs,
            list(self.observe),
            self.every,
            self.reward,
            self.evaluation,
            self.seeds,
        ]
        return sha256(json.dumps(told).encode()).hexdigest()

    def with_policy(self, file: str, kind: str = "linear") -> Scenario:
        """The scenario with an agent that has the policy in `file`, for `lasthop run`; its text is a whole scenario file."""
        keys = {"control": list(self.knobs), "observe": list(self.observe), "every": self.every}
        policy = f"policy = {{ kind = {json.dumps(kind)}, file = {json.dumps(file)} }}"
        agent = ["[[agent]]", policy, *(f"{key} = {toml_value(value)}" for key, value in keys.items()), ""]
        text = f'name = "{self.name}"\nduration = "{self.evaluation}"\n{self.scenario.text.strip()}\n' + "\n".join(
            agent
        )
        return Scenario(text, self.scenario.file_name)

    def start(self) -> Policy:
        """The policy before training: the middle of the range, whatever it sees."""
        middle = math.log2(self.least * self.most) / 2
        weights = (middle, *(0.0 for _ in self.observe))
        return Policy(tuple(self.observe), tuple(self.observe.values()), self.least, self.most, weights)
