"""Policies as agents of a scenario: the same episodes as in environments, in files of three kinds, and built-in algorithms as policies."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import lasthop
import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from lasthop import _core, gym
from lasthop.cli import main as command
from lasthop.data.confidence import estimate
from lasthop.gym import baselines, leaderboard
from lasthop.gym.__main__ import main
from lasthop.gym.learner import Policy
from lasthop.gym.policies import Observation
from lasthop.gym.tasks import TASKS

DATA = Path(__file__).resolve().parents[1] / "data" / "gym"
SATURATED = """
duration = "1500 ms"
warmup = "500 ms"
[bss]
standard = "802.11a"
[[station]]
count = 5
[[flow]]
transport = "udp"
rate = "saturated"
"""
AGENT = """
[[agent]]
policy = { kind = "linear", file = "cw.json" }
control = ["edca.cw_min:sta*", "edca.cw_max:sta*"]
observe = ["medium.idle_fraction"]
every = "100 ms"
"""
SHORT = replace(TASKS["cw"](), evaluation="1 s")
POLICY = Policy(("medium.idle_fraction",), (0.1,), 7.0, 2047.0, (5.0, 0.7))


def runs(result: lasthop.Result) -> list[dict]:
    found = json.loads(result.to_json())["runs"]
    for run in found:
        del run["simulator"]["wall_s"]
    return found


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "cw.json").write_text(POLICY.to_json(), encoding="utf-8")
    (tmp_path / "agent.toml").write_text(SATURATED + AGENT, encoding="utf-8")
    (tmp_path / "plain.toml").write_text(SATURATED, encoding="utf-8")
    return tmp_path


def played(scenario: lasthop.Scenario, act, every: str = "100 ms") -> list[dict]:
    """The run of seed 3 with a policy that acts in an environment."""
    env = gym.make(scenario, ["edca.cw_min:sta*", "edca.cw_max:sta*"], ["medium.idle_fraction"], every=every)
    seen, _ = env.reset(seed=3)
    is_over = False
    while not is_over:
        seen, _, _, is_over, _ = env.step(act(seen))
    return runs(env.finish())


def test_a_learned_policy_gives_the_same_run_as_an_agent_and_in_an_environment(folder):
    expected = played(lasthop.load(folder / "plain.toml"), lambda seen: [POLICY(seen)] * 2)
    scenario = lasthop.load(folder / "agent.toml")
    assert runs(lasthop.run(scenario, seeds=[3], interval_s=None)) == expected
    # Whatever else is kept of a run.
    assert runs(lasthop.run(scenario, seeds=[3], interval_s=0.1)) == expected
    assert expected != runs(lasthop.run(folder / "plain.toml", seeds=[3], interval_s=None))
    simulation = lasthop.open(scenario, seed=3, interval_s=None)
    simulation.run_until("900 ms")
    assert runs(simulation.finish()) == expected


def test_a_policy_in_python_gives_the_run_of_the_same_numbers_in_json(folder):
    (folder / "mine.py").write_text(
        "import math\nimport lasthop\n\n\nclass Mine(lasthop.Policy):\n"
        "    def __init__(self, context, slope=0.0):\n        self.slope = slope\n"
        "        assert context.quantities == ['medium.idle_fraction']\n"
        "        assert context.controls[1] == ('edca.cw_max:sta*', 0.0, 32767.0)\n\n"
        "    def act(self, observation):\n"
        "        return 2 ** (5.0 + self.slope * math.log2(1 + observation.values[0] / 0.1))\n",
        encoding="utf-8",
    )
    text = (SATURATED + AGENT).replace(
        '{ kind = "linear", file = "cw.json" }', '{ kind = "python", file = "mine.py", class = "Mine", slope = 0.7 }'
    )
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    own = lasthop.run(folder / "mine.toml", seeds=[3], interval_s=None)
    assert runs(own) == runs(lasthop.run(folder / "agent.toml", seeds=[3], interval_s=None))
    fails = text.replace("slope = 0.7", "slope = 'x'")
    (folder / "fails.toml").write_text(fails, encoding="utf-8")
    with pytest.raises(lasthop.RunFailed, match=r"agent\[0\] at 0\.5000 s: mine\.py:12: TypeError.*in act"):
        lasthop.run(folder / "fails.toml", seeds=[3])


def test_a_policy_reads_a_quantity_by_its_name(folder):
    (folder / "mine.py").write_text(
        "import lasthop\n\n\nclass Mine(lasthop.Policy):\n"
        "    def __init__(self, context, name):\n        self.name = name\n\n"
        "    def act(self, observation):\n"
        "        assert self.value(observation, self.name) == observation.values[1]\n",
        encoding="utf-8",
    )
    policy = '{ kind = "python", file = "mine.py", class = "Mine", name = "medium.busy_fraction" }'
    text = (SATURATED + AGENT).replace('{ kind = "linear", file = "cw.json" }', policy)
    text = text.replace('observe = ["', 'observe = ["medium.collision_fraction", "medium.busy_fraction", "')
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    lasthop.run(folder / "mine.toml", seeds=[3], interval_s=None)
    (folder / "other.toml").write_text(text.replace('name = "medium.busy', 'name = "medium.bus'), encoding="utf-8")
    with pytest.raises(lasthop.RunFailed, match=r"medium\.bus_fraction is not observed; there are: medium\.collision"):
        lasthop.run(folder / "other.toml", seeds=[3], interval_s=None)


def test_the_help_lists_what_each_task_observes(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    assert all(f"  {name}: " in said for name in TASKS)
    assert "observes: medium.contending_stations_mean, medium.collision_fraction, medium.idle_fraction" in said
    assert "controls, 7 to 2047: edca.cw_min:sta*, edca.cw_max:sta*" in said


def test_a_policy_of_ones_own_is_compared_with_the_optimum(folder, capsys, monkeypatch):
    monkeypatch.setitem(TASKS, "cw", lambda: replace(SHORT, constants=()))
    (folder / "mine.py").write_text(
        "import lasthop\n\n\nclass Mine(lasthop.Policy):\n    def act(self, observation):\n        return 255\n",
        encoding="utf-8",
    )
    assert main(["cw", "--policy", str(folder / "mine.py"), "--seeds", "2"]) == 0
    said = capsys.readouterr().out
    mine, best, gap = (
        float(re.search(rf"^{row} +(\S+)", said, re.MULTILINE)[1])
        for row in ("mine.py", "optimum", "gap to the optimum:")
    )
    assert gap == pytest.approx(100 * (1 - mine / best), abs=0.01)


def test_a_network_gives_the_run_of_the_same_arithmetic_in_python(folder):
    pytest.importorskip("onnxruntime")
    # 63 + 100 x, made with the package onnx
    (folder / "linear.onnx").write_bytes((DATA / "linear.onnx").read_bytes())
    (folder / "same.py").write_text(
        "import lasthop\n\n\nclass Mine(lasthop.Policy):\n"
        "    def act(self, observation):\n        return 63 + 100 * observation.values[0]\n",
        encoding="utf-8",
    )
    text = SATURATED + AGENT
    old = '{ kind = "linear", file = "cw.json" }'
    found = []
    for policy in ('{ kind = "onnx", file = "linear.onnx" }', '{ kind = "python", file = "same.py", class = "Mine" }'):
        (folder / "own.toml").write_text(text.replace(old, policy), encoding="utf-8")
        found.append(runs(lasthop.run(folder / "own.toml", seeds=[3], interval_s=None)))
    assert found[0] == found[1]
    for content, observe, part in (
        (b"no network", '["medium.idle_fraction"]', "onnxruntime does not read it"),
        (None, '["medium.idle_fraction", "medium.busy_fraction"]', "its input has 1 numbers, and the agent observes 2"),
    ):
        (folder / "wrong.onnx").write_bytes(content or (DATA / "linear.onnx").read_bytes())
        wrong = text.replace(old, '{ kind = "onnx", file = "wrong.onnx" }').replace('["medium.idle_fraction"]', observe)
        (folder / "own.toml").write_text(wrong, encoding="utf-8")
        with pytest.raises(lasthop.ScenarioError, match=part):
            lasthop.run(folder / "own.toml", seeds=1)


def test_mistakes_in_the_file_of_a_policy_have_their_place(folder):
    for old, new, part in (
        ("cw.json", "missing.json", "No such file"),
        (
            '["medium.idle_fraction"]',
            '["medium.busy_fraction"]',
            'it was learned from observe = ["medium.idle_fraction"]',
        ),
        ('file = "cw.json"', 'file = "cw.json", more = 1', 'has no parameter "more"'),
        ('file = "cw.json"', 'files = "cw.json"', "which file?"),
    ):
        (folder / "wrong.toml").write_text((SATURATED + AGENT).replace(old, new), encoding="utf-8")
        with pytest.raises(lasthop.ScenarioError) as error:
            lasthop.run(folder / "wrong.toml", seeds=1)
        assert part in str(error.value)
        assert "agent[0].policy" in str(error.value)


def test_a_policy_of_somebody_else_needs_allow_code(folder, capsys):
    assert command(["run", str(folder / "agent.toml"), "--seeds", "1", "--out", str(folder / "out")]) == 0
    stored = (
        next((folder / "out").rglob("result.json")).parent
        if not (folder / "out" / "result.json").exists()
        else folder / "out"
    )
    told = json.loads((stored / "result.json").read_text(encoding="utf-8"))
    assert "cw.json" in json.dumps(told.get("code", told.get("scenario", {})))
    capsys.readouterr()
    assert command(["explain", str(stored)]) != 0
    assert "--allow-code" in capsys.readouterr().err


def test_a_fork_has_the_state_of_its_environment_and_nothing_in_common_with_it(folder):
    env = gym.make(
        lasthop.load(folder / "plain.toml"),
        ["edca.cw_min:sta*"],
        ["medium.idle_fraction", "totals.goodput_bps"],
        every="100 ms",
    )
    env.reset(seed=3)
    for window in (15.0, 63.0, 127.0):
        env.step([window])
    other = env.fork()
    assert np.array_equal(env.step([31.0])[0], other.step([31.0])[0])
    third = env.fork()
    # Another action there leaves these alone.
    apart = third.step([1023.0])[0]
    assert np.array_equal(env.step([15.0])[0], other.step([15.0])[0])
    assert not np.array_equal(apart, env.fork().step([15.0])[0])
    assert runs(env.finish()) == runs(other.finish()) != runs(third.finish())
    assert np.array_equal(env.reset()[0], other.reset()[0])


PATH = """
duration = "20 s"
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[[station]]
[wired]
delay = "20 ms"
loss = { kind = "random", share = 0.003 }
[tcp]
congestion_control = "newreno"
[[flow]]
direction = "down"
"""
LINK = """
duration = "20 s"
[channel]
path_loss = "log_distance"
error_model = "nist"
[bss]
standard = "802.11a"
rate_control = "minstrel"
[[station]]
position = ["DISTANCE m", "0 m"]
[[flow]]
transport = "udp"
rate = "saturated"
"""
CHAIN = (
    "rate",
    "rate.tries",
    "rate.fallback",
    "rate.fallback.tries",
    "rate.third",
    "rate.third.tries",
    "rate.fourth",
)
SEEDS = range(1, 7)


def with_policy(text: str, tmp_path: Path, name: str, agent: dict[str, str], given: str = "") -> lasthop.Result:
    """The runs of a scenario whose agent has a policy of `baselines`."""
    file = Path(baselines.__file__)
    (tmp_path / "policy.py").write_text(f"from lasthop.gym.baselines import {name}\n", encoding="utf-8")
    assert file.exists()
    policy = f'[[agent]]\npolicy = {{ kind = "python", file = "policy.py", class = "{name}"{given} }}\n'
    keys = "".join(f"{key} = {value}\n" for key, value in agent.items())
    (tmp_path / "policy.toml").write_text(text + policy + keys, encoding="utf-8")
    return lasthop.run(tmp_path / "policy.toml", seeds=SEEDS, interval_s=None)


def goodput(result: lasthop.Result):
    return estimate([*map(float, result.flows["goodput_bps"] / 1e6)])


def overlap(one, other) -> bool:
    return one.ci95_low <= other.ci95_high and other.ci95_low <= one.ci95_high


def test_newreno_through_the_window_knob_has_the_goodput_of_the_built_in_one(tmp_path):
    quantities = ("rtt_mean_s", "segments_retransmitted", "timeouts", "bytes_delivered")
    agent = {
        "control": '["window:sta.down"]',
        "observe": json.dumps([f"flows.sta.down.{name}" for name in quantities]),
        "at": '"ack:sta.down"',
    }
    plain = lasthop.Scenario(PATH, "path.toml")
    built_in = goodput(lasthop.run(plain, seeds=SEEDS, interval_s=None))
    own = goodput(with_policy(PATH, tmp_path, "NewReno", agent))
    assert overlap(own, built_in), (own, built_in)
    # Another algorithm would be found out.
    other = goodput(lasthop.run(plain.set("tcp.congestion_control", "scalable"), seeds=SEEDS, interval_s=None))
    assert not overlap(own, other), (own, other)


@pytest.mark.parametrize("distance", [20, 45])
def test_minstrel_through_the_rate_knobs_has_the_goodput_of_the_built_in_one(tmp_path, distance):
    agent = {
        "control": json.dumps([f"{knob}:sta->ap" for knob in CHAIN]),
        "observe": json.dumps(
            [f"links.sta.ap.{name}" for name in ("mpdu_loss_fraction", "frames_sent", "mean_data_rate_bps")]
        ),
        "at": '"attempt:sta->ap"',
    }
    text = LINK.replace("DISTANCE", str(distance))
    built_in = goodput(lasthop.run(lasthop.Scenario(text, "link.toml"), seeds=SEEDS, interval_s=None))
    own = goodput(with_policy(text, tmp_path, "Minstrel", agent))
    assert overlap(own, built_in), (own, built_in)


BUSY = """
duration = "12 s"
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "24 Mbit/s" }
[bss.ap]
queue = { kind = "fifo", limit = "60 packets" }
[[station]]
[wired]
delay = "20 ms"
[tcp]
congestion_control = "newreno"
pacing = "PACED"
[[flow]]
direction = "down"
"""


def through_knobs(text: str, kind: str, algorithm: str, controls: list[str]) -> lasthop.Result:
    """The runs of a scenario in which a built-in algorithm acts through knobs."""
    agent = f'[[agent]]\npolicy = {{ kind = "{kind}", algorithm = {algorithm} }}\ncontrol = {json.dumps(controls)}\n'
    return lasthop.run(lasthop.Scenario(text + agent, "through.toml"), seeds=SEEDS, interval_s=None)


@pytest.mark.parametrize("algorithm", ["newreno", "cubic", "vegas", "westwood", "illinois"])
def test_a_congestion_control_through_its_knob_has_its_own_goodput(algorithm):
    """Over random losses, where the algorithms have 7 to 21 Mbit/s; the flow's own algorithm is NewReno."""
    own = lasthop.run(lasthop.Scenario(PATH).set("tcp.congestion_control", algorithm), seeds=SEEDS, interval_s=None)
    turned = goodput(through_knobs(PATH, "congestion_control", f'"{algorithm}"', ["window:sta.down"]))
    assert overlap(turned, goodput(own)), (turned, goodput(own))


