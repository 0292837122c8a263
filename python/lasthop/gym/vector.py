"""Several environments stepped together by threads of the engine, with one array for all observations."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector import VectorEnv as BaseVectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .. import _core
from ..data import arguments as given
from ..study.scenario import Scenario
from ..study.simulation import core_count
from .env import SEEDS
from .setup import DEFAULT_REWARD, Control, Numbers, Setup


class VectorEnv(BaseVectorEnv[Numbers, Any, NDArray[Any]]):
    """`count` environments. `reset(seed=s)` gives the i-th the seed `s + i`, as Gymnasium's own do.

    After the end of an episode the next step starts another one; its action has no effect and its reward is 0
    (`AutoresetMode.NEXT_STEP`); its seed is the one that `Env.reset()` without a seed would draw. Observations and
    rewards are new arrays in each step. `info` has the seeds of all runs.
    """

    def __init__(self, setup: Setup, count: int, threads: int | None = None) -> None:
        self.setup = setup
        self.num_envs = given.whole("count", count, "a number of environments")
        if count < 1:
            raise ValueError(f"count: {count} environments; at least 1")
        self.single_action_space = setup.action_space()
        self.single_observation_space = setup.observation_space()
        self.action_space = batch_space(self.single_action_space, count)
        self.observation_space = batch_space(self.single_observation_space, count)
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}
        self._worlds = _core.Worlds(setup.core, count, threads or core_count())
        self._generators: list[np.random.Generator] = []
        self._episodes = np.zeros(count, dtype=np.int64)
        self._ended: list[int] = []

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Starts an episode in each environment."""
        if isinstance(seed, list):
            seeds = seed
        else:
            seeds = [None if seed is None else seed + place for place in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: {self.num_envs} seeds are needed, not {len(seeds)}")
        if not self._generators:
            self._generators = [np.random.default_rng() for _ in seeds]
        for place, one in enumerate(seeds):
            if one is not None:
                self._generators[place] = np.random.Generator(np.random.PCG64(one))
            self._episodes[place] = self._drawn(place) if one is None else one
        observations = self._empty()
        all_seeds = list(enumerate(map(int, self._episodes)))
        self._ended = self._worlds.reset(all_seeds, observations)
        return observations, self._info()

    def step(self, actions: Any) -> tuple[Numbers, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Steps all environments; one whose episode had ended starts the next one."""
        values = None if actions is None else self.setup.values(actions, self.num_envs)
        observations, rewards = self._empty(), np.empty(self.num_envs)
        over = self._ended
        self._ended = self._worlds.step(values, observations, rewards)
        if over:
            for place in over:
                self._episodes[place] = self._drawn(place)
            self._ended = self._worlds.reset([(place, int(self._episodes[place])) for place in over], observations)
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        truncated[self._ended] = True
        return observations, rewards, np.zeros(self.num_envs, dtype=np.bool_), truncated, self._info()

    def close_extras(self, **_: Any) -> None:
        """Ends the threads once the last reference is gone."""
        self._ended = []

    def _drawn(self, place: int) -> int:
        return int(self._generators[place].integers(SEEDS))

    def _empty(self) -> Numbers:
        return np.empty((self.num_envs, len(self.setup.quantities)))

    def _info(self) -> dict[str, Any]:
        return {"seed": self._episodes.copy(), "_seed": np.ones(self.num_envs, dtype=np.bool_)}


def make_vec(
    scenario: Scenario | str | os.PathLike[str],
    count: int,
    control: Control,
    observe: Iterable[str],
    reward: str = DEFAULT_REWARD,
    *,
    every: str | None = None,
    at: str | None = None,
    threads: int | None = None,
) -> VectorEnv:
    """Returns `count` environments on at most `threads` threads, by default one per core; `Setup` has the rest."""
    return VectorEnv(Setup(scenario, control, observe, reward, every, at), count, threads)
