"""Plots of results and sweeps: each shows the numbers that are there, and says what is missing."""

from __future__ import annotations

import csv
import json
import re
import shlex
from dataclasses import replace
from math import isnan
from pathlib import Path

import lasthop
import numpy
import pandas
import pytest
from lasthop.data.arguments import on_command_line
from lasthop.data.confidence import estimate
from lasthop.views import plot
from lasthop.views.plot import Options
from lasthop.views.plot._quantity import quantity, setting
from lasthop.views.plot._sweep_table import SweepTable

ROOT = Path(__file__).resolve().parents[2]
OF_SWEEPS = ("heat_map", "sweep")
ROWS = """\
station.0.count,wired.delay,seed,totals.goodput_bps,medium.collision_probability
1,10 ms,1,4000000,0.01
1,10 ms,2,6000000,0.03
1,50 ms,1,3000000,0.02
10,10 ms,1,2000000,0.2
10,10 ms,2,2000000,
2,10 ms,1,1000000,0.1
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One upload, then two uploads and two downloads; read from their directories."""
    from conftest import SMALL

    folder = tmp_path_factory.mktemp("results")
    (folder / "small.toml").write_text(SMALL)
    for name, count, direction in (("one", 1, "up"), ("two", 2, "both")):
        scenario = lasthop.load(folder / "small.toml").set("station.0.count", count).set("flow.0.direction", direction)
        lasthop.run(scenario, seeds=3, interval_s=0.5, record="ppdu", progress=False).save(folder / name)
    return [lasthop.read(folder / name) for name in ("one", "two")]


MIXED = """\
name = "mixed"
duration = "3 s"
warmup = "1 s"
[bss]
standard = "802.11g"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[[station]]
name = "near"
[[station]]
name = "far"
[wired]
delay = "10 ms"
[[flow]]
direction = "both"
[[flow]]
name = "ping"
direction = "down"
traffic = { kind = "ping", interval = "50 ms" }
[[flow]]
name = "call"
station = "far"
direction = "down"
traffic = "voip"
"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Streams both ways, pings and a call, through a FIFO and through FQ-CoDel; read from their directories."""
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "mixed.toml").write_text(MIXED)
    for queue in ("fifo", "fq_codel"):
        scenario = lasthop.load(folder / "mixed.toml").set("bss.ap.queue", queue)
        lasthop.run(scenario, seeds=2, interval_s=0.1, progress=False).save(folder / queue)
    return [lasthop.read(folder / queue) for queue in ("fifo", "fq_codel")]


