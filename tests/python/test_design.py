"""Which points a sweep has: settings in step, ranges in which points are drawn, `*` for every entry."""

from __future__ import annotations

import math

import lasthop
import pytest
from lasthop.study.design import Sample, design_of
from lasthop.study.ranges import drawn, range_of
from lasthop.views.plot import Options, SweepTable, chart, read_sweep

COUNT, DELAY, CONTROL = "station.0.count", "wired.delay", "tcp.congestion_control"
TWO_FLOWS = """
[[flow]]
station = "sta1"
direction = "down"
"""


def points(design):
    return [tuple(point.values()) for point in design.points()]


def test_settings_of_a_zip_vary_in_step_and_groups_multiply():
    design = design_of({"a": [1, 2]}, [{"b": [3, 4], "c": [5, 6]}, {"d": [7, 8], "e": [9, 0]}])
    assert design.paths == ("a", "b", "c", "d", "e")
    expected = [(a, *bc, *de) for a in (1, 2) for bc in ((3, 5), (4, 6)) for de in ((7, 9), (8, 0))]
    assert points(design) == expected
    assert design.groups == (("b", "c"), ("d", "e"))


def test_a_value_may_come_twice_in_a_zip_but_no_pair():
    assert points(design_of({}, [{"a": [1, 1], "b": [2, 3]}])) == [(1, 2), (1, 3)]
    with pytest.raises(ValueError, match=r"^zip: a=1, b=2 is given twice$"):
        design_of({}, [{"a": [1, 1], "b": [2, 2]}])


@pytest.mark.parametrize(
    ("over", "groups", "words"),
    [
        ({}, [], "nothing to sweep"),
        ({"a": [1]}, [{"a": [1], "b": [2]}], "a: is varied twice"),
        ({}, [{"a": [1, 2]}], "pairs at least two settings"),
        ({}, [{"a": [1, 2], "b": [3]}], "as many values of each setting are needed, and there are 2 of a and 1 of b"),
        ({}, [{"a": [], "b": []}], "a: at least one value"),
        ({"a": 3}, [], "a: a list of values is needed"),
        ({"a": "1..3"}, [], "say how many points are drawn in it with sample=N"),
        ({}, [{"a": "1..3", "b": [1]}], "a range stands in over"),
    ],
)
def test_pairing_of_one_setting_is_refused(over, groups, words):
    with pytest.raises(ValueError) as wrong:
        design_of(over, groups)
    assert words in str(wrong.value)


@pytest.mark.parametrize(
    ("text", "low", "high", "unit", "log", "whole"),
    [
        ("1 ms..100 ms", 1, 100, "ms", False, False),
        ("1..100 ms", 1, 100, "ms", False, False),
        ("1..10", 1, 10, None, False, True),
        ("1.0..10", 1, 10, None, False, False),
        ("0.1..1e3 log", 0.1, 1000, None, True, False),
        ("10 packets..1000 packets log", 10, 1000, "packets", True, True),
        ("-82 dBm..-62 dBm", -82, -62, "dBm", False, False),
        ("1 ms..9 ms int", 1, 9, "ms", False, True),
        ("1Mbit/s .. 9Mbit/s int log", 1, 9, "Mbit/s", True, True),
    ],
)
def test_a_range_has_ends_a_unit_and_a_scale(text, low, high, unit, log, whole):
    assert range_of("x", text) == (low, high, unit, log, whole)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 ms..1 s", "two units"),
        ("1 ms..100", "no unit behind its upper end; write 1 ms..100 ms"),
        ("5..5", "below the upper one"),
        ("9..1", "below the upper one"),
        ("1..1e999", "below the upper one"),
        ("0..9 log", "begins above 0"),
        ("0.5..9 int", "has whole ends"),
        ("1 m..9 m sqrt", "is no range"),
        ("cubic..bbr", "is no range"),
    ],
)
def test_a_range_that_cannot_be_is_refused(text, words):
    with pytest.raises(ValueError, match="^x: ") as wrong:
        range_of("x", text)
    assert words in str(wrong.value)


def test_of_n_points_of_a_latin_hypercube_one_lies_in_each_nth_of_each_range():
    ranges = {"a": range_of("a", "0.0..1.0"), "b": range_of("b", "1 ms..1000 ms log")}
    rows = drawn(ranges, 40, "lhs", 7)
    shares = [[a for a, _ in rows], [math.log10(float(b.split()[0])) / 3 for _, b in rows]]
    for found in shares:
        # Six digits are written, which may round to the border of the next fortieth.
        assert sorted(int(share * 40 - 1e-9) for share in found) == list(range(40))
    assert [row[0] for row in rows] != sorted(row[0] for row in rows)


def test_whole_numbers_are_drawn_with_both_ends_and_alike():
    values = [row[0] for row in drawn({"n": range_of("n", "1..4")}, 400, "lhs", 1)]
    assert {value: values.count(value) for value in sorted(values)} == {1: 100, 2: 100, 3: 100, 4: 100}
    logs = [row[0] for row in drawn({"n": range_of("n", "1..7 log")}, 3000, "lhs", 1)]
    # From 1 to 8 there are three octaves: 1, then 2 and 3, then 4 to 7, a third of the draws in each.
    counts = [sum(low <= value < 2 * low for value in logs) for low in (1, 2, 4)]
    assert all(abs(count - 1000) <= 1 for count in counts)


