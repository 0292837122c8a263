"""Algorithms that a scenario brings in Python: when they are loaded, what they may say, and what is said of them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import lasthop
import pytest
from conftest import SMALL
from lasthop import _core
from lasthop.study.scenario import toml_value
from page_bench import Page
from test_mistakes import refused

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = REPOSITORY / "examples" / "controllers" / "python"

MINE = """\
import lasthop

open("loaded", "a").write("x")


class Mine(lasthop.CongestionControl):
    def __init__(self, context, beta=0.5, fails_after_s=1e9):
        self.beta = beta
        self.fails_after_s = fails_after_s

    def on_ack(self, ack):
        if ack.now_s > self.fails_after_s:
            self.divide(0)
        self.window += ack.avoidance_credit / self.window

    def divide(self, by):
        return 1 / by

    def on_congestion(self, event):
        self.ssthresh = self.window = max(2.0, event.window * self.beta)
"""
CHOICE = '{ kind = "python", file = "mine.py", class = "Mine", beta = 0.7 }'
NOTE = "lasthop: mine.py is code of the scenario's and runs with your rights\n"


@pytest.fixture
def mine(small: Path) -> str:
    """A scenario with a controller of its own beside it, both in the current directory."""
    (small.parent / "mine.py").write_text(MINE)
    text = SMALL.replace('congestion_control = "newreno"', f"congestion_control = {CHOICE}")
    small.write_text(text)
    return text


def example(file: str, name: str, **parameters: object) -> dict[str, object]:
    return {"kind": "python", "file": str(EXAMPLES / file), "class": name, **parameters}


# Commands that only read, and commands that run.


@pytest.mark.parametrize("line", [("check",), ("theory",)])
def test_closed_forms_and_checks_load_no_code(mine, small, command, line):
    (small.parent / "mine.py").write_text("raise SystemExit('it was loaded')\n")
    done = command(*line, "small.toml")
    assert done.returncode == 0 and "it was loaded" not in done.stderr
    assert ("does not load" in done.stderr) == (line == ("theory",))
    # Closed forms need no simulation.
    assert ("Mbit/s" in done.stdout) == (line == ("theory",))


def test_reading_a_scenario_runs_nothing_of_it(mine, small, command):
    resolved = lasthop.load(small).resolve()
    assert json.loads(resolved.to_json())["tcp"]["congestion_control"]["beta"] == 0.7
    _core.theory_json(resolved)
    assert resolved.code() == [("python", "tcp.congestion_control.file", "mine.py", small.parent / "mine.py")]
    page = Page(small.parent)
    try:
        assert page.post("/api/check", {"text": mine})["problems"] == []
        assert "this is code" in page.refused("POST", "/api/runs", 422, json={"text": mine})
    finally:
        page.desk.close()
    assert not Path("loaded").exists()


def test_a_run_announces_its_code_once(mine, command):
    done = command("run", "small.toml", "--seeds", 2)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(NOTE) == 1


def test_a_file_counts_from_the_scenario_and_that_of_a_setting_from_here(mine, small, command, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert command("run", "../small.toml", "--seed", 1).returncode == 0
    setting = "tcp.congestion_control.file=mine.py"
    done = command("run", "../small.toml", "--seed", 1, "--set", setting)
    assert done.returncode == 2 and "elsewhere/mine.py: No such file" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("file=nix.py", ["nix.py: ", "No such file"]),
        ("class=Mein", ["mine.py: has no class Mein; did you mean Mine?"]),
        ("beat=1", ["small.toml:18: tcp.congestion_control: mine.py: TypeError", "'beat'"]),
        ("class=lasthop", ["mine.py: lasthop does not extend lasthop.CongestionControl"]),
        ("beta=[1]", ["tcp.congestion_control.beta: a list cannot be passed to code"]),
    ],
)
def test_code_that_cannot_be_loaded_is_an_input_error(mine, command, setting, said):
    done = command("run", "small.toml", "--seed", 1, "--set", f"tcp.congestion_control.{setting}")
    assert done.returncode == 2
    assert all(words in done.stderr for words in said), done.stderr


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("python", 'tcp.congestion_control.file: which file? e.g. file = "mine.py"'),
        ("pyhton", 'did you mean "python"?'),
        ('{ kind = "python", file = "mine.py" }', 'which class? e.g. class = "Mine"'),
    ],
)
def test_errors_of_a_choice_are_found_when_it_is_read(mine, command, choice, said):
    refused(command("show", "nix"), "unknown name")
    refused(command("run", "small.toml", "--set", f"tcp.congestion_control={choice}"), said)


def test_a_syntax_error_has_its_line(mine, command):
    Path("mine.py").write_text("import lasthop\nclass Mine(\n")
    done = command("run", "small.toml", "--seed", 1)
    assert done.returncode == 2 and "mine.py:2: SyntaxError: '(' was never closed" in done.stderr, done.stderr


# Failures in a run.


def test_an_exception_names_file_line_function_flow_and_time(mine, command):
    done = command("run", "small.toml", "--seed", 1, "--set", "tcp.congestion_control.fails_after_s=1")
    assert done.returncode == 1
    line = 1 + MINE.splitlines().index("        return 1 / by")
    assert "lasthop: flow sta" in done.stderr and ".up at 1.0" in done.stderr, done.stderr
    assert f" s: mine.py:{line}: ZeroDivisionError: division by zero; in divide; " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("self.window = float('nan')", "window is NaN after on_ack; it is a number of segments, 1 or more"),
        ("self.window = 0", "window is 0 after on_ack"),
        ("self.pacing_rate = -1", "pacing_rate is -1 after on_ack; it is in bit/s, or None"),
        ("self.window = 'wide'", "window is 'wide' after on_ack; it is a number of segments, 1 or more"),
        ("self.pacing_rate = 'fast'", "pacing_rate is 'fast' after on_ack; it is in bit/s, or None"),
        ("raise ValueError('red\\x1b[31m')", "ValueError: red [31m; in on_ack"),
        ("raise KeyError", "KeyError; in on_ack"),
    ],
)
def test_an_impossible_window_ends_the_run(mine, line, said):
    Path("mine.py").write_text(
        f"import lasthop\nclass Mine(lasthop.CongestionControl):\n    def on_ack(self, ack):\n        {line}\n"
    )
    scenario = lasthop.load("small.toml").set(
        "tcp.congestion_control", {"kind": "python", "file": "mine.py", "class": "Mine"}
    )
    with pytest.raises(lasthop.RunFailed) as failed:
        lasthop.run(scenario, [1], progress=False)
    assert said in str(failed.value)


def test_an_open_simulation_reports_failing_code(mine):
    simulation = lasthop.open(lasthop.load("small.toml").set("tcp.congestion_control.fails_after_s", 1), seed=1)
    simulation.run_until("900 ms")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        simulation.run_until("2 s")
    with pytest.raises(lasthop.RunFailed, match="ZeroDivisionError"):
        simulation.finish()


def test_code_that_was_edited_is_named_before_a_result_is_explained(mine, command):
    assert (
        command(
            "run",
            "small.toml",
            "--seed",
            1,
            "--out",
            "out",
            "--set",
            'tcp.congestion_control={ kind = "python", file = "mine.py", class = "Mine" }',
        ).returncode
        == 0
    )
    Path("mine.py").write_text(Path("mine.py").read_text() + "# edited\n")
    for words in (("explain", "out"), ("report", "out", "--out", "x.html")):
        done = command(*words, "--allow-code")
        assert done.returncode != 0 and "mine.py has changed since it ran (SHA-256 " in done.stderr, done.stderr


def test_round_trips_are_counted_with_either_recovery(mine):
    """By the count that a controller could keep itself."""
    Path("mine.py").write_text(
        "import lasthop\n"
        "class Mine(lasthop.CongestionControl):\n"
        "    def __init__(self, context):\n"
        "        self.end = self.rounds = 0\n"
        "    def on_ack(self, ack):\n"
        "        if ack.snd_una > self.end:\n"
        "            self.end, self.rounds = ack.snd_nxt, self.rounds + 1\n"
        "        if abs(ack.round_trips - self.rounds) > 1 or self.rounds > 100 and ack.round_trips < 100:\n"
        "            raise ValueError(f'{ack.round_trips} for {self.rounds}')\n"
    )
    for recovery in ("linux", "rfc"):
        scenario = lasthop.load("small.toml").set("tcp.recovery", recovery).set("flow.0.direction", "both")
        lasthop.run(
            scenario.set("tcp.congestion_control", {"kind": "python", "file": "mine.py", "class": "Mine"}),
            [1],
            progress=False,
        )


def test_a_process_that_dies_in_code_is_named_with_its_signal(mine):
    Path("mine.py").write_text(
        "import os, lasthop\nclass Mine(lasthop.CongestionControl):\n    def on_ack(self, ack):\n        os.abort()\n"
    )
    scenario = lasthop.load("small.toml").set(
        "tcp.congestion_control", {"kind": "python", "file": "mine.py", "class": "Mine"}
    )
    with pytest.raises(lasthop.RunFailed, match="its process, which runs code in Python, was ended by SIGABRT"):
        lasthop.run(scenario, [1], progress=False)


# The identity of a run.


def test_edited_code_is_another_run(mine, command):
    def sweep() -> str:
        return command(
            "sweep", "small.toml", "--over", "station.0.count=1,2", "--seeds", 1, "--store", "s.duckdb"
        ).stderr

    def runs() -> int:
        return int(command("query", "s.duckdb", "SELECT count(*) AS n FROM runs").stdout.split()[-1])

    sweep()
    assert runs() == 2
    sweep()
    assert runs() == 2
    Path("mine.py").write_text(MINE.replace("max(2.0", "max(3.0"))
    sweep()
    assert runs() == 4


def test_a_run_is_the_same_in_a_process_and_between_calls(mine):
    scenario = lasthop.load("small.toml")
    ran, simulation = lasthop.run(scenario, [1], progress=False), lasthop.open(scenario, seed=1)
    simulation.run_until("700 ms")
    finished = simulation.finish()
    assert ran.flows.equals(finished.flows) and ran.timeseries.equals(finished.timeseries)


def test_processes_keep_no_module_state_between_runs(small):
    Path("mine.py").write_text(MINE + "\nrows = []\nMine.on_transmit_start = lambda self, at: rows.append(1)\n")
    small.write_text(SMALL.replace('congestion_control = "newreno"', f"congestion_control = {CHOICE}"))
    both = lasthop.run(lasthop.load(small), [1, 2], progress=False)
    alone = lasthop.run(lasthop.load(small), [2], progress=False)
    assert both.flows[both.flows.seed == 2].reset_index(drop=True).equals(alone.flows)


# The record of the code that ran.


def test_a_result_has_the_digest_of_the_code_that_ran(mine, command, small):
    assert command("run", "small.toml", "--seed", 1, "--json", "out.json").returncode == 0
    document = json.loads(Path("out.json").read_text())
    digest = hashlib.sha256((small.parent / "mine.py").read_bytes()).hexdigest()
    assert document["code"] == [{"key": "tcp.congestion_control.file", "file": "mine.py", "sha256": digest}]


def test_a_file_that_changes_during_a_run_mixes_nothing(mine, small):
    # The first seed's instance overwrites the file with a failing one.
    file = small.parent / "mine.py"
    file.write_text(
        MINE + f"\nif __import__('os').path.exists('loaded-once'):\n    open({str(file)!r}, 'w').write('1/0')\n"
    )
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    Path("loaded-once").touch()
    result = lasthop.run(lasthop.load(small), [1, 2, 3], jobs=1, progress=False)
    assert file.read_text() == "1/0"
    assert [told["sha256"] for told in result.code] == [digest]
    assert not result.failures and len(result.seeds) == 3


def test_a_failure_names_the_command_with_its_settings(mine, command):
    setting = "tcp.congestion_control.fails_after_s=1.0"
    done = command("run", "small.toml", "--seeds", 2, "--set", setting)
    assert done.returncode == 1
    assert f"`lasthop run small.toml --set {setting} --seed 1` repeats it" in done.stderr, done.stderr
    assert "2 of 2" not in done.stderr
    assert command("run", "small.toml", "--set", setting, "--seed", 1).returncode == 1


def test_a_file_that_is_not_there_is_not_called_code(mine, command, small):
    (small.parent / "mine.py").unlink()
    done = command("run", "small.toml", "--seed", 1)
    assert done.returncode == 2 and NOTE not in done.stderr and "No such file" in done.stderr, done.stderr


# Ctrl-C, and code that does not return.

ENDLESS = MINE.replace(
    "        self.window +=", "        while ack.now_s > 1.0:\n            pass\n        self.window +="
)


def test_a_stuck_call_is_reported_and_ctrl_c_names_it(mine, small):
    (small.parent / "mine.py").write_text(ENDLESS)
    command = [sys.executable, "-m", "lasthop", "run", "small.toml", "--seed", "1"]
    environment = {**os.environ, "LASTHOP_PATIENCE_S": "0.5"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as run:
        said = next(line for line in run.stderr if "has not returned" in line)
        assert said.startswith("lasthop: warning: seed 1: mine.py:1"), said
        assert "Mine.on_ack has not returned for 0.5 s, called after" in said, said
        run.send_signal(signal.SIGINT)
        rest = run.stderr.read()
    assert run.returncode == 130
    assert "seed 1 was ended: mine.py:1" in rest and "Mine.on_ack" in rest, rest


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("__init__", ("run", "small.toml")),
        ("<module>", ("run", "small.toml")),
        ("Mine.__init__", ("cc", "check", CHOICE)),
    ],
    ids=["__init__", "module", "cc check"],
)
def test_stuck_code_is_reported_wherever_it_runs(mine, small, place, words):
    loop = "        while True:\n            pass\n"
    at_start = MINE.replace("class Mine", "while True:\n    pass\n\n\nclass Mine")
    text = at_start if place == "<module>" else re.sub(r"(def __init__\(.*\):\n)", lambda found: found[1] + loop, MINE)
    assert text != MINE
    (small.parent / "mine.py").write_text(text)
    environment = {**os.environ, "LASTHOP_PATIENCE_S": "0.5"}
    with subprocess.Popen(
        [sys.executable, "-m", "lasthop", *words], stderr=subprocess.PIPE, text=True, env=environment
    ) as run:
        said = next(line for line in run.stderr if "has not returned" in line)
        run.send_signal(signal.SIGINT)
        rest = run.stderr.read()
    assert re.search(rf"mine\.py:\d+: \S*{re.escape(place)} has not returned for 0.5 s; Ctrl-C ends it", said), said
    assert run.returncode in (130, -signal.SIGINT), rest


@pytest.mark.parametrize("told", ["soon", "0", "-1", "nan"])
def test_a_time_for_calls_that_is_none_is_refused(mine, small, command, monkeypatch, told):
    monkeypatch.setenv("LASTHOP_PATIENCE_S", told)
    done = command("run", "small.toml", "--seed", 1)
    assert (
        done.returncode == 2
        and f"LASTHOP_PATIENCE_S={told} in the environment is no number of seconds above 0" in done.stderr
    ), done.stderr


@pytest.mark.parametrize(
    "call", ["lasthop.open('small.toml', seed=1).run_until('5 s')", "lasthop.open('small.toml', seed=1).finish()"]
)
def test_ctrl_c_in_a_method_is_an_interrupt_and_no_failure(mine, small, call):
    (small.parent / "mine.py").write_text(
        ENDLESS.replace("while ack.now_s", "open('reached', 'w').close()\n        while ack.now_s")
    )
    _interrupted([sys.executable, "-c", f"import lasthop\n{call}"])


@pytest.mark.parametrize("words", [("cc", "check"), ("cc", "replay", "TRACE", "--congestion-control")])
def test_ctrl_c_in_a_command_that_holds_code_against_evidence_is_an_interrupt(mine, small, words):
    endless = ENDLESS.replace("while ack.now_s > 1.0", "open('reached', 'w').close()\n        while True")
    (small.parent / "mine.py").write_text(endless)
    trace = next((REPOSITORY / "tests/data/vectors/cc/linux612").glob("reno.*"))
    said = _interrupted(
        [sys.executable, "-m", "lasthop", *(str(trace) if word == "TRACE" else word for word in words), CHOICE]
    )
    announced, _, rest = said.partition("is code and runs with your rights\n")
    assert "mine.py" in announced and "mine.py" not in rest, said


def _interrupted(command: list[str]) -> str:
    """Standard error of a command that got Ctrl-C while code of a scenario ran, and ended by it."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        ends = time.monotonic() + 20
        while not Path("reached").exists():
            assert time.monotonic() < ends and run.poll() is None, run.stderr.read()
            time.sleep(0.02)
        time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=20)
    assert run.returncode in (130, -signal.SIGINT), said
    return said


