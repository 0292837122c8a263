"""`lasthop sweep` and `lasthop.sweep`: axes, seeds until an interval is narrow enough, and what is written."""

from __future__ import annotations

import io

import lasthop
import pytest
from lasthop.data.confidence import estimate
from lasthop.study.axis import axis_values, short_names
from lasthop.study.sequential import FEWEST

COUNT = "station.0.count"


def refused(done, *words):
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,2, 4", [1, 2, 4]),
        ("0.5,1e3", [0.5, "1e3"]),
        ("5 ms,10 ms", ["5 ms", "10 ms"]),
        ("[1,2],[3,4]", ["[1,2]", "[3,4]"]),
        ("[[1,2],[3]],[]", ["[[1,2],[3]]", "[]"]),
        ('{ kind = "fifo", limit = "5 packets" },codel', ['{ kind = "fifo", limit = "5 packets" }', "codel"]),
        ("'a,b',\"c,]\"", ["'a,b'", '"c,]"']),
        ("true,false", ["true", "false"]),
    ],
)
def test_commas_in_brackets_or_quotes_do_not_separate(text, values):
    assert axis_values(text) == values


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "missing"),
        ("1,,2", "missing"),
        ("[1,2", "[ is not closed"),
        ("1],2", "] without its opening bracket"),
        ("[1}", "} without its opening bracket"),
        ("'a", "' is"),
    ],
)
def test_an_axis_that_does_not_end_is_refused(text, what):
    with pytest.raises(ValueError) as wrong:
        axis_values(text)
    assert what in str(wrong.value)


def test_a_table_among_the_values_has_a_short_name_unless_two_would_have_the_same():
    mine = '{kind = "python", file = "lab/mine.py", class = "Mine"}'
    values = ["cubic", mine, '{kind = "cubic", beta = 0.5}', '{kind = "c", library = "./a.so"}', "{beta = 0.5}", "{", 4]
    names = ["cubic", "mine.py:Mine", "cubic beta=0.5", "a.so", "{beta = 0.5}", "{", "4"]
    assert list(short_names(values).values()) == names
    twins = ['{kind = "c", library = "a/x.so"}', '{kind = "c", library = "b/x.so"}']
    assert list(short_names(twins).values()) == twins


def test_lists_are_values_of_an_axis(command, small):
    rates = 'bss.basic_rates=["1 Mbit/s"],["1 Mbit/s","2 Mbit/s"]'
    done = command("sweep", small, "--over", rates, "--over", f"{COUNT}=1,2", "--seeds", 1, "--csv", "-")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].startswith('"[""1 Mbit/s""]",1,1,')
    assert lines[4].startswith('"[""1 Mbit/s"",""2 Mbit/s""]",2,1,')


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--over", f"{COUNT}=1,1"), ("given twice",)),
        (("--over", f"{COUNT}=1", "--over", f"{COUNT}=2"), ("given twice",)),
        (("--over", f"{COUNT}=[1,2"), ("not closed",)),
        (("--over", COUNT), ("PATH=V1,V2",)),
        ((), ("nothing to sweep", "--over")),
        (("--over", f"{COUNT}=1", "--until", "2"), ("--until", "2%")),
        (("--over", f"{COUNT}=1", "--until", "0%"), ("--until",)),
        (("--over", f"{COUNT}=1", "--until", "2%", "--seed", "1"), ("--until", "--seed")),
        (("--over", f"{COUNT}=1", "--until", "2%", "--seeds", "3"), ("until", "3 were allowed")),
        (("--over", f"{COUNT}=1", "--address", "tcp://x:1"), ("--address", "--executor dask")),
        (("--over", f"{COUNT}=1", "--executor", "dask"), ("--address",)),
        (("--over", f"{COUNT}=1", "--executor", "dask", "--address", "x", "--jobs", "2"), ("--jobs",)),
        (("--over", f"{COUNT}=1", "--csv", "-", "--parquet", "-"), ("standard output",)),
        (("--over", f"{COUNT}=1", "--store", ""), ("--store",)),
        (("--over", f"{COUNT}=1", "--store", "."), ("directory",)),
    ],
)
def test_impossible_usage_is_one_sentence(small, capsys, monkeypatch, arguments, words):
    from lasthop import cli

    assert cli.main(["sweep", str(small), *arguments]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1), said.err
    for word in words:
        assert word in said.err
    assert [path.name for path in small.parent.iterdir()] == ["small.toml"]


def test_the_same_command_with_a_store_runs_nothing_and_writes_the_same(command, small):
    line = ("sweep", small, "--over", f"{COUNT}=1,2", "--seeds", 2, "--store", "runs.duckdb", "--csv", "-")
    first, second = command(*line), command(*line)
    assert first.returncode == second.returncode == 0, second.stderr
    assert "4 runs found, 0 run" in second.stderr
    assert first.stdout == second.stdout


def test_parquet_has_the_rows_of_the_csv(command, small):
    import pandas

    done = command("sweep", small, "--over", f"{COUNT}=1,2", "--seeds", 2, "--csv", "-", "--parquet", "rows.parquet")
    assert done.returncode == 0, done.stderr
    rows = pandas.read_csv(io.StringIO(done.stdout)).drop(columns="warnings")
    pandas.testing.assert_frame_equal(rows, pandas.read_parquet("rows.parquet"), check_dtype=False)