def test_bbr_through_window_and_pacing_has_most_of_its_own_goodput():
    """It measures rates by the counts of decisions, between which several segments leave."""
    text = BUSY.replace("PACED", "on")
    own = goodput(
        lasthop.run(lasthop.Scenario(text).set("tcp.congestion_control", "bbr"), seeds=SEEDS, interval_s=None)
    )
    turned = goodput(through_knobs(text, "congestion_control", '"bbr"', ["window:sta.down", "pacing:sta.down"]))
    assert turned.ci95_low / own.ci95_high > 0.9 and turned.ci95_high / own.ci95_low < 1, (turned, own)


@pytest.mark.parametrize(
    ("standard", "algorithm"),
    [
        ("802.11a", '"minstrel"'),
        ("802.11a", '"arf"'),
        ("802.11n", '{ kind = "minstrel_ht", fallback_rts = false }'),
        ("802.11n", '"thompson_sampling"'),
    ],
)
def test_a_rate_control_through_its_knobs_has_its_own_goodput_to_the_bit(standard, algorithm):
    """From the start, so that both learn from the same frames; with one A-MPDU in a TXOP, as the rates of the next are chosen before a decision."""
    text = LINK.replace("DISTANCE", "45").replace("802.11a", standard).replace('"20 s"', '"5 s"\nwarmup = "0 s"')
    knobs = baselines.BuiltIn.arguments("rate_control", "sta->ap")["control"]
    if standard == "802.11n":
        text = text.replace("[bss]", '[bss]\nguard_interval = "long"\nspatial_streams = 1')
        text += '[[change]]\nat = "0 s"\nset = { "edca.txop_limit:sta" = "0 us" }\n'
        knobs.append("aggregation.max_mpdus:sta")
    own = lasthop.run(lasthop.Scenario(text.replace('"minstrel"', algorithm)), seeds=SEEDS, interval_s=None)
    turned = through_knobs(text.replace('"minstrel"', '"ideal"'), "rate_control", algorithm, knobs)
    assert turned.flows["goodput_bps"].tolist() == own.flows["goodput_bps"].tolist()
    other = lasthop.run(lasthop.Scenario(text.replace('"minstrel"', '"ideal"')), seeds=SEEDS, interval_s=None)
    assert other.flows["goodput_bps"].tolist() != own.flows["goodput_bps"].tolist()