# The examples.

READY = [
    ("khademi2011-uplink-11b", "newreno", "newreno.py", "NewReno"),
    ("khademi2011-uplink-11b", "cubic", "cubic.py", "Cubic"),
    ("gopal2005-ack-skipping", "newreno", "newreno.py", "OlderLinuxNewReno"),
    ("hashimoto2008-updown-11a", "newreno", "newreno.py", "OlderLinuxNewReno"),
    ("khademi2011-uplink-11g-delay", "newreno", "newreno.py", "OlderLinuxNewReno"),
    *(
        (scenario, "cubic", "cubic.py", "OlderLinuxCubic")
        for scenario in ("gopal2005-ack-skipping", "hashimoto2008-updown-11a", "khademi2011-uplink-11g-delay")
    ),
    ("office-11ax", "newreno", "newreno.py", "LinuxNewReno"),
    *(
        (scenario, "cubic", "cubic.py", "LinuxCubic")
        for scenario in (
            *("anomaly-3-stations", "anomaly-30-stations", "download-11n", "hashimoto2016-anomaly-11n", "office-11ax"),
            *("rrul", "rtt-fair", "tcp-ndown", "tcp-nup", "tcp-nup-ndown"),
        )
    ),
]


def told(scenario: lasthop.Scenario) -> tuple[dict, object]:
    """All that a run gives except for names and the wall clock."""
    result = lasthop.run(scenario, [1], interval_s=0.1, progress=False)
    document = json.loads(b"".join(result.json_pieces()))["runs"][0]
    del document["simulator"]["wall_s"]
    for flow in document["flows"]:
        flow.pop("congestion_control", None)
        flow.pop("congestion_control_validation", None)
    return document, result.timeseries


