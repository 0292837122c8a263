"""Error models in Python: those of built-in ones give the same runs, and mistakes end a run with a sentence."""

from __future__ import annotations

from pathlib import Path

import lasthop
import pytest
from test_code import EXAMPLES, example, told

FIXED = """\
import lasthop


class Fixed(lasthop.ErrorModel):
    def __init__(self, context, rate=0.0, draws=False):
        self.rate, self.draws, self.random = rate, draws, context.random

    def success_probability(self, frame):
        if self.draws:
            self.random()
        return 1.0 - self.rate
"""
# Two stations that collide, one of them so far away that noise destroys frames of the higher rates.
NOISY = """
duration = "4 s"
warmup = "1 s"
[channel]
path_loss = "log_distance"
error_model = "yans"
[bss]
standard = "{standard}"
rate_control = "{rate_control}"
[[station]]
name = "near"
distance = "5 m"
[[station]]
name = "far"
distance = "{far}"
[[flow]]
station = "*"
direction = "both"
"""


def own(file: str, name: str, **parameters: object) -> dict[str, object]:
    return {"kind": "python", "file": file, "class": name, **parameters}


@pytest.mark.parametrize("draws", [False, True])
def test_a_model_with_the_probabilities_of_fixed_gives_its_runs(small, draws):
    Path("fixed.py").write_text(FIXED)
    scenario = lasthop.load(small)
    built_in = told(scenario.set("channel.error_model", {"kind": "fixed", "frame_error_rate": 0.1}))
    document, series = told(scenario.set("channel.error_model", own("fixed.py", "Fixed", rate=0.1, draws=draws)))
    assert document == built_in[0]
    assert series.equals(built_in[1])
    assert sum(node["frames_retried"] for node in document["nodes"]) > 100


@pytest.mark.parametrize(
    ("standard", "rate_control", "far"),
    [("802.11a", "minstrel", "40 m"), ("802.11n", "minstrel_ht", "40 m"), ("802.11ac", "ideal", "40 m")],
)
def test_a_model_with_the_formulas_of_yans_gives_its_runs(standard, rate_control, far):
    scenario = lasthop.Scenario(NOISY.format(standard=standard, rate_control=rate_control, far=far))
    built_in = told(scenario)
    document, series = told(scenario.set("channel.error_model", example("yans.py", "Yans")))
    assert document == built_in[0]
    assert series.equals(built_in[1])
    without = told(scenario.set("channel.error_model", "none"))
    assert document != without[0]


def test_a_mistake_is_an_error_before_the_run(small, command):
    text = (
        small.read_text()
        + f"[channel]\nerror_model = {{ kind = 'python', file = '{EXAMPLES / 'yans.py'}', class = 'Yans' }}\n"
    )
    small.write_text(text)
    done = command("run", "small.toml", "--seed", 1)
    assert (done.returncode, done.stdout) == (2, "")
    _notice, refusal = done.stderr.splitlines()
    assert "channel.error_model: " in refusal
    assert "ValueError: dbpsk: this model is for OFDM; set bss.rates" in refusal


def test_a_model_without_its_method_is_refused(small):
    Path("own.py").write_text(
        "import lasthop\nclass Own(lasthop.ErrorModel):\n    def succes_probability(self, frame): ...\n"
    )
    scenario = lasthop.load(small).set("channel.error_model", own("own.py", "Own"))
    with pytest.raises(lasthop.ScenarioError, match="NotImplementedError: Own has no success_probability"):
        lasthop.run(scenario, [1], progress=False)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("1.5", r"error model at 0\..* s: own.py: success_probability gave 1.5; a number from 0 to 1"),
        ("'yes'", r"own.py.*: TypeError: success_probability gave 'yes'; a number from 0 to 1"),
        ("1 / 0", r"error model at 0\..* s: own.py:4: ZeroDivisionError: division by zero; in success_probability"),
    ],
)
def test_a_wrong_answer_ends_the_run(small, answer, message):
    Path("own.py").write_text(
        "import lasthop\nclass Own(lasthop.ErrorModel):\n    def success_probability(self, frame):\n"
        f"        return {answer} if frame.kind == 'ack' else 1.0\n"
    )
    scenario = lasthop.load(small).set("channel.error_model", own("own.py", "Own"))
    with pytest.raises(lasthop.RunFailed, match=message):
        lasthop.run(scenario, [1], progress=False)


@pytest.mark.parametrize(("language", "key"), [("c", "library"), ("bpf", "object")])
def test_other_languages_are_refused(small, language, key):
    scenario = lasthop.load(small).set("channel.error_model", {"kind": language, key: "mine"})
    with pytest.raises(
        lasthop.ScenarioError, match=f'the error model cannot be code in "{language}"; one of: none, fixed'
    ):
        scenario.resolve()
