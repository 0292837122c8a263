"""The other commands: compare, plot, theory, sweep, list, show, schema, doctor."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from lasthop.views import plot
from test_mistakes import refused


@pytest.fixture
def two_results(command, small):
    """Directories `one` and `two` with one and with two stations."""
    for name, count in (("one", 1), ("two", 2)):
        assert (
            command(
                "run", small, "--seeds", 3, "--set", f"station.0.count={count}", "--record", "ppdu", "--out", name
            ).returncode
            == 0
        )
    return small.parent


def test_compare_pairs_the_seeds_that_both_have(command, two_results):
    done = command("compare", "one", "two", "--json", "-")
    assert done.returncode == 0, done.stderr
    row = next(row for row in json.loads(done.stdout)["rows"] if row["metric"] == "goodput")
    assert row["difference"]["paired"] is True
    assert row["difference"]["mean"] == pytest.approx(row["b"]["mean"] - row["a"]["mean"])
    assert row["difference"]["ci95_low"] <= row["difference"]["mean"] <= row["difference"]["ci95_high"]
    assert "B - A" in done.stderr


def test_compare_runs_scenario_files(command, small):
    done = command("compare", small, small, "--seeds", 2, "--json", "-")
    assert done.returncode == 0, done.stderr
    for row in json.loads(done.stdout)["rows"]:
        assert row["difference"]["mean"] == 0, "the same scenario on the same seeds"


def test_compare_says_that_all_numbers_are_equal_where_they_are(command, small, two_results):
    same = "A and B have the same numbers, seed by seed."
    assert same in command("compare", "one", "one").stdout
    assert same not in command("compare", "one", "two").stdout


def test_one_file_is_compared_with_itself_under_other_settings(command, small, two_results):
    apart = ("--set-a", "station.0.count=1", "--set-b", "station.0.count=2")
    done = command("compare", small, small, "--seeds", 3, *apart, "--metric", "totals.goodput_bps", "--json", "-")
    found = json.loads(done.stdout)
    assert (found["a"], found["b"]) == (f"{small}, station.0.count=1", f"{small}, station.0.count=2")
    assert (
        found["rows"]
        == json.loads(command("compare", "one", "two", "--metric", "totals.goodput_bps", "--json", "-").stdout)["rows"]
    )
    both = json.loads(
        command("compare", small, small, "--seeds", 2, "--set", "station.0.count=1", "--json", "-").stdout
    )
    assert all(row["difference"]["mean"] == 0 for row in both["rows"] if row["difference"])
    refused(command("compare", "one", small, "--set-a", "station.0.count=2"), "--set-a: one is a result")


def test_a_table_of_a_sweep_is_not_compared(command, small):
    assert command("sweep", small, "--over", "station.0.count=1,2", "--seeds", 2, "--csv", "points.csv").returncode == 0
    refused(command("compare", "points.csv", small), "points.csv: is a table or a store of sweeps", "--set-b")


def test_compare_of_different_seeds_is_not_paired(command, small):
    command("run", small, "--seeds", 2, "--json", "a.json")
    command("run", small, "--seed", 3, "--json", "b.json")
    done = command("compare", "a.json", "b.json", "--metric", "totals.goodput_bps", "--json", "-")
    (row,) = json.loads(done.stdout)["rows"]
    assert row["difference"]["paired"] is False


def test_metric_that_matches_nothing_is_refused(command, two_results):
    done = command("compare", "one", "two", "--metric", "colour*")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("kind", [kind for kind in plot.kinds() if kind not in ("heat_map", "sweep")])
def test_every_plot_draws_one_result_and_two(command, two_results, kind):
    for results in (["one"], ["one", "two"]):
        done = command("plot", *results, "--kind", kind, "--out", "picture.png")
        assert done.returncode == 0, done.stderr
        assert (two_results / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_plot_writes_pdf_by_its_ending(command, two_results):
    assert command("plot", "one", "--out", "picture.pdf").returncode == 0
    assert (two_results / "picture.pdf").read_bytes().startswith(b"%PDF")


def test_plot_over_time_needs_the_time_series(command, small):
    command("run", small, "--seed", 1, "--json", "bare.json")
    done = command("plot", "bare.json", "--kind", "cwnd")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--out DIR" in done.stderr


def test_sweep_writes_a_row_for_each_point_and_seed(command, small):
    done = command("sweep", small, "--over", "station.0.count=1,2", "--seeds", 2, "--csv", "-")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("station.0.count,seed,totals.goodput_bps,")
    assert [line.split(",")[:2] for line in lines[1:]] == [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"]]


def test_list_knows_newreno_and_show_its_source(command, small):
    entries = json.loads(command("list", "congestion_control", "--json").stdout)
    assert any(entry["name"] == "newreno" for entry in entries)
    for entry in json.loads(command("list", "--json").stdout):
        assert {"kind", "name", "summary", "source", "status"} <= set(entry)
    assert "newreno" in command("list").stdout


def test_show_lists_parameters_with_their_help(command, small):
    entry = json.loads(command("show", "cubic", "--json").stdout)
    assert entry["kind"] == "congestion_control"
    text = command("show", "cubic").stdout
    for parameter in entry["parameters"]:
        assert parameter["name"] in text and parameter["help"] in text


def test_show_of_a_kind_says_where_its_names_are(command, small):
    refused(command("show", "queue_discipline"), "`lasthop list queue_discipline` shows them")
    refused(command("show", "tcp-nup"), "`lasthop new tcp-nup` prints it")


def test_schema_is_a_json_schema(command, small):
    assert "$schema" in json.loads(command("self", "schema").stdout)


def test_doctor_finds_nothing_to_mend(command, small):
    done = command("self", "doctor")
    assert done.returncode == 0, done.stdout
    assert "!!" not in done.stdout
    assert "pandas" in done.stdout


def test_doctor_asks_for_what_the_distributions_kernel_needs(monkeypatch, tmp_path):
    from lasthop.cli.self import doctor

    kernel = SimpleNamespace(time_travel=False, path="linux.uml", version="6.1")
    monkeypatch.setattr(doctor, "find_kernel", lambda choice: kernel)
    monkeypatch.setattr(doctor, "PRELOAD", tmp_path / "virtual_time.so")
    assert "make build" in doctor._kernel("stock").text
    (tmp_path / "virtual_time.so").touch()
    assert "Linux 6.1" in doctor._kernel("stock").text


def test_help_and_version_are_data(command, small):
    assert command("--version").stdout.startswith("lasthop ")
    assert "compare" in command("--help").stdout
    assert "--seeds" in command("run", "--help").stdout


RESULTS = [
    (("run", "small.toml", "--seeds", 2), "goodput (Mbit/s)"),
    (("sweep", "small.toml", "--over", "station.0.count=1,2", "--seeds", 2), "station.0.count"),
    (("compare", "small.toml", "small.toml", "--seeds", 2, "--explain"), "B - A"),
    (("explain", "small.toml", "--seeds", 2), "of each flow's time"),
    (("theory", "small.toml", "--seeds", 2), "closed form"),
    (("list", "standard"), "802.11ax"),
    (("show", "cubic"), "cubic (congestion_control)"),
    (("self", "doctor"), "cores for runs in parallel"),
]


@pytest.mark.parametrize(("line", "words"), RESULTS, ids=lambda value: value[0] if isinstance(value, tuple) else None)
def test_results_go_to_standard_output_and_what_is_said_of_them_does_not(command, small, line, words):
    done = command(*line)
    assert done.returncode == 0, done.stderr
    assert words in done.stdout and words not in done.stderr
    assert "warning" not in done.stdout and "finished" not in done.stdout


@pytest.mark.parametrize("both", [False, True], ids=["stdout", "stdout and stderr"])
@pytest.mark.parametrize("line", [("run", "small.toml", "--seeds", "2"), ("list",)], ids=lambda line: line[0])
def test_a_pipe_that_is_closed_ends_quietly(small, line, both):
    redirected = subprocess.STDOUT if both else subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-m", "lasthop", *line], stdout=subprocess.PIPE, stderr=redirected, text=True
    )
    process.stdout.close()
    said = "" if both else process.stderr.read()
    assert process.wait(timeout=60) in (0, 1)
    assert all("seeds finished" in told or "warning" in told for told in said.splitlines())


def test_main_can_be_called_again_in_one_process(capsys):
    from lasthop.cli import main

    assert main(["list", "standard"]) == 0
    assert main(["list", "standard"]) == 0
    assert capsys.readouterr()
