"""Schedulers of several users in Python: rewritten built-in ones give the same runs, and mistakes end a run with a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import lasthop
import pytest

SCENARIO = """
name = "several"
duration = "{duration}"
warmup = "0 s"
[channel]
path_loss = "log_distance"
error_model = "nist"
[bss]
standard = "802.11ax"
channel_width = "80 MHz"
rate_control = "ideal"
[bss.ap]
queue = "airtime_fq_codel"
multi_user = "airtime"
[[station]]
name = "near"
count = 3
distance = "5 m"
[[station]]
name = "far"
count = 3
distance = "40 m"
[[flow]]
station = "*"
direction = "down"
[[flow]]
station = "near*"
direction = "up"
"""
LEAVES = "import lasthop\n\nclass Leaves(lasthop.MultiUserScheduler):\n    pass\n"
# From the formulas of the documents: metric r / T, averages with a time constant, and the best prefix of that order by the
# sum of b / T over the time of the exchange. Data tones of equal units of 80 MHz [802.11ax-2021 Table 27-8, 27-79 to 27-81].
FAIR = """\
import math
import lasthop

TONES = {1: 980, 2: 468, 3: 234, 4: 234, 5: 102, 6: 102, 7: 102, 8: 102}


class Fair(lasthop.MultiUserScheduler):
    def __init__(self, context, constant=0.1):
        self.constant = constant
        self.rate = [0.0] * context.stations
        self.at = [0.0] * context.stations

    def throughput(self, now, place):
        return max(1.0, self.rate[place] * math.exp(-(now - self.at[place]) / self.constant))

    def choose(self, offer, alone):
        weights = [1.0 / self.throughput(offer.now_s, user.place) for user in offer.users]
        order = sorted(range(len(weights)), key=lambda n: -offer.users[n].rate_bps * weights[n])
        best, number = 0.0, 1
        for users in range(1, min(len(order), offer.max_users) + 1):
            share = TONES[users] / TONES[1]
            takes = [8.0 * offer.users[n].bytes / (offer.users[n].rate_bps * share) for n in order[:users]]
            data = min(max(takes), offer.longest_s)
            sent = sum(weights[n] * offer.users[n].bytes * min(1.0, data / time) for n, time in zip(order, takes))
            value = sent / (data + (offer.around_one_s if users == 1 else offer.around_several_s))
            if value >= best and (users > 1 or alone):
                best, number = value, users
        return order[:number]

    def downlink(self, offer):
        return self.choose(offer, True)

    def uplink(self, offer):
        return self.choose(offer, False)

    def on_grant(self, now_s, place, bytes):
        self.rate[place] = self.throughput(now_s, place) + bytes / self.constant
        self.at[place] = now_s
"""


def scenario(tmp_path: Path, choice: str, code: str = "", duration: str = "2 s") -> lasthop.Scenario:
    (tmp_path / "mine.py").write_text(code)
    (tmp_path / "several.toml").write_text(
        SCENARIO.format(duration=duration).replace('multi_user = "airtime"', f"multi_user = {choice}")
    )
    return lasthop.load(tmp_path / "several.toml")


def numbers(result: lasthop.Result) -> object:
    found = json.loads(result.to_json())
    return [[run[key] for key in ("flows", "nodes", "links", "totals")] for run in found["runs"]]


def python(name: str, more: str = "") -> str:
    return f'{{ kind = "python", file = "mine.py", class = "{name}"{more} }}'


@pytest.mark.parametrize("settings", ["", ", uplink = false", ", max_users = 4, bsrp = false"])
def test_scheduler_that_leaves_all_choices_runs_as_airtime(tmp_path: Path, settings: str) -> None:
    built_in = lasthop.run(scenario(tmp_path, f'{{ kind = "airtime"{settings} }}'), seeds=[3])
    own = lasthop.run(scenario(tmp_path, python("Leaves", settings), LEAVES), seeds=[3])
    assert numbers(own) == numbers(built_in)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_proportional_fair_from_its_formulas_gives_the_same_runs(tmp_path: Path, seed: int) -> None:
    built_in = lasthop.run(scenario(tmp_path, '{ kind = "proportional_fair", average = "50 ms" }'), seeds=[seed])
    own = lasthop.run(scenario(tmp_path, python("Fair", ", constant = 0.05"), FAIR), seeds=[seed])
    assert numbers(own) == numbers(built_in)
    airtime = lasthop.run(scenario(tmp_path, '"airtime"'), seeds=[seed])
    assert numbers(airtime) != numbers(built_in)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("turn(self, won):\n        return 'up'", 'turn gave \'up\'; "queue", "question", "data" or None'),
        ("downlink(self, offer):\n        return [0, 0]", "downlink gave [0, 0]; indices of offer.users"),
        ("downlink(self, offer):\n        return [99]", "downlink gave [99]; indices of offer.users"),
        ("uplink(self, offer):\n        return []", "uplink gave []; indices of offer.users"),
        (
            "downlink(self, offer):\n        return 'all'",
            "downlink gave 'all'; a list of indices of offer.users, or None",
        ),
    ],
)
def test_wrong_answer_ends_the_run_with_a_sentence(tmp_path: Path, method: str, message: str) -> None:
    code = f"import lasthop\n\nclass Mine(lasthop.MultiUserScheduler):\n    def {method}\n"
    with pytest.raises(lasthop.RunFailed) as failed:
        lasthop.run(scenario(tmp_path, python("Mine"), code), seeds=[1])
    assert message in str(failed.value) and "scheduler of ap" in str(failed.value)


def test_unknown_scheduler_and_idle_settings_are_named(tmp_path: Path) -> None:
    with pytest.raises(lasthop.ScenarioError, match="proportional_fair"):
        scenario(tmp_path, '"proportional_fai"')
    with pytest.raises(lasthop.ScenarioError, match="averages no throughputs"):
        scenario(tmp_path, '{ kind = "airtime", average = "10 ms" }').resolve()
