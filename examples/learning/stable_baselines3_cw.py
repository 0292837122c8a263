"""The task `cw` learned by PPO of Stable-Baselines3, and its network as a policy of a scenario.

`python examples/learning/stable_baselines3_cw.py OUT [STEPS]` trains, evaluates with the seeds of the task, and writes `OUT/cw.onnx` and
`OUT/cw.toml`, which `lasthop run` runs. It needs `pip install 'lasthop[gym,onnx]' stable-baselines3 onnx`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import torch
from lasthop import gym
from lasthop.gym import policies
from lasthop.gym.protocol import compare, scores_of
from lasthop.gym.task import Task
from lasthop.gym.tasks import TASKS
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env


class Scaled(gymnasium.Wrapper):
    """Quantities and windows on scales that a network can learn: logarithms, and an action from -1 to 1."""

    def __init__(self, env: gym.Env, task: Task) -> None:
        super().__init__(env)
        self.scales = np.array([*task.observe.values()])
        self.middle, self.half = span(task)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), dtype=np.float32)
        self.observation_space = gymnasium.spaces.Box(0.0, np.inf, (len(self.scales),), dtype=np.float32)

    def reset(self, **given):
        """Starts an episode."""
        seen, info = self.env.reset(**given)
        return self._scaled(seen), info

    def step(self, action):
        """Sets all knobs to one window; the reward is the goodput in units of 30 Mbit/s."""
        window = 2 ** (self.middle + self.half * float(action[0]))
        seen, reward, *rest = self.env.step([window] * len(self.env.setup.knobs))
        return self._scaled(seen), reward / 30, *rest

    def _scaled(self, seen):
        return np.log2(1 + seen / self.scales).astype(np.float32)


def span(task: Task) -> tuple[float, float]:
    """The middle of the range of windows, and half of its length, in powers of two."""
    least, most = np.log2([task.least, task.most])
    return (least + most) / 2, (most - least) / 2


class Network(torch.nn.Module):
    """The learned policy from quantities to a window, with the scales inside, for a scenario to run."""

    def __init__(self, policy, task: Task) -> None:
        super().__init__()
        self.policy = policy
        self.register_buffer("scales", torch.tensor([*task.observe.values()], dtype=torch.float32))
        self.middle, self.half = span(task)

    def forward(self, seen):
        """The window for rows of quantities."""
        features = torch.log2(1 + seen / self.scales)
        action = self.policy.action_net(self.policy.mlp_extractor.forward_actor(features))
        return 2 ** (self.middle + self.half * action.clamp(-1, 1))


def main() -> None:
    """Trains, evaluates and writes."""
    out, steps = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40_000
    out.mkdir(parents=True, exist_ok=True)
    task = TASKS["cw"]()
    torch.set_num_threads(1)
    begun, cpu = time.monotonic(), time.process_time()
    envs = make_vec_env(lambda: Scaled(gym.Env(task.setup(task.training)), task), n_envs=8, seed=1)
    model = PPO("MlpPolicy", envs, n_steps=64, batch_size=128, gamma=0.5, learning_rate=1e-3, seed=1, device="cpu")
    model.learn(steps)
    took_s, cpu_s = time.monotonic() - begun, time.process_time() - cpu
    network = Network(model.policy, task).eval()
    example = (torch.zeros(1, len(task.observe)),)
    torch.onnx.export(network, example, out / "cw.onnx", input_names=["seen"], output_names=["window"], dynamo=False)
    (out / "cw.toml").write_text(task.with_policy("cw.onnx", "onnx").text, encoding="utf-8")
    scores = scores_of({"PPO": policies.score(task, out / "cw.onnx"), **compare(task)})
    for name, one in scores.items():
        print(f"{name:45} {one.mean:.3f} ({one.ci95_low:.3f} to {one.ci95_high:.3f}) {task.unit}")
    best, source = task.optimum(task.scenario)
    print(f"{source}: {best:.3f}; PPO has {100 * scores['PPO'].mean / best:.2f} % of it")
    print(f"{steps} steps of training took {took_s:.0f} s, and {cpu_s:.0f} s of CPU time")


if __name__ == "__main__":
    main()