def test_an_episode_with_a_built_in_algorithm_is_the_run_of_its_agent(tmp_path):
    text = PATH.replace("20 s", "2 s")
    env = gym.make(lasthop.Scenario(text), **baselines.BuiltIn.arguments("congestion_control", "sta.down"))
    seen, info = env.reset(seed=3)
    policy, is_over = baselines.BuiltIn(env.setup, "congestion_control", "cubic", seed=3), False
    while not is_over:
        observation = Observation(info["time_s"], [*map(float, seen)], env.absent())
        seen, _, _, is_over, info = env.step(policy.act(observation))
    agent = '[[agent]]\npolicy = { kind = "congestion_control", algorithm = "cubic" }\ncontrol = ["window:sta.down"]\n'
    assert runs(env.finish()) == runs(lasthop.run(lasthop.Scenario(text + agent), seeds=[3], interval_s=None))


def test_every_algorithm_acts_through_knobs_or_has_its_reason():
    paced = lasthop.Scenario(BUSY.replace("PACED", "on"))
    asked = {
        "congestion_control": (paced, baselines.BuiltIn.arguments("congestion_control", "sta.down", paced=True)),
        "rate_control": (
            lasthop.Scenario(LINK.replace("DISTANCE", "20")),
            baselines.BuiltIn.arguments("rate_control", "sta->ap"),
        ),
    }
    # Code, a file, and the controllers of the QUIC stack.
    others = {"python", "c", "bpf", "trace", "quinn_cubic", "quinn_newreno"}
    reasons = {}
    for kind, (scenario, arguments) in asked.items():
        setup = gym.Setup(scenario, **arguments)
        for name in {row["name"] for row in json.loads(_core.list_json(kind))} - others:
            try:
                baselines.BuiltIn(setup, kind, name)
            except lasthop.ScenarioError as error:
                reasons[name] = str(error)
    assert set(reasons) == {"dctcp", "prague", "cara", "rraa"}
    assert all("no quantity of a flow counts" in reasons[name] for name in ("dctcp", "prague")), reasons
    assert all("no knob of a link" in reasons[name] for name in ("cara", "rraa")), reasons