@pytest.fixture
def points(tmp_path, monkeypatch):
    """A small sweep as a file: points.csv."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.csv").write_text(ROWS)
    return tmp_path / "points.csv"


def table() -> SweepTable:
    """The sweep in points.csv."""
    return plot.read_sweep("points.csv")


@pytest.mark.parametrize("kind", [kind for kind in plot.kinds() if kind not in OF_SWEEPS])
def test_a_plot_draws_its_data(results, tmp_path, kind):
    for sources in (results[:1], results):
        data = plot.chart(kind, sources)
        plot.write(data, tmp_path / "data.csv")
        assert (tmp_path / "data.csv").read_text() == plot.csv_text(data)
        assert data.title and data.y_label and not data.is_empty


def test_the_air_is_every_ppdu_of_its_time_in_the_row_of_its_sender(results):
    data = plot.chart("air", results[1:], Options(x_min=500, x_max=560))
    table = results[1].recording("ppdu", results[1].seeds[0]).to_pandas()
    shown = table[(table.start_ns + table.duration_ns > 500e6) & (table.start_ns < 560e6)]
    spans = sorted(
        (row, low, high) for curve in data.curves for row, low, high in zip(curve.x, curve.low, curve.high, strict=True)
    )
    expected = zip(shown.node, shown.start_ns / 1e6, (shown.start_ns + shown.duration_ns) / 1e6, strict=True)
    assert spans == sorted((node, max(low, 500), min(high, 560)) for node, low, high in expected) and len(spans) > 20
    # Without noise, a frame of 802.11b is lost whole, to a collision.
    lost = [curve for curve in data.curves if curve.label.startswith("lost")]
    assert sum(len(curve.x) for curve in lost) == (shown.decoded == 0).sum() and {curve.label for curve in lost} <= {
        "lost to a collision"
    }
    assert data.rows == ("ap", "sta1", "sta2")


def test_the_air_is_20_ms_long_though_few_ppdus_are_in_them(results):
    low, high = plot.chart("air", results[1:]).x_limits
    assert high - low == pytest.approx(20)
    assert plot.chart("air", results[1:], Options(x_min=500)).x_limits == (500, 520)


def test_the_air_shows_the_selected_nodes(results):
    data = plot.chart("air", results[1:], Options(node="sta*"))
    assert data.rows == ("sta1", "sta2") and {node for curve in data.curves for node in curve.x} <= {"sta1", "sta2"}
    with pytest.raises(LookupError, match="no PPDU between 90000 and 90020 ms"):
        plot.chart("air", results[1:], Options(x_min=90_000))


def test_goodput_by_station_adds_up_its_flows(results):
    up, down = plot.chart("stations", results[1:]).curves
    assert (up.label, down.label, list(up.x)) == ("up", "down", ["sta1", "sta2"])
    expected = results[1].summary["flows.sta2.down.goodput_bps"]
    assert down.mean[1] == pytest.approx(expected["mean"] / 1e6)
    assert down.low[1] == pytest.approx(expected["ci95_low"] / 1e6)


def test_goodput_by_flow_and_jain_are_those_of_the_summary(results):
    (flows,) = plot.chart("goodput", results[1:]).curves
    summary = results[1].summary
    assert flows.mean == pytest.approx([summary[f"flows.{flow}.goodput_bps"]["mean"] / 1e6 for flow in flows.x])
    curves = {curve.label: curve for curve in plot.chart("jain", results[1:]).curves}
    assert curves["downloads"].mean == pytest.approx([summary["totals.jain_index_down"]["mean"]])
    assert [curve.label for curve in plot.chart("jain", results[:1]).curves] == ["all flows"]


def test_airtime_stacks_every_node_of_every_result(results):
    curves = plot.chart("airtime", results).curves
    assert [curve.label for curve in curves] == ["ap", "sta1", "sta2"]
    assert isnan(curves[2].mean[0]), "one result has no second station"
    assert curves[0].mean[1] == pytest.approx(100 * results[1].summary["nodes.ap.airtime_fraction"]["mean"])


def test_goodput_over_time_is_the_sum_of_the_flows(results):
    (line,) = plot.chart("goodput_over_time", results[1:]).curves
    series = results[1].timeseries
    at = series[(series["metric"] == "goodput_bps") & (series["time_s"] == 2.0)]
    expected = estimate(at.groupby("seed")["value"].sum().tolist()).scaled(1e-6)
    assert (line.mean[-1], line.low[-1]) == pytest.approx((expected.mean, expected.ci95_low))


def test_several_results_over_time_have_panels(results):
    data = plot.chart("cwnd", results)
    assert data.panels == ["one", "two"] and len(data.curves) == 5
    assert plot.chart("time_series", results, Options(metric="data_rate_bps")).y_label == "PHY rate (Mbit/s)"


def test_distribution_of_latency_goes_through_the_quantiles(results):
    (line,) = plot.chart("latency_cdf", results[:1]).curves
    run = results[0].runs[0]
    assert len(run["quantile_probabilities"]) == len(run["flows"][0]["rtt_quantiles_s"])
    medians = [run["flows"][0]["rtt_p50_s"] * 1e3 for run in results[0].runs]
    at_median = [share for x, share in zip(line.x, line.mean, strict=True) if min(medians) <= x <= max(medians)]
    assert all(0.2 < share < 0.8 for share in at_median)
    assert line.mean == sorted(line.mean) and line.mean[-1] > 0.98
    assert {curve.label for curve in plot.chart("latency_cdf", results).curves} == {"one", "two"}
    links = plot.chart("latency_cdf", results[:1], Options(metric="link_delay"))
    assert [curve.label for curve in links.curves] == ["sta1->ap", "ap->sta1"]


def test_stored_quantiles_agree_with_the_single_ones(results):
    for run in results[1].runs:
        at = run["quantile_probabilities"].index
        for flow in run["flows"]:
            values = flow["rtt_quantiles_s"]
            assert values == sorted(values)
            # Written in whole nanoseconds.
            assert values[at(0.95)] == pytest.approx(flow["rtt_p95_s"], abs=1e-9)
        for link in run["links"]:
            assert link["delay_quantiles_s"][at(0.5)] == pytest.approx(link["delay_p50_s"], abs=1e-9)
    assert not [name for name in results[1].summary if "quantile" in name]
    assert results[1].flows["rtt_quantiles_s"].map(len).eq(25).all()


def test_latency_and_goodput_have_intervals_both_ways(results):
    one, _ = plot.chart("latency_throughput", results).curves
    summary = results[0].summary
    assert (one.x[0], one.x_low[0]) == pytest.approx(
        tuple(1e3 * summary["flows.sta1.up.rtt_p95_s"][key] for key in ("mean", "ci95_low"))
    )
    assert one.mean[0] == pytest.approx(summary["totals.goodput_bps"]["mean"] / 1e6)
    assert [curve.label for curve in plot.chart("latency_throughput", results[1:]).curves] == [
        "sta1.up",
        "sta1.down",
        "sta2.up",
        "sta2.down",
    ]


def test_a_result_without_quantiles_is_an_error(results):
    document = json.loads(results[0].to_json())
    for run in document["runs"]:
        for row in (*run["flows"], *run["links"]):
            row.pop("rtt_quantiles_s", None), row.pop("delay_quantiles_s", None)
    with pytest.raises(LookupError, match="small: .*older lasthop"):
        plot.chart("latency_cdf", [lasthop.Result(document)])


def test_lines_of_a_sweep_have_means_and_intervals_of_the_seeds(points):
    data = plot.chart("sweep", [table()], Options(x="station.0.count"))
    ten, fifty = data.curves
    assert (data.x_label, data.legend_title) == ("stations", "wired delay")
    assert (ten.label, fifty.label) == ("10 ms", "50 ms")
    assert (
        plot.chart("sweep", [table()], Options(x="station.0.count", label={"wired delay": "delay"})).legend_title
        == "delay"
    )
    assert (list(ten.x), list(ten.mean)) == ([1, 2, 10], [5.0, 1.0, 2.0]), "numbers in order, Mbit/s"
    # 4 and 6: the standard error is 1, t at 97.5 % with one degree of freedom 12.706.
    assert (ten.low[0], ten.high[0]) == pytest.approx((5 - 12.7062, 5 + 12.7062), abs=1e-3)
    assert isnan(ten.low[1]), "one seed says nothing of the spread"
    assert (list(fifty.x), fifty.low) == ([1], None)


def test_quantities_with_one_unit_are_numbers_on_the_axis(points):
    data = plot.chart("sweep", [table()], Options(x="wired.delay", only={"station.0.count": "1"}))
    assert (data.kind, data.x_label, list(data.curves[0].x)) == ("lines", "wired delay (ms)", [10.0, 50.0])
    mixed = points.read_text().replace("50 ms", "1 s")
    points.write_text(mixed)
    data = plot.chart("sweep", [table()], Options(x="wired.delay", only={"station.0.count": "1"}))
    assert (data.kind, list(data.curves[0].x)) == ("bars", ["10 ms", "1 s"]), "words stand as bars"


def test_heat_map_has_a_row_for_each_value_and_holes_for_missing_runs(points):
    data = plot.chart("heat_map", [table()], Options(metric="medium.collision_probability"))
    assert (data.x_label, data.y_label, data.value_label) == (
        "stations",
        "wired delay (ms)",
        "collision probability",
    )
    assert [(row.label, list(row.x)) for row in data.curves] == [("10", [1, 2, 10]), ("50", [1])]
    assert data.curves[0].mean == pytest.approx([0.02, 0.1, 0.2]), "an empty cell is not a number"


def test_parquet_reads_as_csv_does(points):
    pandas.read_csv(points).to_parquet("points.parquet")
    assert plot.chart("heat_map", [plot.read_sweep("points.parquet")]) == plot.chart("heat_map", [table()])


def test_several_results_are_a_sweep_of_their_differences(results):
    (line,) = plot.chart("sweep", results, Options(x="station.0.count", metric="flows.sta1.up.rtt_mean_s")).curves
    means = [1e3 * result.summary["flows.sta1.up.rtt_mean_s"]["mean"] for result in results]
    assert (list(line.x), line.mean) == ([1, 2], pytest.approx(means))
    with pytest.raises(LookupError, match="several runs have bss.channel=1, seed=1"):
        plot.chart("sweep", results, Options(x="bss.channel"))


def test_a_store_is_a_sweep_of_the_requested_settings(small):
    from lasthop import Job, Store, complete
    from lasthop.study.design import wanted
    from lasthop.study.sweep import grid

    scenario = lasthop.load(small).set("duration", "1 s")
    points = grid(scenario, wanted(scenario, {"station.0.count": [1, 2], "wired.delay": ["10 ms", "20 ms"]}))
    store = Store.open("runs.duckdb")
    complete([Job(scenario, seed) for _, scenario in points for seed in (1, 2)], store)
    assert plot.is_store("runs.duckdb") and not plot.is_store(small)
    source, options = plot.StoredRuns("runs.duckdb"), Options(x="station.0.count", by="wired.delay")
    assert [(row.label, list(row.x)) for row in plot.chart("heat_map", [source], options).curves] == [
        ("10", [1, 2]),
        ("20", [1, 2]),
    ]
    runs = [store.run(Job(scenario, seed)) for point, scenario in points[:1] for seed in (1, 2)]
    line = plot.chart("sweep", [source], options).curves[0]
    assert line.mean[0] == pytest.approx(sum(run["totals"]["goodput_bps"] for run in runs) / 2e6)
    of_flow = plot.chart(
        "sweep", [source], Options(x="station.0.count", by="wired.delay", metric="flows.sta2.up.rtt_p95_s")
    )
    assert isnan(of_flow.curves[0].mean[0]), "with one station there is no sta2"
    with pytest.raises(LookupError, match="several runs have station.0.count=1, seed=1"):
        plot.chart("sweep", [source], Options(x="station.0.count"))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("points.csv --kind cwnd", ["points.csv", "sweep", "lasthop run"]),
        ("points.csv --kind sweep --metric totals.colour", ["totals.colour", "totals.goodput_bps"]),
        ("points.csv --kind sweep --x colour", ["colour", "station.0.count"]),
        ("points.csv --kind sweep --only wired.delay=3", ["3", "10 ms, 50 ms"]),
        ("points.csv --kind sweep --only wired.delay", ["PATH=VALUE"]),
        ("points.csv --kind heat_map --only station.0.count=1", ["wired.delay", "--kind sweep"]),
        ("points.csv points.csv --kind sweep", ["one sweep at a time"]),
        ("three.csv --kind sweep", ["flow.0.size", "--only flow.0.size=1 MB"]),
        ("twice.csv --kind sweep", ["several runs", "station.0.count=1", "seed=1"]),
        ("none.csv --kind sweep", ["none.csv", "seed"]),
        ("broken.parquet --kind sweep", ["broken.parquet", "not a table"]),
        ("absent.csv --kind sweep", ["absent.csv"]),
        ("absent.duckdb --kind sweep --x a", ["absent.duckdb"]),
        ("points.csv --kind heat_map --log-x", ["--log-x", "sweep"]),
        ("points.csv --kind goodput --x a", ["--x", "heat_map, sweep"]),
        ("points.csv --kind sweep --flow a", ["--flow", "no effect", "latency_cdf"]),
        ("points.csv --kind heat_map --y-max 3", ["--y-max", "no effect", "sweep"]),
        ("points.csv --kind sweep --y-min 3 --y-max 3", ["--y-min 3", "--y-max 3"]),
        ("points.csv --kind sweep --log-y --y-min 0", ["--log-y", "0"]),
        ("points.csv --kind sweep --legend above", ["above", "below, right, inside, none"]),
        ("points.csv --kind sweep --size 3", ["'3' is not a size", "7x3"]),
        ("points.csv --kind sweep --size 300x300", ["--size 300x300", "1.5 to 40 inches"]),
    ],
)
def test_an_impossible_plot_is_one_sentence(command, points, line, words):
    rows = points.read_text()
    with open("three.csv", "w") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "flow.0.size", "seed", "totals.goodput_bps"])
        writer.writerows([[a, b, size, 1, 5] for a in (1, 2) for b in (1, 2) for size in ("1 MB", "2 MB")])
    (points.parent / "twice.csv").write_text(rows + "1,10 ms,1,5,0.1\n")
    (points.parent / "none.csv").write_text("a,b\n1,2\n")
    (points.parent / "broken.parquet").write_text("PAR1")
    done = command("plot", *line.split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert all(word in done.stderr for word in words), done.stderr


def test_command_draws_a_sweep_with_a_title_of_ones_own_and_its_data(command, points):
    options = [
        "--kind",
        "sweep",
        "--metric",
        "totals.goodput_bps",
        "--by",
        "wired.delay",
        "--log-x",
        "--title",
        "Fewer is more",
    ]
    for out, begins in (("a.pdf", b"%PDF"), ("a.svg", b"<?xml"), ("a.csv", b"curve,x,mean")):
        done = command("plot", points, *options, "--out", out)
        assert done.returncode == 0, done.stderr
        assert (points.parent / out).read_bytes().startswith(begins)
    assert b"Fewer is more" not in (points.parent / "a.csv").read_bytes()


def test_examples_of_the_documentation_run_and_show_every_kind(tmp_path, monkeypatch, capsys):
    from lasthop.cli import build_parser

    text = (ROOT / "docs/plots.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert set(re.findall(r"--kind ([a-z_]+)", text)) == set(plot.kinds())
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    parser = build_parser()
    for line in lines:
        short = (
            line.replace("duration=15 s", "duration=2 s")
            .replace("duration=20 s", "duration=2 s")
            .replace("warmup=5 s", "warmup=500 ms")
        )
        arguments = parser.parse_args(shlex.split(short)[1:])
        assert arguments.execute(arguments) == 0, (line, capsys.readouterr().err)
        if getattr(arguments, "out", None):
            assert (tmp_path / arguments.out).exists()
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(example, "docs/plots.md", "exec"), {})
    assert (tmp_path / "near-and-far.csv").read_text().count("\n") == 7


@pytest.mark.parametrize(
    ("metric", "label", "scale"),
    [
        ("totals.goodput_bps", "goodput (Mbit/s)", 1e-6),
        ("totals.jain_index_up", "Jain's index, up", 1.0),
        ("medium.busy_fraction", "medium busy (%)", 100.0),
        ("flows.sta1.up.rtt_p95_s", "sta1.up: RTT, 95th percentile (ms)", 1e3),
        ("flows.sta1.up.completion_time_s", "sta1.up: completion time (s)", 1.0),
        ("nodes.ap.queue_drops_tcp_ack", "ap: queue drops, TCP ACKs (packets)", 1.0),
    ],
)
def test_metrics_are_spoken_of_in_their_units(metric, label, scale):
    assert quantity(metric)[:2] == (label, scale)


def test_shares_have_a_most_in_the_unit_shown():
    assert quantity("medium.busy_fraction").most == 100
    assert quantity("totals.jain_index").most == quantity("medium.collision_probability").most == 1
    assert quantity("totals.goodput_bps").most is None


def rows_of(data: plot.Chart) -> list[dict[str, str]]:
    """The CSV of a plot."""
    return list(csv.DictReader(plot.csv_text(data).splitlines()))


def share_below(result: lasthop.Result, flows: list[str], x_ms: float) -> float:
    """The mean over seeds and flows of the share of round trips up to `x_ms`, from the quantiles in the result."""
    table = result.flows[result.flows["id"].isin(flows)]
    probabilities = result.runs[0]["quantile_probabilities"]
    shares = [numpy.interp(x_ms / 1e3, quantiles, probabilities, left=0.0) for quantiles in table["rtt_quantiles_s"]]
    return float(numpy.mean(shares))


def test_round_trips_of_pings_alone_of_two_queues(mixed):
    data = plot.chart("latency_cdf", mixed, Options(traffic="ping"))
    assert [curve.label for curve in data.curves] == ["fifo", "fq_codel"] and data.title.endswith("; traffic ping")
    for row in rows_of(data)[::37]:
        result = mixed[["fifo", "fq_codel"].index(row["curve"])]
        assert float(row["mean"]) == pytest.approx(share_below(result, ["near.ping", "far.ping"], float(row["x"])))


def test_latency_has_a_line_for_each_result_and_kind_of_traffic(mixed):
    data = plot.chart("latency_cdf", mixed)
    of_panel = {panel: [curve.label for curve in data.curves if curve.panel == panel] for panel in data.panels}
    assert of_panel == {
        "RTT": ["fifo, bulk", "fifo, ping", "fq_codel, bulk", "fq_codel, ping"],
        "one-way delay": ["fifo, voip", "fq_codel, voip"],
    }
    assert data.remarks == () and data.x_label == "latency (ms)"
    kinds = plot.chart("latency_cdf", mixed[:1], Options(by="traffic", metric="rtt"))
    assert [curve.label for curve in kinds.curves] == ["bulk", "ping"]
    assert kinds.remarks == ("Not shown: 1 flow of voip: no RTT.",)
    bulk = [f"{station}.{way}" for station in ("near", "far") for way in ("up", "down")]
    row = rows_of(kinds)[100]
    assert float(row["mean"]) == pytest.approx(share_below(mixed[0], bulk, float(row["x"])))
    whole = plot.chart("latency_cdf", mixed, Options(by="result"))
    assert [curve.label for curve in whole.curves if curve.panel == "RTT"] == ["fifo", "fq_codel"]
    calls = plot.chart("latency_cdf", mixed, Options(metric="delay", flow="*.call"))
    assert [curve.label for curve in calls.curves] == ["fifo", "fq_codel"]


def test_flows_that_were_chosen_are_those_that_are_shown(mixed):
    one = mixed[:1]
    assert [curve.label for curve in plot.chart("cwnd", one, Options(flow=["far.*"])).curves] == ["far.up", "far.down"]
    assert list(plot.chart("goodput", one, Options(traffic="voip")).curves[0].x) == ["far.call"]
    assert [curve.label for curve in plot.chart("queue", one, Options(node="ap")).curves] == ["ap"]
    assert [curve.label for curve in plot.chart("airtime", one, Options(node=["n*", "ap"])).curves] == ["ap", "near"]
    (line,) = plot.chart("goodput_over_time", one, Options(flow="*.up")).curves
    series = one[0].timeseries
    ups = series[(series["metric"] == "goodput_bps") & series["entity"].isin(["near.up", "far.up"])]
    at = ups[ups["time_s"] == ups["time_s"].iloc[-1]].groupby("seed")["value"].sum()
    assert line.mean[-1] == pytest.approx(at.mean() / 1e6)
    (up,) = plot.chart("stations", one, Options(node="far", flow="*.up")).curves
    assert up.mean == pytest.approx([one[0].summary["flows.far.up.goodput_bps"]["mean"] / 1e6])
    links = plot.chart("time_series", one, Options(metric="data_rate_bps", node="far"))
    assert {curve.label for curve in links.curves} == {"far->ap", "ap->far"}


def test_fairness_of_chosen_flows_is_of_their_goodputs(mixed):
    curves = plot.chart("jain", mixed[:1], Options(traffic="bulk")).curves
    expected = []
    for run in mixed[0].runs:
        x = [flow["goodput_bps"] for flow in run["flows"] if flow["traffic"] == "bulk"]
        expected.append(sum(x) ** 2 / (len(x) * sum(value**2 for value in x)))
    assert curves[0].mean == pytest.approx([sum(expected) / 2])
    # For all flows it is the engine's own, and the two ways agree.
    whole = plot.chart("jain", mixed[:1]).curves[0].mean
    again = plot.chart("jain", mixed[:1], Options(flow=["*.up", "*.down", "*.call"])).curves[0].mean
    assert again == pytest.approx(whole)


def test_download_upload_and_ping_share_an_axis_of_time(mixed):
    data = plot.chart("combined", mixed)
    assert data.panels == ["download", "upload", "ping"] and data.y_labels["ping"] == "RTT (ms)"
    rows = {(row["curve"], row["panel"], float(row["x"])): row for row in rows_of(data)}
    series = mixed[1].timeseries
    last = series["time_s"].max()
    now = series[series["time_s"] == last]
    for panel, metric, flows, scale, how in (
        ("download", "goodput_bps", ["near.down", "far.down", "far.call"], 1e-6, "sum"),
        ("upload", "goodput_bps", ["near.up", "far.up"], 1e-6, "sum"),
        ("ping", "rtt_s", ["near.ping", "far.ping"], 1e3, "mean"),
    ):
        values = now[(now["metric"] == metric) & now["entity"].isin(flows)].groupby("seed")["value"].agg(how)
        assert float(rows["fq_codel", panel, last]["mean"]) == pytest.approx(scale * values.mean())
    each = plot.chart("combined", mixed[:1], Options(by="flow", flow=["near.*"]))
    assert [(curve.panel, curve.label) for curve in each.curves] == [
        ("download", "near.down"),
        ("upload", "near.up"),
        ("ping", "near.ping"),
    ]


def test_boxes_hold_the_samples_after_the_warm_up(mixed):
    rows = {(row["curve"], row["panel"]): row for row in rows_of(plot.chart("box", mixed))}
    series = mixed[0].timeseries
    # An interval that ends at 1 s is part of the warm-up, the one that ends at 1.1 s is the first after it.
    after = series[series["time_s"] > 1.05]
    pings = 1e3 * after[(after["metric"] == "rtt_s") & after["entity"].isin(["near.ping", "far.ping"])]["value"]
    names = {"whisker_low": 0.05, "quartile_low": 0.25, "median": 0.5, "quartile_high": 0.75, "whisker_high": 0.95}
    for name, share in names.items():
        assert float(rows["fifo", "ping"][name]) == pytest.approx(pings.quantile(share)), name
    ups = after[(after["metric"] == "goodput_bps") & after["entity"].isin(["near.up", "far.up"])]
    sums = ups.groupby(["seed", "time_s"])["value"].sum() / 1e6
    assert float(rows["fifo", "upload"]["median"]) == pytest.approx(sums.median())


def test_boxes_of_a_metric_are_of_its_series_or_of_the_seeds(mixed):
    over_time = rows_of(plot.chart("box", mixed, Options(metric="rtt_s", traffic="ping")))
    assert [(row["curve"], row["x"]) for row in over_time] == [
        (queue, flow) for queue in ("fifo", "fq_codel") for flow in ("near.ping", "far.ping")
    ]
    data = plot.chart("box", mixed, Options(metric="rtt_p95_s", flow="near.ping"))
    (seeds, _) = rows_of(data)
    table = mixed[0].flows
    assert float(seeds["median"]) == pytest.approx(1e3 * table[table["id"] == "near.ping"]["rtt_p95_s"].median())
    assert "samples over time" not in data.title and "2 seeds" in data.title


def test_flows_without_goodput_have_no_bar_and_are_named(mixed):
    data = plot.chart("goodput", mixed)
    assert not [name for curve in data.curves for name in curve.x if "ping" in name]
    assert data.remarks == ("Not shown: 2 flows of ping: no goodput.",) and "ping" not in data.title
    assert plot.chart("stations", mixed).remarks == data.remarks
    assert rows_of(data)[0]["remarks"] == data.remarks[0]


def test_every_plot_of_flows_names_the_traffic_that_it_leaves_out(mixed):
    left_out = {
        kind: plot.chart(kind, mixed[:1]).remarks for kind in ("cwnd", "rtt", "jain", "combined", "box", "airtime")
    }
    assert left_out == {
        "cwnd": ("Not shown: 2 flows of ping and 1 of voip: no congestion window over time.",),
        "rtt": ("Not shown: 1 flow of voip: no RTT over time.",),
        "jain": ("Not shown: 2 flows of ping: no goodput.",),
        "combined": (
            "Latency not shown: 1 flow of voip: delays have no time series; the plots box and latency_cdf show them.",
        ),
        "box": (),
        "airtime": (),
    }


def test_titles_of_panels_name_those_that_are_drawn(mixed):
    assert "Goodput of all downloads and all uploads, latency of ping, mean" in plot.chart("combined", mixed).title
    (only,) = {plot.chart("combined", mixed[:1], Options(flow="near.down")).title.partition(",")[0]}
    assert only.endswith("goodput of all downloads")


def test_the_box_of_a_call_has_the_quantiles_of_its_delays(mixed):
    (row,) = [row for row in rows_of(plot.chart("box", mixed[:1])) if row["panel"] == "calls"]
    runs = [
        (run["quantile_probabilities"], flow)
        for run in mixed[0].runs
        for flow in run["flows"]
        if flow["id"] == "far.call"
    ]
    medians = [numpy.interp(0.5, probabilities, flow["delay_quantiles_s"]) for probabilities, flow in runs]
    assert float(row["median"]) == pytest.approx(1e3 * numpy.mean(medians))
    assert float(row["median"]) == pytest.approx(
        1e3 * mixed[0].summary["flows.far.call.delay_p50_s"]["mean"], rel=1 / 16
    )


def test_titles_name_a_single_seed_and_call_bands_pointwise(results, mixed):
    assert "pointwise 95" in plot.chart("goodput_over_time", results).title
    alone = json.loads(results[0].to_json())
    alone["runs"] = [alone["runs"][1]]
    assert plot.chart("goodput", [lasthop.Result(alone)]).title.endswith("seed 2")
    assert plot.chart("cwnd", results).title.endswith("seed 1")


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("cwnd", {"flow": "far.pong"}, ["no flow matches 'far.pong'", "far.ping"]),
        ("queue", {"node": "a"}, ["no node matches 'a'", "ap"]),
        ("latency_cdf", {"traffic": "pings"}, ["no traffic matches 'pings'", "ping"]),
        ("latency_cdf", {"traffic": "ping", "flow": "*.up"}, ["no flow", "traffic is: bulk"]),
        ("latency_cdf", {"by": "colour"}, ["--by colour", "flow, traffic, result"]),
        ("latency_cdf", {"node": "ap"}, ["--node", "of flows"]),
        ("latency_cdf", {"flow": "*", "metric": "link_delay"}, ["--flow", "of links"]),
        ("time_series", {"flow": "*", "metric": "queue_packets"}, ["--flow", "--node"]),
        ("time_series", {"node": "*", "metric": "cwnd_segments"}, ["--node", "--flow"]),
        ("box", {"y_max": 3.0}, ["--y-max", "--metric"]),
        ("box", {"metric": "rtt_p95"}, ["--metric rtt_p95", "did you mean", "rtt_p95_s"]),
        ("combined", {"y_label": "rate"}, ["--y-label", "no effect"]),
        ("goodput_over_time", {"traffic": "ping"}, ["ping delivers nothing"]),
    ],
)
def test_an_impossible_selection_is_one_sentence(mixed, kind, options, words):
    with pytest.raises((LookupError, ValueError)) as caught:
        plot.chart(kind, mixed, Options(**options))
    assert all(word in on_command_line(caught.value) for word in words), caught.value


def test_python_takes_the_options_of_the_command(mixed, tmp_path):
    figure = mixed[0].plot("time_series", tmp_path / "a.csv", metric="rtt_s", flow="*.ping", title="Mine", size=(6, 2))
    assert figure.get_suptitle() == "Mine" and tuple(figure.get_size_inches()) == (6, 2)
    assert {row["curve"] for row in csv.DictReader((tmp_path / "a.csv").open())} == {"near.ping", "far.ping"}
    with pytest.raises(TypeError, match="no option 'colour'"):
        mixed[0].plot("cwnd", colour="red")


def test_options_of_the_command_line_set_the_appearance(mixed, command, tmp_path):
    line = ["plot", mixed[0].source, "--kind", "rtt", "--flow", "near.*", "--y-label", "delay", "--x-label", "t"]
    out = tmp_path / "a.svg"
    more = ["--log-y", "--y-min", "1", "--y-max", "1000", "--legend", "right", "--size", "12x6cm", "--out", out]
    done = command(*line, *more)
    assert done.returncode == 0, done.stderr
    # SVG is in points, 72 to the inch: 12 cm and 6 cm.
    width, height = re.search(r'width="([0-9.]+)pt" height="([0-9.]+)pt"', out.read_text()).groups()
    assert (float(width), float(height)) == pytest.approx((12 / 2.54 * 72, 6 / 2.54 * 72), abs=0.01)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("station.0.count", "stations"),
        ("wired.delay", "wired delay"),
        ("bss.ap.queue.kind", "queue of the AP"),
        ("flow.0.congestion_control", "congestion control"),
        ("bss.rts_threshold", "RTS threshold"),
        ("tcp.initial_window", "initial window"),
    ],
)
def test_settings_are_spoken_of_in_words(path, words):
    assert setting(path) == words
    assert setting("station.0.count", ["station.0.count", "station.1.count"]) == "stations (station.0.count)"


def test_names_on_an_axis_keep_the_order_of_the_sweep(points):
    points.write_text("tcp.congestion_control,seed,totals.goodput_bps\nreno,1,1\ncubic,1,2\nbbr,1,3\n")
    assert list(plot.chart("sweep", [table()]).curves[0].x) == ["reno", "cubic", "bbr"]


def test_requested_limits_and_names_apply(results, points):
    first, second = (result for result in results[:2])
    options = Options(x_min=0.5, x_max=1.5, label={"sta1.up": "near"})
    seen = plot.chart("cwnd", [first], options)
    assert seen.x_limits == (0.5, 1.5) and "near" in {curve.label for curve in seen.curves}
    with plot.new_figure() as figure:
        plot.draw_chart(seen, figure)
        assert figure.axes[0].get_xlim() == (0.5, 1.5)
    for wrong, words in (
        (Options(label={"nobody": "x"}), "no such name; the chart has: "),
        (Options(x_min=2, x_max=1), "x_min 2 is not below x_max 1"),
        (Options(y_max=float("inf")), "y_max inf: the limits of an axis must be numbers"),
    ):
        with pytest.raises((LookupError, ValueError), match=words):
            plot.chart("cwnd", [first], wrong)
    with pytest.raises(ValueError, match="x_min has no effect on plot goodput"):
        plot.chart("goodput", [second], Options(x_min=1))


def test_the_table_of_a_sweep_is_drawn_as_its_file_is(small, tmp_path):
    table = lasthop.sweep(str(small), over={"station.0.count": [1, 2]}, seeds=2)
    table.to_csv(tmp_path / "points.csv", index=False)
    of_file = plot.chart("sweep", [plot.read_sweep(tmp_path / "points.csv")])
    of_table = plot.chart("sweep", [table])
    assert replace(of_table, notes=()) == of_file and of_table.notes == tuple(table.attrs["warnings"])
    assert [list(curve.x) for curve in of_file.curves] == [[1, 2]]
