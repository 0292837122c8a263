"""`lasthop run`: what it writes, where, and that the same seed gives the same bytes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from math import isclose

import lasthop
import pytest
from lasthop.data.runs import run_of
from lasthop.study.headline import _marked, _Nodes


def test_json_holds_format_scenario_runs_and_summary(command, small):
    done = command("run", "small.toml", "--seeds", 3, "--json", "result.json")
    assert done.returncode == 0, done.stderr
    document = json.loads((small.parent / "result.json").read_text())
    assert list(document) == ["format", "lasthop", "scenario", "warnings", "defaults", "runs", "summary"]
    assert document["format"] == 1
    assert document["lasthop"] == lasthop.__version__
    assert document["scenario"]["name"] == "small"
    assert [run["seed"] for run in document["runs"]] == [1, 2, 3]
    for run in document["runs"]:
        assert {"seed", "flows", "totals", "nodes", "links", "medium", "simulator"} <= set(run)
        assert len(run["flows"]) == 2
        assert run["totals"]["goodput_bps"] > 0


def test_totals_are_the_sum_of_the_flows(command, small):
    document = json.loads(command("run", "small.toml", "--seed", 1, "--json", "-").stdout)
    (run,) = document["runs"]
    assert isclose(run["totals"]["goodput_bps"], sum(flow["goodput_bps"] for flow in run["flows"]), rel_tol=1e-9)


def test_summary_has_mean_and_interval_over_seeds(command, small):
    document = json.loads(command("run", "small.toml", "--seeds", 3, "--json", "-").stdout)
    goodput = [run["totals"]["goodput_bps"] for run in document["runs"]]
    summary = document["summary"]["totals.goodput_bps"]
    assert list(summary) == ["mean", "ci95_low", "ci95_high", "n"]
    assert isclose(summary["mean"], sum(goodput) / 3)
    assert summary["ci95_low"] <= summary["mean"] <= summary["ci95_high"]
    assert summary["n"] == 3
    assert "simulator.wall_s" not in document["summary"]


def test_one_seed_has_no_interval(command, small):
    document = json.loads(command("run", "small.toml", "--seed", 7, "--json", "-").stdout)
    assert [run["seed"] for run in document["runs"]] == [7]
    summary = document["summary"]["totals.goodput_bps"]
    assert (summary["ci95_low"], summary["ci95_high"], summary["n"]) == (None, None, 1)


def test_the_table_is_the_output_and_stands_beside_data_only_on_the_other_stream(command, small):
    done = command("run", "small.toml", "--seeds", 2, "--json", "-")
    json.loads(done.stdout)
    assert "goodput (Mbit/s)" in done.stderr
    piped = command("run", "small.toml", "--seeds", 2)
    assert piped.stdout.startswith("small: 2 seeds\n") and "goodput (Mbit/s)" in piped.stdout
    assert "goodput" not in piped.stderr and "2 of 2 seeds finished" in piped.stderr


def test_number_of_threads_does_not_change_a_byte(command, small, without_wall_clock):
    one = command("run", "small.toml", "--seeds", 6, "--jobs", 1, "--out", "one", "--json", "-")
    many = command("run", "small.toml", "--seeds", 6, "--jobs", 4, "--out", "many", "--json", "-")
    assert json.dumps(without_wall_clock(one.stdout)) == json.dumps(without_wall_clock(many.stdout))
    names = ["flows.parquet", "nodes.parquet", "links.parquet", "timeseries.parquet", "scenario.toml"]
    for name in names:
        first, second = (small.parent / directory / name for directory in ("one", "many"))
        assert first.read_bytes() == second.read_bytes(), name


def test_command_and_python_give_the_same_document(command, small, without_wall_clock):
    typed = command("run", "small.toml", "--seeds", 2, "--json", "-").stdout
    called = lasthop.run(lasthop.load("small.toml"), seeds=2).to_json()
    assert json.dumps(without_wall_clock(typed)) == json.dumps(without_wall_clock(called))


def test_a_seed_does_not_depend_on_the_seeds_beside_it(command, small, without_wall_clock):
    alone = without_wall_clock(command("run", "small.toml", "--seed", 2, "--json", "-").stdout)
    beside = without_wall_clock(command("run", "small.toml", "--seeds", 3, "--json", "-").stdout)
    assert alone["runs"][0] == beside["runs"][1]


def test_settings_apply_in_order(command, small):
    done = command(
        "run", "small.toml", "--seed", 1, "--set", "station.0.count=1", "--set", "station.0.count=3", "--json", "-"
    )
    assert len(json.loads(done.stdout)["runs"][0]["flows"]) == 3


def test_out_holds_result_tables_and_scenario_and_nothing_else(command, small):
    done = command("run", "small.toml", "--seeds", 2, "--set", "station.0.count=1", "--out", "out/deep")
    assert done.returncode == 0, done.stderr
    out = small.parent / "out" / "deep"
    assert sorted(path.name for path in out.iterdir()) == [
        "flows.parquet",
        "links.parquet",
        "nodes.parquet",
        "result.json",
        "scenario.toml",
        "timeseries.parquet",
    ]
    assert (out / "scenario.toml").read_text() == "# --set station.0.count=1\n" + small.read_text()


def test_time_series_is_tidy_and_follows_the_interval(command, small):
    command("run", "small.toml", "--seeds", 2, "--out", "out", "--interval", "500 ms")
    series = lasthop.read("out").timeseries
    assert list(series.columns) == ["seed", "time_s", "entity", "metric", "value"]
    assert set(series["seed"]) == {1, 2}
    assert {"goodput_bps", "cwnd_segments"} <= set(series["metric"])
    goodput = series[(series["metric"] == "goodput_bps") & (series["seed"] == 1)]
    assert goodput["entity"].nunique() == 2
    steps = goodput["time_s"].drop_duplicates().diff().dropna()
    assert steps.to_list() == pytest.approx([0.5] * 3)


@pytest.fixture
def running():
    """Starts `lasthop run`, and ends it with the test whatever happens."""
    started = []

    def start(*arguments: object) -> subprocess.Popen[str]:
        line = [sys.executable, "-m", "lasthop", "run", *map(str, arguments)]
        started.append(subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_interrupt_keeps_the_finished_seeds_and_says_so(small, running):
    process = running("small.toml", "--seeds", 1_000_000, "--jobs", 1, "--json", "result.json", "--out", "out")
    while "finished" not in (told := process.stderr.readline()):
        assert "warning" in told
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130, messages
    assert "interrupted" in messages and "Traceback" not in messages
    for file in (small.parent / "result.json", small.parent / "out" / "result.json"):
        document = json.loads(file.read_text())
        assert document["interrupted"] is True
        seeds = [run["seed"] for run in document["runs"]]
        assert 1 <= len(seeds) < 1_000_000
        assert seeds == list(range(1, len(seeds) + 1))
    assert set(lasthop.read("out").timeseries["seed"]) == set(seeds)
    assert not list(small.parent.rglob(".*"))


def test_interrupt_before_the_first_seed_writes_nothing(small, running):
    process = running("small.toml", "--seed", 1, "--set", "duration=1000000 s", "--json", "result.json", "--out", "out")
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130, messages
    assert "Traceback" not in messages
    assert not (small.parent / "result.json").exists()
    assert list((small.parent / "out").iterdir()) == []


def test_engine_is_reached_in_less_than_four_tenths_of_a_second_of_processor_time(small):
    code = "import time; t = time.process_time(); import lasthop.cli as c; c.build_parser(['run']); print(time.process_time() - t)"
    taken = [float(subprocess.check_output([sys.executable, "-c", code], text=True)) for _ in range(5)]
    assert min(taken) < 0.4


def test_heavy_packages_wait_until_they_are_needed(small):
    code = (
        "import sys; from lasthop.cli import main; main(['run', 'small.toml', '--seeds', '2', '--json', 'result.json']);"
        "print([name for name in ('numpy', 'pandas', 'pyarrow', 'matplotlib', 'rich') if name in sys.modules])"
    )
    output = subprocess.check_output([sys.executable, "-c", code], text=True, stderr=subprocess.DEVNULL)
    assert output.splitlines()[-1] == "[]"


def test_marks_have_rows_if_there_were_any():
    def labels(*marks: int) -> list[str]:
        nodes = [{"name": name, "queue_marks": count} for name, count in zip(("ap", "sta1"), marks, strict=True)]
        return [row.label for row in _marked({1: _Nodes(run_of({"nodes": nodes}))})]

    assert labels(0, 0) == []
    assert labels(0, 150) == ["station queue marks"] and labels(3, 1) == ["AP queue marks", "station queue marks"]
