"""Ready tasks: a scenario, a knob to learn, a reward, and the policies to compare with."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .. import _core
from ..study.scenario import Scenario, load
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
    #: values of the knobs that stay constant
    constants: tuple[float, ...] = ()
    optimum: Optimum | None = None
    #: length of an episode in training, and of one in an evaluation
    training: str = "3 s"
    evaluation: str = "10 s"

    def setup(self, duration: str) -> Setup:
        """The task with episodes that end at this time."""
        return Setup(self.scenario.set("duration", duration), self.knobs, self.observe, self.reward, self.every)

    def start(self) -> Policy:
        """The policy before training: the middle of the range, whatever it sees."""
        middle = math.log2(self.least * self.most) / 2
        weights = (middle, *(0.0 for _ in self.observe))
        return Policy(tuple(self.observe), tuple(self.observe.values()), self.least, self.most, weights)


def best_window(scenario: Scenario) -> tuple[float, str]:
    """The goodput at the best constant window, which `lasthop theory` has."""
    start = "Bianchi: goodput at the best CW"
    rows = json.loads(_core.theory_json(scenario.resolve()))["rows"]
    (row,) = [row for row in rows if row["quantity"].startswith(start) and "DIFS" in row["quantity"]]
    return row["closed_form"] / 1e6, "Bianchi's closed form at the best window (`lasthop theory`)"


def _scenario(text: str) -> Scenario:
    return Scenario(text, "task.toml")


def _cw() -> Task:
    scenario = load("saturation-11a")
    # The case of the closed form: each slot counts, all wait DIFS, no frame is given up.
    told = {"station.0.count": 20, "warmup": "500 ms", "bss.countdown": "bianchi", "bss.eifs": False}
    for path, value in {**told, "bss.retry_limit": "unlimited"}.items():
        scenario = scenario.set(path, value)
    return Task(
        "cw",
        "the contention window of 20 saturated stations",
        scenario,
        ("edca.cw_min:sta*", "edca.cw_max:sta*"),
        7,
        2047,
        {"medium.contending_stations_mean": 1.0, "medium.collision_fraction": 0.1, "medium.idle_fraction": 0.1},
        "100 ms",
        default="802.11's window, doubled after collisions",
        constants=(15, 63, 255, 1023),
        optimum=best_window,
    )


_BUSY = """
warmup = "2 s"
[bss]
standard = "802.11n"
rate_control = { kind = "fixed", mcs = 7 }
[bss.ap]
queue = "fq_codel"
[[station]]
count = 4
[wired]
delay = "10 ms"
[[flow]]
station = "*"
direction = "down"
"""


def _aqm() -> Task:
    return Task(
        "aqm",
        "CoDel's target at an access point with four CUBIC downloads",
        _scenario(_BUSY),
        ("queue.target:ap",),
        0.0005,
        0.08,
        {"nodes.ap.queue_packets": 10.0, "medium.busy_fraction": 0.5},
        "100 ms",
        reward='log(1 + totals.goodput_bps / 1e6) - 20 * mean("flows.*.rtt_mean_s")',
        unit="log Mbit/s - 20 RTT/s",
        default="CoDel's 5 ms",
        constants=(0.002, 0.02, 0.05),
        training="4 s",
    )


def _window() -> Task:
    return Task(
        "window",
        "the congestion window of a download among three of CUBIC",
        _scenario(_BUSY),
        ("window:sta1.down",),
        2,
        500,
        {"flows.sta1.down.rtt_mean_s": 0.02, "flows.sta1.down.rtt_min_s": 0.02},
        "100 ms",
        reward="log(1 + flows.sta1.down.goodput_bps / 1e6) - 20 * flows.sta1.down.rtt_mean_s",
        unit="log Mbit/s - 20 RTT/s",
        default="CUBIC",
        constants=(10, 40, 160),
        training="4 s",
    )


_ANOMALY = """
warmup = "1 s"
[bss]
standard = "802.11n"
[bss.ap]
queue = "airtime_fq_codel"
[[station]]
name = "fast"
count = 3
rate_control = { kind = "fixed", mcs = 7 }
[[station]]
name = "slow"
rate_control = { kind = "fixed", mcs = 0 }
[[flow]]
station = "*"
direction = "down"
"""


def _weights() -> Task:
    return Task(
        "weights",
        "the airtime weight of a slow station, for proportional fairness",
        _scenario(_ANOMALY),
        ("airtime_weight:slow",),
        16,
        4096,
        {"flows.slow.down.goodput_bps": 1e6, "totals.goodput_bps": 1e7},
        "200 ms",
        reward="log(1 + flows.fast1.down.goodput_bps / 1e6) + log(1 + flows.fast2.down.goodput_bps / 1e6) + "
        "log(1 + flows.fast3.down.goodput_bps / 1e6) + log(1 + flows.slow.down.goodput_bps / 1e6)",
        unit="sum of log Mbit/s",
        default="equal weights",
        constants=(64, 1024),
        training="4 s",
    )


_MOVING = """
warmup = "500 ms"
[channel]
path_loss = "log_distance"
error_model = "nist"
[bss]
standard = "802.11a"
rate_control = "minstrel"
[[station]]
waypoints = [["0 s", "5 m", "0 m"], ["10 s", "60 m", "0 m"]]
[[flow]]
transport = "udp"
rate = "saturated"
"""


def _rate() -> Task:
    return Task(
        "rate",
        "the rate of a station that walks away",
        _scenario(_MOVING),
        ("rate:sta->ap",),
        6e6,
        54e6,
        {"links.sta.ap.mpdu_loss_fraction": 0.1, "links.sta.ap.mean_data_rate_bps": 6e6},
        "50 ms",
        default="Minstrel",
        constants=(6e6, 24e6, 54e6),
        training="10 s",
    )


#: By name.
TASKS: dict[str, Callable[[], Task]] = {"cw": _cw, "aqm": _aqm, "window": _window, "weights": _weights, "rate": _rate}
