"""Steps a second of `lasthop.gym`: one environment, 64 on one and on two threads, and memory over many resets.

`python benches/gym_speed.py [SECONDS] [RESETS]`; the engine must be a release.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import lasthop
import numpy as np
from lasthop import gym

ROOT = Path(__file__).resolve().parents[1]
WORLDS = 64
CONTROL = ["edca.cw_min:*"]
OBSERVE = [
    "totals.goodput_bps",
    "medium.collision_fraction",
    "medium.idle_fraction",
    "flows.sta1.up.goodput_bps",
    "flows.sta1.up.cwnd_segments",
    "flows.sta1.up.rtt_mean_s",
    "nodes.sta1.queue_packets",
    "nodes.ap.queue_packets",
]


def scenario(duration: str) -> lasthop.Scenario:
    """Ten NewReno uploads over 802.11b at 11 Mbit/s."""
    found = lasthop.load(ROOT / "scenarios" / "khademi2011-uplink-11b.toml")
    found = found.set("bss.rate_control", "{ kind = 'fixed', rate = '11 Mbit/s' }")
    return found.set("warmup", "1 s").set("duration", duration)


def alone(seconds: float) -> float:
    """Steps a second of one environment that an agent steps, in CPU time of this process."""
    env = gym.make(scenario("100000 s"), CONTROL, OBSERVE, every="10 ms")
    env.reset(seed=1)
    action = np.array([31.0])
    steps, begun = 0, time.process_time()
    while time.process_time() - begun < seconds:
        for _ in range(1000):
            env.step(action)
        steps += 1000
    return steps / (time.process_time() - begun)


def together(threads: int, seconds: float) -> tuple[float, float]:
    """Steps a second of 64 environments in wall-clock time, and in CPU time, which a busy machine changes less."""
    env = gym.make_vec(scenario("100000 s"), WORLDS, CONTROL, OBSERVE, every="10 ms", threads=threads)
    env.reset(seed=1)
    actions = np.full((WORLDS, 1), 31.0)
    steps, begun, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begun < seconds:
        for _ in range(20):
            env.step(actions)
        steps += 20 * WORLDS
    return steps / (time.perf_counter() - begun), steps / (time.process_time() - cpu)


def growth(resets: int) -> tuple[float, float]:
    """Growth of the largest memory in MB over these resets, after the first hundred, and milliseconds of a reset."""
    env = gym.make(scenario("2 s"), CONTROL, OBSERVE, every="10 ms")
    for seed in range(100):
        env.reset(seed=seed)
        env.step([31.0])
    before, begun = _largest_mb(), time.perf_counter()
    for seed in range(resets):
        env.reset(seed=seed)
        env.step([31.0])
    return _largest_mb() - before, 1e3 * (time.perf_counter() - begun) / resets


def _largest_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Prints one line a measurement."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    resets = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    print(f"one environment: {alone(seconds):,.0f} steps/s of CPU time")
    rates = {threads: max(together(threads, seconds) for _ in range(3)) for threads in (1, 2)}
    for threads, (rate, of_cpu) in rates.items():
        print(f"{WORLDS} environments on {threads} thread(s): {rate:,.0f} steps/s, {of_cpu:,.0f} of CPU time")
    print(
        f"two threads: {rates[2][0] / rates[1][0]:.2f} times one; of CPU time {rates[2][1] / rates[1][1]:.2f} a thread"
    )
    mb, ms = growth(resets)
    print(f"{resets} resets with a warm-up of 1 s: {mb:.1f} MB more, {ms:.2f} ms each")


if __name__ == "__main__":
    main()