@pytest.mark.parametrize(
    ("agent", "part"),
    [
        ('policy = "congestion_control"\ncontrol = ["edca.cw_min:ap"]', 'write control = ["window:FLOW"]'),
        ('policy = { kind = "congestion_control", algorithm = "bbr" }\ncontrol = ["window:sta.down"]', "bbr paces"),
        (
            'policy = "congestion_control"\ncontrol = ["window:sta.down"]\nobserve = ["medium.idle_fraction"]',
            "sees too little",
        ),
        (
            'policy = { kind = "congestion_control", algorithm = "cubicc" }\ncontrol = ["window:sta.down"]',
            'did you mean "cubic"',
        ),
        ('policy = "rate_control"\ncontrol = ["rate:ap->sta"]', "it sets attempts too"),
    ],
)
def test_a_built_in_algorithm_that_does_not_fit_its_agent_is_refused_with_the_remedy(agent, part):
    with pytest.raises(lasthop.ScenarioError, match=r"agent\[0\]\.policy") as error:
        lasthop.Scenario(BUSY.replace("PACED", "on") + f"[[agent]]\n{agent}\n").resolve()
    assert part in str(error.value)


def aarf(text: str, tmp_path: Path, rates: tuple[float, ...], causes: bool) -> lasthop.Result:
    """The runs of a scenario in which AARF turns knobs, perhaps with the cause of each loss in sight."""
    seen = [f"links.sta.ap.{name}" for name in ("mpdu_loss_fraction", "frames_sent")]
    agent = {
        "control": '["rate:sta->ap", "rate.tries:sta->ap"]',
        "observe": json.dumps([*seen, *(["nodes.sta.noise_probability"] if causes else [])]),
        "at": '"attempt:sta->ap"',
    }
    return with_policy(text, tmp_path, "Aarf", agent, f', rates_mbps = "{" ".join(str(rate / 1e6) for rate in rates)}"')