def test_seeds_are_added_until_each_point_is_known_well_enough(small):
    scenario = lasthop.load(small).set("duration", "3 s")
    store = lasthop.Store.in_memory()
    few = lasthop.sweep(scenario, {COUNT: [1, 3]}, until=0.5, store=store)
    assert few[COUNT].value_counts().to_dict() == {1: FEWEST, 3: FEWEST}, "what is wide is reached at the first look"
    table = lasthop.sweep(scenario, {COUNT: [1, 3]}, until=0.01, metrics=["medium.collision_probability"], store=store)
    for _, point in table.groupby(COUNT):
        values = point["medium.collision_probability"].tolist()
        assert point["seed"].tolist() == list(range(1, len(values) + 1))
        if len(values) < 200:
            reached = estimate(values, stopped=True)
            assert reached.half_width <= 0.01 * reached.mean
    assert len(table) > len(few)
    again = lasthop.sweep(scenario, {COUNT: [1, 3]}, until=0.01, metrics=["medium.collision_probability"], store=store)
    assert again.equals(table), "all of it was in the store"


def test_a_point_that_stays_too_wide_is_named(command, small):
    line = ("sweep", small, "--over", f"{COUNT}=1,2", "--until", "0.0001%", "--metric", "medium.collision_probability")
    done = command(*line, "--seeds", 12)
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if "not as narrow as requested" in line]
    assert [line.partition(": warning: ")[2].partition(":")[0] for line in told] == [f"{COUNT}=1", f"{COUNT}=2"]
    assert all("% after 12 seeds" in line for line in told)


def test_a_metric_that_no_run_has_ends_the_search_in_one_sentence(command, small):
    done = command("sweep", small, "--over", f"{COUNT}=1", "--until", "2%", "--metric", "totals.goodputs")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("lasthop: --metric totals.goodputs: no run has such a metric")


def test_named_metrics_are_columns(small):
    table = lasthop.sweep(lasthop.load(small), {COUNT: [1]}, seeds=1, metrics=["flows.*.rtt_mean_s"])
    assert "flows.sta.up.rtt_mean_s" in table or "flows.sta1.up.rtt_mean_s" in table


def test_metrics_of_the_command_line_are_columns(command, small):
    names = ("--metric", "flows.sta*.up.rtt_mean_s")
    done = command("sweep", small, "--over", f"{COUNT}=2", "--seeds", 2, *names, "--csv", "-")
    assert done.returncode == 0, done.stderr
    assert "flows.sta1.up.rtt_mean_s,flows.sta2.up.rtt_mean_s" in done.stdout.splitlines()[0]
    assert "flows.sta1.up.rtt_mean_s (ms)  flows.sta2.up.rtt_mean_s (ms)" in done.stderr


def test_a_table_becomes_an_array_with_axes_and_seeds_as_dimensions(small):
    pytest.importorskip("xarray", reason="lasthop[xarray] is not installed")
    over = {COUNT: [1, 2, 3], "tcp.congestion_control": ["newreno", "cubic"]}
    table = lasthop.sweep(lasthop.load(small), over, seeds=2)
    cube = table.to_xarray()
    assert dict(cube.sizes) == {COUNT: 3, "tcp.congestion_control": 2, "seed": 2}
    one = cube["totals.goodput_bps"].sel({COUNT: 2, "tcp.congestion_control": "cubic", "seed": 1})
    row = table[(table[COUNT] == 2) & (table["tcp.congestion_control"] == "cubic") & (table["seed"] == 1)]
    assert one == row["totals.goodput_bps"].item()
    chosen = table[table["tcp.congestion_control"] == "cubic"]
    assert dict(chosen.to_xarray().sizes) == {COUNT: 3, "tcp.congestion_control": 1, "seed": 2}


def test_warnings_of_a_point_are_headed_by_it(small):
    # A station out of range is a warning of the scenario.
    scenario = lasthop.load(small).set("channel.path_loss", "log_distance")
    table = lasthop.sweep(scenario, {"station.0.distance": ["10 m", "9 km"]}, seeds=1)
    assert table.attrs["warnings"]
    assert all(warning.startswith("station.0.distance=9 km: ") for warning in table.attrs["warnings"])


@pytest.mark.parametrize("seeds", [[1, 2, 3], 3])
def test_seeds_beside_until_are_the_most(small, seeds):
    with pytest.raises(ValueError, match="the largest number of seeds|3 were allowed"):
        lasthop.sweep(lasthop.load(small), {COUNT: [1]}, seeds, until=0.02)


def test_the_sweep_table_of_a_file_is_not_part_of_its_runs(small):
    scenario = lasthop.load(small)
    small.write_text(small.read_text() + f'\n[sweep]\n"{COUNT}" = [1, 2]\n')
    store = lasthop.Store.in_memory()
    assert store.key(lasthop.Job(lasthop.load(small), 1)) == store.key(lasthop.Job(scenario, 1))
    assert len(lasthop.sweep(lasthop.load(small), seeds=1)) == 2
