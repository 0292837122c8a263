"""Ctrl-C and `kill` end every command that can take long, soon, with status 130 and without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import lasthop
import pytest
from lasthop import cli
from lasthop.data.result import ResultDirectory

LASTHOP = [sys.executable, "-m", "lasthop"]
ROOT = Path(__file__).resolve().parents[2]
LONG = ["--set", "duration=100000 s", "--jobs", "1"]
HEAVY = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"
# The processor time that a command may still take after a signal: its wall time depends more on the machine.
AFTER_S = 1.0
WORKS_AFTER_S = 1.2
PAPER = """\
title = "Long"
[case.one]
scenario = "small.toml"
set = { duration = "100000 s" }
[[claim]]
id = "L-1"
sentence = "It takes long."
[[claim.part]]
measure = 'totals(one, "goodput_bps")'
expect = { from = 0 }
"""
# Commands, and the signal that ends each.
LINES = {
    "run": (["run", "small.toml", *LONG], "SIGINT"),
    "sweep": (["sweep", "small.toml", "--over", "station.0.count=1,2", *LONG], "SIGTERM"),
    "compare": (["compare", "small.toml", "long.toml", "--jobs", "1", "--seeds", "100000"], "SIGINT"),
    "explain": (["explain", "small.toml", *LONG], "SIGTERM"),
    "theory": (["theory", "small.toml", *LONG], "SIGINT"),
    "reproduce": (["reproduce", "long-paper.toml", "--jobs", "1", "--out", "out"], "SIGTERM"),
    "query": (["query", "runs.duckdb", HEAVY], "SIGTERM"),
    "plot": (["plot", "--kind", "sweep", "--metric", "totals.goodput_bps", "points.csv", "--out", "x.png"], "SIGINT"),
    "bench": (["self", "bench", "--quick"], "SIGTERM"),
}


def cpu_s(pid: int) -> float:
    """Processor time of a process, its threads included."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def children_of(pid: int) -> list[str]:
    """The processes that a process has begun."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def is_at_work(pid: int, name: str) -> bool:
    """Whether a command does its work; a child works for `bench`."""
    return bool(children_of(pid)) if name == "bench" else cpu_s(pid) > WORKS_AFTER_S


def group_is_gone(group: int) -> bool:
    """Whether no process of the group runs any more, within five seconds; a zombie awaits only whoever inherits it."""
    deadline = time.monotonic() + 5
    while runs_in(group):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def runs_in(group: int) -> bool:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = stat.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(of) == group and state != "Z":
            return True
    return False


@pytest.fixture
def inputs(small, request):
    """What the command lines name."""
    from lasthop.study.store import Store

    text = small.read_text()
    Path("long.toml").write_text(text.replace("2 s", "3 s"))
    Path("long-paper.toml").write_text(PAPER)
    Store.open("runs.duckdb")
    if request.node.callspec.params["name"] != "plot":
        return small.parent
    rows = (f"{point},{seed},{1000 * point + seed}\n" for point in range(2_000) for seed in range(400))
    with open("points.csv", "w") as file:
        file.writelines(["station.0.count,seed,totals.goodput_bps\n", *rows])
    return small.parent


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see when a command works")
@pytest.mark.parametrize("name", LINES)
def test_a_long_command_ends_soon_after_a_signal(inputs, name):
    line, how = LINES[name]
    if name == "bench" and not (ROOT / "benches" / "run.py").is_file():
        pytest.skip("no source tree here")
    process = subprocess.Popen([*LASTHOP, *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        begun = time.monotonic()
        while process.poll() is None and not is_at_work(process.pid, name) and time.monotonic() < begun + 60:
            time.sleep(0.02)
        assert process.poll() is None, f"it has ended by itself: {process.communicate()}"
        if name == "bench":
            time.sleep(0.5)
        children = children_of(process.pid)
        before = cpu_s(process.pid)
        process.send_signal(getattr(signal, how))
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said = process.stderr.read()
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert used.ru_utime + used.ru_stime - before < AFTER_S or name == "bench"
    assert "interrupted" in said and "Traceback" not in said
    for child in children:
        assert group_is_gone(int(child)), "what it began goes on"
    assert not list(inputs.rglob(".*.part")) and not (inputs / "x.png").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_last_seed_loses_no_seed(small, number):
    """The handler is held until all files have their names: here it comes as soon as the last seed is reported."""
    line = [*LASTHOP, "run", "small.toml", "--seeds", "40", "--set", "duration=1 s", "--out", "out"]
    run = subprocess.Popen(line, cwd=small.parent, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert run.stderr is not None
    for said in run.stderr:
        if "40 of 40 seeds finished" in said:
            run.send_signal(number)
            break
    rest = run.stderr.read()
    assert run.wait(60) == 0, rest
    assert lasthop.read(small.parent / "out").seeds == list(range(1, 41)), rest
    assert not list((small.parent / "out").glob(".*.part"))


def test_a_signal_while_the_result_is_written_loses_no_seed(small, monkeypatch):
    commit = ResultDirectory.commit

    def interrupted(self, result, **options):
        signal.raise_signal(signal.SIGINT)
        commit(self, result, **options)

    monkeypatch.setattr(ResultDirectory, "commit", interrupted)
    assert cli.main(["run", "small.toml", "--seeds", "3", "--set", "duration=1 s", "--out", "out"]) == 0
    assert lasthop.read("out").seeds == [1, 2, 3]