@pytest.mark.parametrize("standard", ["802.11a", "802.11n"])
def test_aarf_through_the_rate_knobs_has_the_goodput_of_the_built_in_one(tmp_path, standard):
    text = LINK.replace("DISTANCE", "45").replace('"minstrel"', '"aarf"').replace("802.11a", standard)
    rates = baselines.Minstrel.RATES
    if standard == "802.11n":
        text = text.replace("[bss]", '[bss]\nguard_interval = "long"\nspatial_streams = 1')
        # MCS 0 to 7 of one stream at 20 MHz [802.11-2020 Table 19-27]
        rates = tuple(6.5e6 * factor for factor in (1, 2, 3, 4, 6, 8, 9, 10))
    built_in = goodput(lasthop.run(lasthop.Scenario(text, "link.toml"), seeds=SEEDS, interval_s=None))
    own = goodput(aarf(text, tmp_path, rates, causes=False))
    assert overlap(own, built_in), (own, built_in)


def test_aarf_that_sees_causes_does_not_fear_collisions(tmp_path):
    others = '[[station]]\nname = "other"\ncount = 4\ndistance = "3 m"\nrate_control = { kind = "fixed", rate = "54 Mbit/s" }\n'
    text = LINK.replace("DISTANCE", "3").replace('"minstrel"', '"aarf"').replace("[[flow]]", others + "[[flow]]")
    near, best = [], baselines.Minstrel.RATES
    for causes in (False, True):
        result = aarf(text, tmp_path, best, causes)
        rates = [link["mean_data_rate_bps"] for run in result.runs for link in run["links"][:1]]
        near.append(estimate(rates))
    # At 3 m no rate is lost to noise: all losses are collisions, to which AARF answers with lower rates.
    assert near[0].ci95_high < 0.8 * best[-1]
    assert near[1].ci95_low > 0.99 * best[-1]


