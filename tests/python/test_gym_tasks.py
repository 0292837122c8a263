"""Ready tasks of `lasthop.gym`: training, evaluation and policies as files."""

from __future__ import annotations

import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

import json

import lasthop
import numpy as np
from gymnasium.utils.env_checker import check_env
from lasthop import _core, gym
from lasthop.gym import channels
from lasthop.gym.__main__ import main
from lasthop.gym.learner import Policy, train
from lasthop.gym.protocol import FIRST_EVALUATION_SEED, compare
from lasthop.gym.tasks import TASKS
from pettingzoo.test import parallel_api_test


def test_a_policy_for_the_contention_window_reaches_the_optimum_of_the_closed_form(tmp_path, capsys):
    # Twelve episodes in each of five generations are enough for one weight that matters.
    assert main(["cw", "--generations", "5", "--population", "12", "--seeds", "4", "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    numbers = {line.split("  ")[0].strip(): line for line in told.splitlines() if "  " in line}
    learned, default, optimum = (
        float(next(part for part in line.split("  ")[1:] if part).split()[0])
        for line in (numbers["learned"], numbers["802.11's window, doubled after collisions"], numbers["optimum"])
    )
    # Bianchi's closed form at its best window: 29.58 Mbit/s; 97 % of it is the aim of the task.
    assert optimum == pytest.approx(29.58, abs=0.01)
    assert 0.97 * optimum < learned < 1.01 * optimum
    assert default < 0.9 * optimum
    assert "gap to the optimum: " in told
    policy = Policy.read((tmp_path / "cw.json").read_text(encoding="utf-8"))
    assert 63 < policy(np.array([20.0, 0.07, 0.27])) < 511
    assert (tmp_path / "cw.png").stat().st_size > 10_000


def test_the_learner_finds_the_optimum_of_a_known_function():
    start = Policy(("x",), (1.0,), 1.0, 1024.0, (5.0, 0.0))
    seeds = []

    def score(weights, seed):
        seeds.append(seed)
        return -((weights[:, 0] - 3) ** 2) - (weights[:, 1] - 1) ** 2

    learned, history = train(start, score, generations=40, population=40, seed=1)
    assert learned.weights == pytest.approx((3, 1), abs=0.1)
    assert history[-1].best > history[0].best
    # log2(value) = 3 + log2(1 + x)
    assert learned(np.array([3.0])) == pytest.approx(32, rel=0.15)
    assert max(seeds) < FIRST_EVALUATION_SEED


def test_a_policy_is_numbers_in_a_file():
    policy = Policy(("medium.idle_fraction",), (0.1,), 7.0, 2047.0, (5.0, 0.25))
    assert Policy.read(policy.to_json()) == policy
    for text in ("[]", "{}", policy.to_json().replace("0.25", '"x"'), policy.to_json().replace("5.0,", "")):
        with pytest.raises(ValueError, match="policy|float|Expecting"):
            Policy.read(text)


@pytest.mark.parametrize("name", TASKS)
def test_each_task_can_be_set_up(name):
    task = TASKS[name]()
    setup = task.setup(task.training)
    assert all(knob.least <= task.least < task.most <= knob.most for knob in setup.knobs)
    assert setup.quantities == tuple(task.observe)
    assert task.start()(np.zeros(len(setup.quantities))) == pytest.approx((task.least * task.most) ** 0.5)


def test_every_built_in_algorithm_can_be_compared_with(capsys):
    task = TASKS["rate"]().compared_with(["arf", "minstrel_ht"])
    found = compare(task, seeds=2)
    assert found["minstrel_ht"] == found["Minstrel-HT"]
    assert found["arf"] != found["AARF"]
    known = {row["name"] for row in json.loads(_core.list_json("rate_control"))} - {"fixed", "trace", "python"}
    for name in known:
        other = TASKS["rate"]().compared_with([name]).algorithms[name]
        assert TASKS["rate"]().setup("2 s", other).knobs
    with pytest.raises(SystemExit):
        main(["cw", "--algorithm", "cubic"])
    assert "no built-in algorithm takes the place of its knobs" in capsys.readouterr().err


def test_the_bench_measures_worlds_on_one_and_two_threads(capsys):
    assert main(["bench", "--seconds", "0.05", "--rounds", "1", "--resets", "2"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in told[1:5]] == [
        "one world",
        "64 worlds, one thread",
        "64 worlds, two threads",
        "two threads",
    ]
    rates = [float(line.split(": ")[1].split(" ")[0].replace(",", "")) for line in told[1:4]]
    assert all(rate > 100 for rate in rates)
    assert "load" in told[0] and "load" in told[-1]


def test_channels_in_turn_are_worse_than_those_of_neighbours_apart():
    # Stirling numbers of the second kind: five access points in one, two or three groups.
    assert len(channels.assignments()) == 1 + 15 + 25
    assert channels.canonical((2, 0, 2, 1, 0)) == (0, 1, 0, 2, 1)
    # Along the row, at 0, 12, 24, 36 and 48 m, the neighbours that hear one another have three channels.
    apart, in_turn, one = (0, 0, 1, 1, 2), (0, 1, 2, 0, 1), (0, 0, 0, 0, 0)
    found = channels.rewards([apart, in_turn, one], range(1, 4), "700 ms")
    best, worse, worst = map(np.array, found)
    assert (best > worse + 0.5).all() and (worse > worst).all(), found


def test_environments_of_channels_pass_the_checks_of_gymnasium_and_pettingzoo():
    given = channels.task()
    scenario, seen = given.scenario.set("duration", "700 ms"), ["medium.busy_fraction"]
    choices = {knob: [*map(float, channels.CHANNELS)] for knob in given.knobs}
    check_env(gym.make(scenario, choices, seen, every="250 ms"), skip_render_check=True)
    of_each = {"agents": ["b0.ap", "b1.ap"], "control": ["channel:{agent}"], "observe": ["nodes.{agent}.queue_packets"]}
    parallel_api_test(gym.parallel(scenario, reward=given.reward, every="250 ms", **of_each), num_cycles=10)


def test_channels_that_are_turned_give_the_goodput_of_channels_in_the_file():
    given, assigned = channels.task(), (0, 0, 1, 1, 2)
    stays = channels.with_assignment(assigned)
    sets = {knob: channels.CHANNELS[place] for knob, place in zip(given.knobs, assigned, strict=True)}
    moved = given.scenario.set("duration", given.evaluation).set("change", [{"at": "0 s", "set": sets}])
    of_moved, of_file = (lasthop.run(of, seeds=6, interval_s=None).summary for of in (moved, stays))
    for name, one in of_file.items():
        if name.endswith("goodput_bps"):
            other = of_moved[name]
            assert other["ci95_low"] <= one["ci95_high"] and one["ci95_low"] <= other["ci95_high"], (name, one, other)


def test_the_command_of_channels_prints_the_gap_and_writes_a_scenario(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(channels, "assignments", lambda: [(0, 0, 0, 0, 0), (0, 0, 1, 1, 2), (0, 1, 2, 0, 1)])
    board = tmp_path / "board.json"
    arguments = ["--generations", "2", "--population", "4", "--out", str(tmp_path / "out"), "--leaderboard", str(board)]
    assert main(["channels", *arguments]) == 0
    told = capsys.readouterr().out
    assert "gap to the optimum: " in told and "best: 36, 36, 40, 40, 44" in told
    assert (tmp_path / "out/channels.png").stat().st_size > 10_000
    result = lasthop.run(lasthop.load(tmp_path / "out/channels.toml"), seeds=2)
    assert result.summary["totals.goodput_bps"]["mean"] > 50e6
    assert main(["leaderboard", "--leaderboard", str(board)]) == 0
    assert "has changed" not in capsys.readouterr().out
