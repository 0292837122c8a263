"""One environment of Gymnasium: an episode is a run of a scenario, and its seed the run's."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np

from .. import _core
from ..data.result import Result
from ..study.scenario import Scenario
from ..study.simulation import RunFailed, Runs
from .setup import DEFAULT_REWARD, Control, Numbers, Setup

#: Seeds of episodes without one of their own are drawn below this.
SEEDS = 2**31


class Env(gymnasium.Env[Numbers, Any]):
    """A scenario whose knobs an agent turns.

    `reset(seed=s)` starts the run of seed `s`, and ends where its warm-up ends; without a seed it is drawn from the
    generator that the last seed began. A run ends by the scenario's duration: `truncated`. `info` has the run's `seed` and
    the time, `time_s`. A step without an action (`step(None)`) turns no knob.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.action_space = setup.action_space()
        self.observation_space = setup.observation_space()
        self._world: _core.World | None = None
        self._episode = 0
        self._reward = np.empty(1)
        self._acted = 0
        #: values of the knobs in each step of the episode
        self._actions: list[Numbers | None] = []
        self._has_ended = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Starts an episode; see the class."""
        super().reset(seed=seed)
        self._episode = int(self.np_random.integers(SEEDS)) if seed is None else seed
        observation = np.empty(len(self.setup.quantities))
        self._world = _core.World(self.setup.core, self._episode, observation)
        self._acted, self._has_ended = 0, False
        self._actions = []
        return observation, self._info()

    def step(self, action: Any) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Turns the knobs and runs to the next decision. Raises `gymnasium.error.ResetNeeded` without an episode."""
        if self._has_ended or self._world is None:
            raise gymnasium.error.ResetNeeded("step: no episode is running; call reset first")
        return self._step(None if action is None else self.setup.values(action, 1))

    def _step(self, values: Numbers | None) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        observation = np.empty(len(self.setup.quantities))
        self._has_ended = self._running().step(values, observation, self._reward)
        self._acted += values is not None
        self._actions.append(None if values is None else values.copy())
        return observation, float(self._reward[0]), False, self._has_ended, self._info()

    def fork(self) -> Env:
        """Returns another environment in the same state, with which this one shares nothing.

        A simulation cannot be copied, so the other one runs the episode again from its seed, with the same actions. Raises
        `gymnasium.error.ResetNeeded` without an episode.
        """
        self._running()
        other = Env(self.setup)
        other.reset(seed=self._episode)
        for values in self._actions:
            other._step(values)
        # A reset without a seed draws the same one there and here.
        other.np_random.bit_generator.state = self.np_random.bit_generator.state
        return other

    def absent(self) -> list[bool]:
        """Whether each quantity has had no value since the last step; the observation then has its last one, or 0."""
        return self._running().absent()

    def finish(self) -> Result:
        """Runs the episode to its end without an agent and returns its result; that of `lasthop.run` if no knob was turned.

        Otherwise a warning of the result says so. Raises `RunFailed` if the run failed.
        """
        world, self._world, self._has_ended = self._running(), None, True
        runs = Runs(self.setup.scenario, 1, None, resolved=self.setup.resolved, warnings=self._warnings())
        runs.deliver(world.finish())
        result = runs.judged()
        if result.failures:
            raise RunFailed(result)
        return result

    def _warnings(self) -> list[str] | None:
        if not self._acted:
            return None
        knobs = ", ".join(knob.name for knob in self.setup.knobs)
        told = f"an agent set {knobs} in {self._acted} steps: the scenario alone does not give this result"
        return [*map(str, self.setup.resolved.warnings()), told]

    def _running(self) -> _core.World:
        if self._world is None:
            raise gymnasium.error.ResetNeeded("no episode is running; call reset first")
        return self._world

    def _info(self) -> dict[str, Any]:
        return {"seed": self._episode, "time_s": self._running().now_ns() / 1e9}


def make(
    scenario: Scenario | str | os.PathLike[str],
    control: Control,
    observe: Iterable[str],
    reward: str = DEFAULT_REWARD,
    *,
    every: str | None = None,
    at: str | None = None,
) -> Env:
    """Returns the environment of these arguments; `Setup` describes them."""
    return Env(Setup(scenario, control, observe, reward, every, at))