def test_a_task_writes_a_scenario_that_runs_its_policy(tmp_path, capsys):
    sizes = ["--generations", "2", "--population", "4"]
    assert main(["cw", *sizes, "--seeds", "2", "--out", str(tmp_path)]) == 0
    result = lasthop.run(tmp_path / "cw.toml", seeds=[1_000_001], interval_s=None)
    learned = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("learned"))
    # The reward is the mean of the goodput in steps of equal length.
    task = TASKS["cw"]()
    policy = Policy.read((tmp_path / "cw.json").read_text(encoding="utf-8"))
    env = gym.Env(task.setup(task.evaluation))
    seen, _ = env.reset(seed=1_000_001)
    total, steps, is_over = 0.0, 0, False
    while not is_over:
        seen, reward, _, is_over, _ = env.step([policy(seen)] * 2)
        total, steps = total + reward, steps + 1
    assert total / steps == pytest.approx(float(result.metrics["totals.goodput_bps"][1_000_001]) / 1e6)
    assert learned


def test_a_leaderboard_keeps_the_scores_of_a_task_and_says_when_it_changed(tmp_path, capsys):
    board = tmp_path / "board.json"
    policy = Policy(tuple(TASKS["weights"]().observe), (1e6, 1e7), 16.0, 4096.0, (6.0, 0.0, 0.0))
    file = tmp_path / "mine.json"
    file.write_text(policy.to_json(), encoding="utf-8")
    assert main(["weights", "--policy", str(file), "--leaderboard", str(board)]) == 0
    assert main(["leaderboard", "--leaderboard", str(board)]) == 0
    told = capsys.readouterr().out
    assert "mine.json" in told and "equal weights" in told and "constant 64" in told
    rows = {row["policy"]: row for row in leaderboard.read(board)["weights"]}
    # A policy of one number is the constant.
    assert rows["mine.json"]["mean"] == rows["constant 64"]["mean"]
    assert "has changed since" not in told
    board.write_text(board.read_text(encoding="utf-8").replace(rows["mine.json"]["digest"], "0" * 64), encoding="utf-8")
    assert "the task has changed since" in leaderboard.table(board)
    board.write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match="not a leaderboard"):
        leaderboard.read(board)