def test_points_at_random_are_uniform():
    values = [row[0] for row in drawn({"x": range_of("x", "0.0..1.0")}, 4000, "random", 3)]
    # Mean 1/2 with a standard error of 1/sqrt(12 * 4000) = 0.0046, four of which are 0.018.
    assert abs(sum(values) / 4000 - 0.5) < 0.018
    in_fortieths = {int(value * 4000) for value in values}
    assert len(in_fortieths) < 3000  # of a hypercube it would be all of them; of chance 1 - 1/e


def test_a_seed_gives_its_draws_and_a_range_more_leaves_them():
    one = {"a": range_of("a", "0.0..1.0")}
    both = one | {"b": range_of("b", "0.0..1.0")}
    assert drawn(one, 9, "lhs", 1) == [(a,) for a, _ in drawn(both, 9, "lhs", 1)]
    assert drawn(one, 9, "lhs", 1) != drawn(one, 9, "lhs", 2)
    assert drawn(one, 3, "random", 1) == drawn(one, 9, "random", 1)[:3]


def test_the_draws_of_a_seed_are_those_of_this_version_in_every_other():
    rows = drawn({"wired.delay": range_of("d", "1 ms..100 ms log"), "n": range_of("n", "1..9")}, 4, "lhs", 1)
    assert rows == [("2.20492 ms", 7), ("5.4014 ms", 9), ("11.8333 ms", 4), ("34.8098 ms", 3)]


def test_points_that_are_drawn_twice_are_run_once_and_counted():
    design = design_of({"n": "1..2"}, sample=Sample(10))
    assert sorted(points(design)) == [(1,), (2,)]
    assert (design.drawn["points"], design.drawn["different"]) == (10, 2)


@pytest.mark.parametrize(
    ("over", "sample", "words"),
    [
        ({"n": [1, 2]}, Sample(3), "sample: no range to draw in"),
        ({"n": "1..2"}, Sample(0), "sample: 0: the number of points is from 1"),
        ({"n": "1..2"}, Sample(2.5), "sample: 2.5"),
        ({"n": "1..2"}, Sample(3, "sobol"), "one of: lhs, random"),
    ],
)
def test_impossible_ranges_are_refused(over, sample, words):
    with pytest.raises(ValueError) as wrong:
        design_of(over, sample=sample)
    assert words in str(wrong.value)


def test_python_pairs_and_draws_and_its_table_has_the_design(small):
    paired = lasthop.sweep(
        small, seeds=1, zip={DELAY: ["5 ms", "10 ms"], CONTROL: ["cubic", "newreno"]}, over={COUNT: [1, 2]}
    )
    assert [tuple(row) for row in paired[[COUNT, DELAY, CONTROL]].to_numpy()] == [
        (1, "5 ms", "cubic"),
        (1, "10 ms", "newreno"),
        (2, "5 ms", "cubic"),
        (2, "10 ms", "newreno"),
    ]
    sampled = lasthop.sweep(
        small, seeds=1, sample=3, design_seed=5, over={DELAY: "1 ms..9 ms", CONTROL: ["cubic", "newreno"]}
    )
    assert len(sampled) == 6 and sampled[DELAY].nunique() == 3
    told = {"design": "lhs", "seed": 5, "points": 3, "different": 3, "ranges": {DELAY: "1 ms..9 ms"}}
    assert sampled.attrs["design"] == told


def test_settings_in_step_are_one_dimension_of_an_array(small):
    pytest.importorskip("xarray")
    table = lasthop.sweep(
        small, seeds=2, zip={DELAY: ["5 ms", "10 ms"], CONTROL: ["cubic", "newreno"]}, over={COUNT: [1, 2]}
    )
    found = table.to_xarray()
    assert dict(found.sizes) == {COUNT: 2, "point": 2, "seed": 2}
    assert found[DELAY].dims == ("point",) and found[CONTROL].values.tolist() == ["cubic", "newreno"]
    one = found["totals.goodput_bps"].sel({COUNT: 2, "seed": 1}).isel(point=1).item()
    row = table[(table[COUNT] == 2) & (table["seed"] == 1) & (table[DELAY] == "10 ms")]
    assert one == row["totals.goodput_bps"].item()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"zip": 3}, "zip: settings and their values"),
        ({"zip": {DELAY: ["1 ms"], "a": [1]}}, "unknown key"),
        ({"over": [COUNT]}, "over: settings and their values"),
        ({"over": {COUNT: [1]}, "design": "random"}, "no effect without sample"),
        ({"over": {COUNT: [1]}, "design_seed": 2}, "no effect without sample"),
    ],
)
def test_impossible_pairs_in_python_are_refused(small, arguments, words):
    with pytest.raises((TypeError, ValueError)) as wrong:
        lasthop.sweep(small, **arguments)
    assert words in str(wrong.value)