@pytest.mark.parametrize(("name", "built_in", "file", "class_name"), READY)
def test_the_examples_are_the_built_in_controllers(name, built_in, file, class_name):
    scenario = lasthop.load(REPOSITORY / "scenarios" / f"{name}.toml").set("duration", "8 s").set("warmup", "5 s")
    document, series = told(scenario.set("tcp.congestion_control", built_in))
    own_document, own_series = told(scenario.set("tcp.congestion_control", example(file, class_name)))
    assert own_document == document
    assert own_series.equals(series)
    assert sum(flow["segments_sent"] for flow in document["flows"] if "segments_sent" in flow) > 100


def test_a_head_drop_queue_that_never_fills_is_a_fifo(small):
    def queued(queue: object) -> dict:
        return told(lasthop.load(small).set("bss.ap.queue", queue))[0]["flows"]

    fifo = {"kind": "fifo", "limit": "100000 packets"}
    assert queued(example("head_drop.py", "HeadDrop", limit=100_000)) == queued(fifo)
    short = (
        lasthop.load(small)
        .set("bss.ap.queue", example("head_drop.py", "HeadDrop", limit=2))
        .set("flow.0.direction", "down")
    )
    nodes = json.loads(b"".join(lasthop.run(short, [1], progress=False).json_pieces()))["runs"][0]["nodes"]
    assert next(node for node in nodes if node["name"] == "ap")["queue_drops"] > 10


