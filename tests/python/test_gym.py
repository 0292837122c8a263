"""Environments of Gymnasium and PettingZoo: an episode is a run."""

from __future__ import annotations

import json
import warnings

import lasthop
import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from lasthop import gym
from pettingzoo.test import parallel_api_test

CONTROL = ["edca.cw_min:*"]
OBSERVE = ["medium.collision_fraction", "totals.goodput_bps", "flows.*.goodput_bps", "nodes.sta2.queue_packets"]


@pytest.fixture(scope="module")
def scenario():
    loaded = lasthop.load("scenarios/khademi2011-uplink-11b.toml")
    for path, value in {"duration": "1500 ms", "warmup": "500 ms", "station.0.count": 3}.items():
        loaded = loaded.set(path, value)
    return loaded


def runs(result: lasthop.Result) -> list[dict]:
    found = json.loads(result.to_json())["runs"]
    for run in found:
        del run["simulator"]["wall_s"]
    return found


def episode(env: gym.Env, seed: int, actions: list) -> tuple[np.ndarray, list[float]]:
    observations, rewards = [env.reset(seed=seed)[0]], []
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        observations.append(observation)
        rewards.append(reward)
        assert not terminated
        if truncated:
            break
    return np.array(observations), rewards


def test_gymnasium_accepts_the_environment(scenario):
    for control in (CONTROL, {"edca.cw_min:*": (15, 255)}, {"edca.cw_min:*": [15, 63]}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_env(gym.make(scenario, control, OBSERVE, every="100 ms"))


def test_pettingzoo_accepts_the_parallel_environment(scenario):
    env = gym.parallel(
        scenario,
        ["sta1", "sta2"],
        ["edca.cw_min:{agent}"],
        ["flows.{agent}.up.goodput_bps", "medium.idle_fraction"],
        "flows.{agent}.up.goodput_bps / 1e6",
        every="100 ms",
    )
    parallel_api_test(env, num_cycles=50)


def test_an_agent_that_does_nothing_gives_the_bytes_of_a_run(scenario):
    whole = lasthop.run(scenario, seeds=[3], interval_s=None)
    env = gym.make(scenario, CONTROL, OBSERVE, every="7 ms")
    episode(env, 3, [None] * 1000)
    finished = env.finish()
    assert runs(finished) == runs(whole)
    assert finished.warnings == whole.warnings
    env.reset(seed=3)
    env.step([63.0])
    acted = env.finish()
    assert runs(acted) != runs(whole)
    assert any("an agent set edca.cw_min:* in 1 steps" in warning for warning in acted.warnings)


def test_goodput_of_the_steps_adds_up_to_that_of_the_run(scenario):
    env = gym.make(scenario, CONTROL, ["flows.*.goodput_bps"], "totals.goodput_bps", every="30 ms")
    observations, rewards = episode(env, 5, [None] * 1000)
    whole = lasthop.run(scenario, seeds=[5], interval_s=None).flows["goodput_bps"].to_numpy()
    # 33 steps of 30 ms and one of 10 ms
    lengths = np.array([0.03] * 33 + [0.01])
    assert len(rewards) == 34
    assert observations[1:].T @ lengths == pytest.approx(whole)
    assert np.array(rewards) @ lengths == pytest.approx(whole.sum())


def test_a_seed_gives_the_same_episode_alone_and_among_others_on_any_number_of_threads(scenario):
    env = gym.make(scenario, CONTROL, OBSERVE, every="100 ms")
    actions = [[float(15 + 16 * step)] for step in range(10)]
    alone = [episode(env, seed, actions) for seed in (7, 8, 9)]
    for threads in (1, 2):
        vector = gym.make_vec(scenario, 3, CONTROL, OBSERVE, every="100 ms", threads=threads)
        observations, rewards = [vector.reset(seed=7)[0]], []
        for action in actions:
            observation, reward, _, truncated, _ = vector.step([action] * 3)
            observations.append(observation)
            rewards.append(reward)
        assert truncated.all()
        for place, (seen, earned) in enumerate(alone):
            assert np.array_equal(np.array(observations)[:, place], seen)
            assert np.array_equal(np.array(rewards)[:, place], earned)
        # The next step begins the episodes that the environments alone would begin.
        observation, reward, _, truncated, info = vector.step([[15.0]] * 3)
        env.reset(seed=7)
        first, told = env.reset()
        assert told["seed"] == info["seed"][0]
        assert np.array_equal(observation[0], first)
        assert not reward.any()
        assert not truncated.any()


def test_an_agent_decides_after_each_acknowledgement_or_attempt(scenario):
    flow = gym.make(scenario, CONTROL, ["flows.sta1.up.rtt_mean_s"], at="ack:sta1.up")
    _, rewards = episode(flow, 1, [None] * 100_000)
    link = gym.make(
        scenario, CONTROL, ["links.sta1.ap.frames_sent"], "links.sta1.ap.frames_sent", at="attempt:sta1->ap"
    )
    _, attempts = episode(link, 1, [None] * 100_000)
    whole = lasthop.run(scenario, seeds=[1], interval_s=None)
    assert sum(attempts) == len(attempts) - (attempts[-1] == 0)
    assert 0 < len(rewards) < len(attempts)
    assert runs(flow.finish()) == runs(whole) == runs(link.finish())


def test_mistakes_name_the_argument_and_the_remedy(scenario):
    for change, part in (
        ({"control": ["edca.cw_mim:*"]}, 'control: unknown knob "edca.cw_mim"'),
        ({"observe": ["medium.colision_fraction"]}, 'did you mean "medium.collision_fraction"'),
        ({"observe": ["flows.sta9.up.goodput_bps"]}, 'there is no flow "sta9.up"'),
        ({"reward": "open('file')"}, "reward: "),
        ({"reward": "log(totals.goodput_bps)"}, "add a number, as in log(1 + x)"),
        ({"every": "soon"}, "decide: "),
        ({"every": "0 ms"}, "never ends a step"),
        ({"at": "ack:sta9.up"}, 'there is no flow "sta9.up"'),
        ({"every": "1 s", "at": "ack:sta1.up"}, "give one of them"),
        ({"control": {"edca.cw_min:*": (10, 40_000)}}, "bounds from 0.0 to 32767.0 slots are needed"),
        ({"control": {"edca.cw_min:*": [10, 10.5]}}, "whole numbers from 0.0 to 32767.0 slots"),
    ):
        with pytest.raises((lasthop.ScenarioError, ValueError), match="^") as error:
            gym.make(scenario, **{"control": CONTROL, "observe": OBSERVE, **change})
        assert part in str(error.value)


def test_a_step_needs_an_episode(scenario):
    env = gym.make(scenario, CONTROL, OBSERVE)
    with pytest.raises(ResetNeeded):
        env.step([15.0])
    env.reset(seed=1)
    with pytest.raises(ValueError, match="1 numbers are needed, not 2"):
        env.step([15.0, 15.0])
