"""Names by which numbers of results are asked for, and how they are shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import lasthop
import pytest
from lasthop.data.metric import UnknownMetric, check_keys, check_names, shown


@pytest.mark.parametrize(
    ("name", "unit", "scale", "decimals"),
    [
        ("totals.goodput_bps", "Mbit/s", 1e-6, 3),
        ("flows.sta1.up.rtt_p95_s", "ms", 1e3, 1),
        ("flows.sta1.up.starved_s", "s", 1.0, 3),
        ("flows.a.b.jitter_s", "ms", 1e3, 2),
        ("nodes.A.ap.airtime_fraction", "%", 100.0, 2),
        ("medium.collision_probability", "", 1.0, 4),
        ("totals.jain_index_up", "", 1.0, 4),
        ("flows.sta1.up.cwnd_mean_segments", "segments", 1.0, 1),
        ("wires.ap.down.wait_max_s", "ms", 1e3, 1),
    ],
)
def test_a_metric_is_shown_in_the_units_that_people_speak(name, unit, scale, decimals):
    assert shown(name) == (unit, scale, decimals)


def test_impossible_metrics_are_refused_before_a_run():
    check_keys(
        [
            "totals.goodput_bps",
            "flows.*.goodput_bps",
            "flows.anything.up.rtt_mean_s",
            "*goodput*",
            "nodes.*",
            "links.a.b.delay_p95_s",
        ]
    )
    for wrong in (
        "nonsense",
        "totals.goodput",
        "flows.goodput_bps",
        "flows.*.goodput",
        "medium.x.busy_fraction",
        "links.*.mos",
    ):
        with pytest.raises(UnknownMetric, match=re.escape(wrong)):
            check_keys([wrong])


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("totals.goodputs", "totals.goodput_bps"),
        ("totals.goodput", "totals.goodput_bps"),
        ("flows.sta1.up.rtt_men_s", "flows.sta1.up.rtt_mean_s"),
    ],
)
def test_a_wrong_name_is_answered_with_near_ones(wrong, near):
    with pytest.raises(UnknownMetric, match=f"did you mean .*{re.escape(near)}"):
        check_keys([wrong])
    with pytest.raises(UnknownMetric, match=f"did you mean .*{re.escape(near)}"):
        check_names([wrong], ["totals.goodput_bps", "flows.sta1.up.rtt_mean_s"])


WRONG = [
    ("run", "small.toml", "--seeds", 2),
    ("run", "small.toml", "--until", "5%"),
    ("sweep", "small.toml", "--over", "station.0.count=1,2", "--seeds", 2),
    ("sweep", "small.toml", "--over", "station.0.count=1,2", "--until", "5%"),
    ("compare", "small.toml", "small.toml", "--seeds", 2),
    ("compare", "small.toml", "small.toml", "--until", "5%"),
]


@pytest.mark.parametrize("line", WRONG, ids=lambda line: f"{line[0]} {line[-2]}")
@pytest.mark.parametrize(
    ("name", "near"),
    # a key that no run has, found before one runs; an entity that this scenario lacks, found with the first
    [("totals.goodputs", "totals.goodput_bps"), ("flows.sta9.up.goodput_bps", "goodput_bps")],
)
def test_one_wrong_metric_is_the_same_error_everywhere(command, small, line, name, near):
    done = command(*line, "--metric", name)
    last = done.stderr.splitlines()[-1]
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert last.startswith(f"lasthop: --metric {name}: no run has such a metric; did you mean "), last
    assert near in last and last.endswith("`lasthop list quantity` names them")
    assert "Traceback" not in done.stderr
    if name == "totals.goodputs":
        assert done.stderr.count("\n") == 1, "nothing ran"


def test_a_wrong_metric_of_a_plot_is_the_same_error(command, small):
    assert command("run", small, "--seeds", 2, "--out", "out").returncode == 0
    assert command("sweep", small, "--over", "station.0.count=1,2", "--seeds", 2, "--csv", "points.csv").returncode == 0
    for line in (("out", "--kind", "time_series"), ("points.csv", "--kind", "sweep")):
        done = command("plot", *line, "--metric", "totals.goodputs")
        assert done.returncode == 2
        assert "totals.goodputs: no run has such a metric" in done.stderr, done.stderr


def test_a_metric_of_one_point_alone_is_a_column(command, small):
    name = "flows.sta2.up.goodput_bps"
    done = command(
        "sweep", small, "--over", "station.0.count=1,2", "--seeds", 2, "--metric", name, "--csv", "points.csv"
    )
    assert done.returncode == 0, done.stderr
    assert f"{name} (Mbit/s)" in done.stdout


def test_named_metrics_have_the_units_and_formats_of_the_table(command, small):
    shown = command("run", small, "--seeds", 3).stdout
    goodput = next(line for line in shown.splitlines() if line.startswith("goodput (Mbit/s)")).split(")", 1)[1].strip()
    named = command(
        "run", small, "--seeds", 3, "--metric", "totals.goodput_bps", "--metric", "flows.*.completion_time_s"
    ).stdout
    line = next(line for line in named.splitlines() if line.startswith("totals.goodput_bps"))
    assert line.split(")", 1)[1].strip() == goodput
    # There is no such transfer: the name is right, and it has no value.
    assert next(line for line in named.splitlines() if "completion_time_s (s)" in line).split()[-1] == "-"


def test_compare_shows_named_metrics_in_their_units_and_keeps_stored_ones_in_json(command, small):
    done = command("compare", small, small, "--seeds", 3, "--metric", "totals.goodput_bps", "--json", "c.json")
    (row,) = json.loads(Path("c.json").read_text())["rows"]
    assert (row["metric"], row["unit"]) == ("totals.goodput_bps", "bit/s") and row["a"]["mean"] > 1e6
    assert f"totals.goodput_bps (Mbit/s)  {row['a']['mean'] / 1e6:.3f} ±" in done.stdout


def test_a_summary_answers_a_wrong_name_with_near_ones(small):
    result = lasthop.run(lasthop.load(small), seeds=1, interval_s=None)
    with pytest.raises(KeyError, match="did you mean totals.goodput_bps"):
        result.summary["goodput"]
    assert "goodput" not in result.summary
    with pytest.raises(ValueError, match="totals.goodputs: no run has such a metric"):
        lasthop.sweep(small, {"station.0.count": [1]}, seeds=1, metrics=["totals.goodputs"])
