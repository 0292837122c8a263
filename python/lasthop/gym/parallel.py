"""A parallel environment of PettingZoo: several agents decide at the same instants of one run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
from gymnasium import spaces

from .. import _core
from ..data import arguments as given
from ..study.scenario import Scenario, scenario_or_file
from .env import SEEDS
from .setup import DEFAULT_REWARD, Control, Numbers, Setup

#: In the names of knobs and quantities, and in rewards, this is replaced by the name of each agent.
AGENT = "{agent}"


class ParallelEnv(pettingzoo.ParallelEnv[str, Numbers, Any]):  # type: ignore[misc]  # it has no types
    """Agents, each with its own knobs, observations and reward, in one run of a scenario.

    All decide at the same instants. Otherwise as `Env`: `reset(seed=s)` starts the run of seed `s`, and all agents are
    truncated at its end.
    """

    metadata = {"render_modes": [], "name": "lasthop_v0"}  # noqa: RUF012 - as PettingZoo has it

    def __init__(self, setups: Mapping[str, Setup], rewards: Iterable[str], decide: str) -> None:
        self.setups = dict(setups)
        self.possible_agents = list(setups)
        self.agents: list[str] = []
        first = next(iter(self.setups.values()))
        knobs = [knob.name for setup in setups.values() for knob in setup.knobs]
        names = list(dict.fromkeys(name for setup in setups.values() for name in setup.quantities))
        self._core = _core.Task(first.resolved, knobs, names, list(rewards), decide)
        self._places = {agent: [names.index(name) for name in setup.quantities] for agent, setup in setups.items()}
        self._actions = {agent: setup.action_space() for agent, setup in setups.items()}
        self._observations = {agent: setup.observation_space() for agent, setup in setups.items()}
        self._world: _core.World | None = None
        self._generator: np.random.Generator | None = None
        self._seen = np.empty(len(names))
        self._rewards = np.empty(len(self.possible_agents))
        self._episode = 0

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The same object in each call, as PettingZoo demands."""
        return self._actions[agent]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same object in each call."""
        return self._observations[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Numbers], dict[str, Any]]:
        """Starts an episode."""
        if seed is not None or self._generator is None:
            self._generator = np.random.default_rng(seed)
        self._episode = int(self._generator.integers(SEEDS)) if seed is None else seed
        self._world = _core.World(self._core, self._episode, self._seen)
        self.agents = list(self.possible_agents)
        return self._observed(), self._info()

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Numbers], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Turns the knobs of all agents and runs to the next decision; an agent without an action turns none."""
        if self._world is None or not self.agents:
            raise gymnasium.error.ResetNeeded("step: no episode is running; call reset first")
        values = np.concatenate([self._values(agent, actions.get(agent)) for agent in self.possible_agents])
        over = self._world.step(values, self._seen, self._rewards)
        agents, rewards = self.agents, dict(zip(self.possible_agents, map(float, self._rewards), strict=True))
        result = self._observed(), rewards, dict.fromkeys(agents, False), dict.fromkeys(agents, over), self._info()
        if over:
            self.agents = []
        return result

    def _values(self, agent: str, action: Any) -> Numbers:
        setup = self.setups[agent]
        return np.full(len(setup.knobs), np.nan) if action is None else setup.values(action, 1)[0]

    def _observed(self) -> dict[str, Numbers]:
        return {agent: self._seen[places] for agent, places in self._places.items()}

    def _info(self) -> dict[str, Any]:
        return {agent: {"seed": self._episode} for agent in self.possible_agents}


def parallel(
    scenario: Scenario | str | os.PathLike[str],
    agents: Iterable[str],
    control: Control,
    observe: Iterable[str],
    reward: str = DEFAULT_REWARD,
    *,
    every: str = "10 ms",
    at: str | None = None,
) -> ParallelEnv:
    """Returns the environment of these agents.

    In `control`, `observe` and `reward`, `{agent}` is replaced by the name of each: `"edca.cw_min:{agent}"` with the stations'
    names. Otherwise as `Setup`.
    """
    decide = every if at is None else at
    found = scenario_or_file(scenario)
    names = given.names("agents", agents, "the name of an agent")
    if not names:
        raise ValueError("agents: at least one name is needed")
    observe = given.names("observe", observe, "the name of a quantity")
    setups = {}
    for agent in names:
        if isinstance(control, Mapping):
            own: Control = {name.replace(AGENT, agent): limits for name, limits in control.items()}
        else:
            own = [name.replace(AGENT, agent) for name in given.names("control", control, "the name of a knob")]
        seen = [name.replace(AGENT, agent) for name in observe]
        setups[agent] = Setup(found, own, seen, reward.replace(AGENT, agent), at=decide)
    return ParallelEnv(setups, [reward.replace(AGENT, agent) for agent in names], decide)