def test_command_pairs_all_zips_and_those_with_semicolons_by_themselves(command, small):
    alone = ("--zip", f"{DELAY}=5 ms,10 ms; {CONTROL}=cubic,newreno")
    together = ("--zip", f"{COUNT}=1,2", "--zip", "duration=1 s,2 s")
    done = command("sweep", small, *alone, *together, "--seeds", 1, "--set", "warmup=0.1 s", "--csv", "-")
    assert done.returncode == 0, done.stderr
    lines = [line.split(",")[:4] for line in done.stdout.splitlines()[1:]]
    assert lines == [
        ["1", "1 s", "5 ms", "cubic"],
        ["1", "1 s", "10 ms", "newreno"],
        ["2", "2 s", "5 ms", "cubic"],
        ["2", "2 s", "10 ms", "newreno"],
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--zip", f"{COUNT}=1,2"], "one alone belongs to --over"),
        (["--zip", f"{COUNT}=1,2", "--zip", f"{DELAY}=1 ms"], "there are 2 of station.0.count and 1 of wired.delay"),
        (["--zip", f"{COUNT}=1,x", "--zip", f"{DELAY}=1 ms,2 ms"], f"--zip {COUNT}=x"),
        (["--zip", "a=[1"], "[ is not closed"),
        (["--over", f"{DELAY}=1 ms..9 ms"], "--sample N"),
        (["--over", f"{COUNT}=1,2", "--sample", "3"], "--over 'wired.delay=1 ms..100 ms'"),
        (["--over", f"{COUNT}=1,2", "--design", "lhs"], "--sample"),
        (["--over", f"{COUNT}=0..2", "--sample", "9"], f"--over {COUNT}=0"),
    ],
)
def test_command_refuses_in_one_sentence(command, small, arguments, words):
    done = command("sweep", small, *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert words in done.stderr


def test_drawn_points_are_stored_resumed_and_drawn_as_points(command, small):
    line = (
        "sweep",
        small,
        "--sample",
        4,
        "--design-seed",
        3,
        "--over",
        f"{DELAY}=1 ms..90 ms log",
        "--over",
        f"{COUNT}=1..3",
    )
    line = (*line, "--over", f"{CONTROL}=cubic,newreno", "--seeds", 2, "--store", "runs.duckdb", "--csv", "points.csv")
    first = command(*line)
    assert first.returncode == 0, first.stderr
    assert "a Latin hypercube design of 4 points, drawn with seed 3" in first.stderr
    written = (small.parent / "points.csv").read_text()
    again = command(*line)
    assert "16 runs found, 0 run" in again.stderr
    assert (small.parent / "points.csv").read_text() == written
    table = read_sweep(small.parent / "points.csv")
    assert table.drawn == (DELAY, COUNT) and {float(row["design_seed"]) for row in table.rows} == {3}
    seen = chart("sweep", [table], Options(log_x=True))
    assert seen.kind == "scatter" and [curve.label for curve in seen.curves] == ["cubic", "newreno"]
    assert [len(curve.x) for curve in seen.curves] == [4, 4] and "with stations" in seen.title
    with pytest.raises(LookupError, match="heat map"):
        chart("heat_map", [table], Options())


def test_settings_in_step_share_an_axis_of_a_plot(small):
    table = lasthop.sweep(
        small, seeds=2, zip={DELAY: ["5 ms", "10 ms"], COUNT: [1, 2]}, over={CONTROL: ["cubic", "newreno"]}
    )
    seen = chart("sweep", [SweepTable.of_frame("paired", table)], Options(x=DELAY))
    assert seen.kind == "lines" and [curve.label for curve in seen.curves] == ["cubic", "newreno"]
    assert "over wired delay (with stations)" in seen.title


def test_a_star_sets_and_sweeps_every_flow(small):
    small.write_text(small.read_text() + TWO_FLOWS)
    scenario = lasthop.load(small).set("flow.*.congestion_control", "cubic")
    result = lasthop.run(scenario, seeds=1)
    assert set(result.flows["congestion_control"]) == {"cubic"}
    path = "flow.*.congestion_control"
    store = lasthop.Store.in_memory()
    table = lasthop.sweep(small, over={path: ["cubic", "newreno"]}, seeds=1, store=store)
    assert table[path].tolist() == ["cubic", "newreno"]
    asked = f"SELECT setting(scenario, '{path}') AS it FROM runs ORDER BY it"
    assert store.query(asked)["it"].tolist() == ["cubic", "newreno"]
    one = lasthop.run(
        lasthop.load(small).set("flow.0.congestion_control", "vegas").set("flow.1.congestion_control", "cubic"), seeds=1
    )
    seen = chart("sweep", [result, one], Options(x=f"{path}.kind"))
    assert list(seen.curves[0].x) == ["cubic", "cubic, vegas"]


def test_a_star_for_nothing_is_refused(command, small):
    done = command("run", small, "--set", "wall.*.loss=3 dB")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--set wall.*.loss=3 dB: * stands for every entry, and there is none of wall" in done.stderr
