"""`python -m lasthop.gym bench`: steps a second of one world and of 64 on one and two threads, by CPU time and by the clock.

The scenario has ten NewReno uploads over 802.11b at 11 Mbit/s, with steps of 10 ms, one control and eight observations. Rounds of the same
length follow one another, and the best round counts: what else a machine does can only slow a round down. The load at both ends of the measurement is
printed next to the numbers. An engine of a profile other than release is far slower.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..data.quantities import FLOW, MEDIUM, SERIES, TOTALS
from ..study.scenario import Scenario, load
from ..study.simulation import core_count
from .env import Env
from .setup import Setup
from .vector import VectorEnv

WORLDS = 64
#: Steps a second of a core, and how many times as many two threads make as one.
LEAST_STEPS, LEAST_GAIN = 50_000, 1.7
CONTROL = ("edca.cw_min:*",)
OBSERVE = (
    f"totals.{TOTALS.goodput_bps}",
    f"medium.{MEDIUM.collision_fraction}",
    f"medium.{MEDIUM.idle_fraction}",
    f"flows.sta1.up.{FLOW.goodput_bps}",
    f"flows.sta1.up.{SERIES.cwnd_segments}",
    f"flows.sta1.up.{FLOW.rtt_mean_s}",
    f"nodes.sta1.{SERIES.queue_packets}",
    f"nodes.ap.{SERIES.queue_packets}",
)


@dataclass(frozen=True)
class Rate:
    """Steps a second of the clock, and of the CPU time of all threads."""

    of_clock: float
    of_cpu: float


def lines(seconds: float, rounds: int, resets: int) -> Iterator[str]:
    """Measures, and gives each line as soon as it is known."""
    yield f"{core_count()} cores, load {_load()}; rounds of {seconds:g} s: {rounds}, of which the best counts"
    alone = _best([_alone(seconds) for _ in range(rounds)])
    yield _line("one world", alone)
    # In turn, so that a busy minute slows both.
    threads: dict[int, list[Rate]] = {1: [], 2: []}
    for _ in range(rounds):
        for count, rates in threads.items():
            rates.append(_together(count, seconds))
    one, two = (_best(rates) for rates in threads.values())
    yield _line(f"{WORLDS} worlds, one thread", one)
    yield _line(f"{WORLDS} worlds, two threads", two)
    gain = two.of_clock / one.of_clock
    yield f"two threads: {gain:.2f} times one by the clock, {two.of_cpu / one.of_cpu:.2f} by CPU time"
    steps = min(alone.of_cpu, one.of_cpu)
    yield f"aims: {LEAST_STEPS:,} steps a second of a core: {_met(steps >= LEAST_STEPS)}; two threads {LEAST_GAIN} times one: {_met(gain >= LEAST_GAIN)}"
    if resets:
        mb, ms = _growth(resets)
        yield f"{resets:,} resets with a warm-up of 1 s: {mb:.1f} MB more, {ms:.2f} ms each"
    yield f"load at the end {_load()}"


def _met(is_met: bool) -> str:
    return "met" if is_met else "not met"


def _load() -> str:
    return ", ".join(f"{load:.1f}" for load in os.getloadavg())


def _line(name: str, rate: Rate) -> str:
    return f"{name}: {rate.of_clock:,.0f} steps/s by the clock, {rate.of_cpu:,.0f} by CPU time"


def _best(rates: list[Rate]) -> Rate:
    return Rate(max(rate.of_clock for rate in rates), max(rate.of_cpu for rate in rates))


def scenario(duration: str) -> Scenario:
    """Ten NewReno uploads over 802.11b at 11 Mbit/s."""
    found = load("khademi2011-uplink-11b").set("bss.rate_control", "{ kind = 'fixed', rate = '11 Mbit/s' }")
    return found.set("warmup", "1 s").set("duration", duration)


def _setup(duration: str) -> Setup:
    return Setup(scenario(duration), CONTROL, OBSERVE, every="10 ms")


def _alone(seconds: float) -> Rate:
    env = Env(_setup("100000 s"))
    env.reset(seed=1)
    action = np.array([31.0])
    steps, clock, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - clock < seconds:
        for _ in range(1000):
            env.step(action)
        steps += 1000
    return Rate(steps / (time.perf_counter() - clock), steps / (time.process_time() - cpu))


def _together(threads: int, seconds: float) -> Rate:
    env = VectorEnv(_setup("100000 s"), WORLDS, threads)
    env.reset(seed=1)
    actions = np.full((WORLDS, 1), 31.0)
    steps, clock, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - clock < seconds:
        for _ in range(20):
            env.step(actions)
        steps += 20 * WORLDS
    return Rate(steps / (time.perf_counter() - clock), steps / (time.process_time() - cpu))


def _growth(resets: int) -> tuple[float, float]:
    """Growth of the largest memory in MB over these resets, after the first hundred, and milliseconds of a reset."""
    env = Env(_setup("2 s"))
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