def test_a_queue_that_gives_a_packet_twice_ends_the_run(small):
    Path("q.py").write_text(
        "import lasthop\nclass Twice(lasthop.QueueDiscipline):\n"
        "    def dequeue(self, wanted, now_s):\n        return self.waiting[0]\n"
    )
    scenario = lasthop.load(small).set("bss.ap.queue", {"kind": "python", "file": "q.py", "class": "Twice"})
    with pytest.raises(
        lasthop.RunFailed, match="queue of ap at .*: q.py: a packet was taken out or dropped that does not wait"
    ):
        lasthop.run(scenario, [1], progress=False)


def test_a_ticket_is_valid_once(small):
    # The first packet's place is taken again long before the hundredth comes.
    Path("q.py").write_text(
        "import lasthop\nclass Keeps(lasthop.QueueDiscipline):\n"
        "    def __init__(self, context):\n        self.first, self.seen = None, 0\n"
        "    def enqueue(self, packet, now_s):\n"
        "        self.seen += 1\n        self.first = self.first or packet\n"
        "        super().enqueue(self.first if self.seen == 100 else packet, now_s)\n"
    )
    scenario = lasthop.load(small).set("bss.ap.queue", {"kind": "python", "file": "q.py", "class": "Keeps"})
    with pytest.raises(lasthop.RunFailed, match="does not wait any more: it has gone out or was dropped before"):
        lasthop.run(scenario, [1], progress=False)


