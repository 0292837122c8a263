"""Environments of Gymnasium and PettingZoo: an agent turns knobs of a simulation and reads quantities.

>>> from lasthop import gym
>>> env = gym.make("saturation-11a", ["edca.cw_min:*"], ["medium.collision_fraction"], every="100 ms")
>>> observation, info = env.reset(seed=3)
>>> observation, reward, terminated, truncated, info = env.step([63.0])

It needs the layer `gym`: `pip install 'lasthop[gym]'`.
"""

from __future__ import annotations

from ..data.extras import MissingExtra, lacks

if reason := lacks("gym"):
    raise MissingExtra(f"lasthop.gym {reason}")

from .env import Env, make
from .parallel import ParallelEnv, parallel
from .setup import DEFAULT_REWARD, Setup
from .vector import VectorEnv, make_vec

__all__ = ["DEFAULT_REWARD", "Env", "ParallelEnv", "Setup", "VectorEnv", "make", "make_vec", "parallel"]
