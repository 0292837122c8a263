"""Ready tasks of `lasthop.gym`: training, evaluation and policies as files."""

from __future__ import annotations

import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

import numpy as np
from lasthop.gym import channels
from lasthop.gym.__main__ import main
from lasthop.gym.learner import Policy, train
from lasthop.gym.protocol import FIRST_EVALUATION_SEED
from lasthop.gym.tasks import TASKS


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


def test_channels_in_turn_are_worse_than_those_of_neighbours_apart():
    # Stirling numbers of the second kind: five access points in one, two or three groups.
    assert len(channels.assignments()) == 1 + 15 + 25
    assert channels.canonical((2, 0, 2, 1, 0)) == (0, 1, 0, 2, 1)
    # Along the row, at 0, 12, 24, 36 and 48 m, the neighbours that hear one another have three channels.
    apart, in_turn = (0, 0, 1, 1, 2), (0, 1, 2, 0, 1)
    seeds = range(1, 4)
    better, worse = (np.array(channels.reward(of, "700 ms", seeds)) for of in (apart, in_turn))
    assert (better > worse + 0.5).all(), (better, worse)
    learned, history = channels.train(generations=2, population=4)
    assert len(learned) == 5 and set(learned) <= {0, 1, 2} and len(history) == 2