def test_a_cautious_rate_control_climbs_to_the_best_rate(small):
    scenario = lasthop.load(small).set("bss.rate_control", example("cautious.py", "Cautious"))
    links = json.loads(b"".join(lasthop.run(scenario, [1], progress=False).json_pieces()))["runs"][0]["links"]
    assert max(link["mean_data_rate_bps"] or 0 for link in links) > 10e6


def test_a_mode_that_is_not_there_ends_the_run(small):
    Path("r.py").write_text(
        "import lasthop\nclass High(lasthop.RateControl):\n    def rates_for(self, frame):\n        return 99\n"
    )
    scenario = lasthop.load(small).set("bss.rate_control", {"kind": "python", "file": "r.py", "class": "High"})
    with pytest.raises(lasthop.RunFailed, match=r"rate control of .*->.* at .*: r.py: rates_for gave \[\(99, 1\)\]"):
        lasthop.run(scenario, [1], progress=False)


# Evidence.


def test_user_controllers_are_held_to_the_promises_of_all(mine, command):
    done = command("cc", "check", toml_value(example("newreno.py", "NewReno")))
    assert done.returncode == 0 and "12 kept, 0 broken" in done.stdout, done.stdout
    done = command("cc", "check", CHOICE.replace("0.7", "0.99"))
    assert done.returncode == 1 and "fail  starts as told and doubles in slow start: a window of" in done.stdout, (
        done.stdout
    )
    failing = CHOICE.replace("beta = 0.7", "fails_after_s = 0.0")
    done = command("cc", "check", failing)
    assert done.returncode == 1 and "ZeroDivisionError" in done.stdout, done.stdout
    refused(command("cc", "check", "cubik"), 'did you mean "cubic"?')


def test_traces_are_replayed_to_a_controller_of_ones_own(command):
    trace = next((REPOSITORY / "tests/data/vectors/cc/linux612").glob("reno.*"))
    done = command("cc", "replay", trace, "--congestion-control", toml_value(example("newreno.py", "LinuxNewReno")))
    assert done.returncode == 0 and "python" in done.stdout, done.stdout + done.stderr
    done = command(
        "cc", "replay", trace, "--congestion-control", toml_value(example("newreno.py", "OlderLinuxNewReno"))
    )
    assert done.returncode == 1, done.stdout


def test_scripts_are_run_with_a_controller_of_ones_own(command):
    script = REPOSITORY / "tests/scripts/rack-lost-retransmission.pkt"
    done = command("cc", "packetdrill", script, "--congestion-control", toml_value(example("cubic.py", "LinuxCubic")))
    assert done.returncode == 0, done.stdout + done.stderr


# Results, which lie elsewhere.


def test_a_result_with_code_is_explained_wherever_it_lies(mine, command):
    assert command("run", "small.toml", "--seed", 1, "--out", "else/where").returncode == 0
    done = command("explain", "else/where", "--allow-code")
    assert done.returncode == 0, done.stderr
    assert "mine.py is code, comes from a result and runs with your rights (SHA-256 " in done.stderr


def test_the_page_runs_no_code_of_a_result_again_unless_it_may(mine, command, small):
    assert command("run", "small.toml", "--seed", 1, "--out", "out").returncode == 0
    (small.parent / "loaded").unlink()
    page = Page(small.parent)
    try:
        (run,) = (entry["key"] for entry in page.get("/api/entries")["entries"] if entry["kind"] == "result")
        assert "--allow-code" in page.refused("POST", f"/api/runs/{run}/seeds/1/record", 422)
    finally:
        page.desk.close()
    assert not (small.parent / "loaded").exists()


def test_a_hook_whose_name_is_misspelt_is_no_silent_default(mine, command, small):
    file = small.parent / "mine.py"
    file.write_text(file.read_text().replace("on_congestion", "on_congetsion"))
    done = command("run", "small.toml", "--seed", 1)
    # The file is run to find the class in it, so a notice about code comes first.
    notice, refusal = done.stderr.splitlines()
    assert done.returncode == 2 and notice.endswith("runs with your rights")
    assert refusal.endswith("mine.py: nothing calls Mine.on_congetsion; did you mean on_congestion?")
