"""Arguments of the package that are wrong: one sentence that names the argument, and the right kind of exception."""

from __future__ import annotations

from pathlib import Path

import lasthop
import numpy
import pytest

COUNT = "station.0.count"
TEXT = 'duration = "1 s"\n[bss]\nstandard = "802.11b"\n'


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    file = tmp_path_factory.mktemp("given") / "s.toml"
    file.write_text(
        'name = "s"\nduration = "0.5 s"\n[bss]\nstandard = "802.11b"\n[[station]]\n[[flow]]\ndirection = "up"\n'
    )
    return lasthop.run(lasthop.load(file), seeds=2)


def refusal(kind, call):
    """The sentence with which `call` is refused."""
    with pytest.raises(kind) as wrong:
        call()
    said = wrong.value.args[0]
    assert "\n" not in said
    return said


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"seeds": 2.0}, TypeError, "seeds: how many is needed, a whole number, or a list of them, not 2.0"),
        ({"seeds": "12"}, TypeError, "seeds: how many is needed"),
        ({"seeds": True}, TypeError, "seeds: how many is needed"),
        ({"seeds": [1.5]}, TypeError, "seeds: each seed is needed, a whole number, not 1.5"),
        ({"seeds": [None]}, TypeError, "not None"),
        ({"seeds": 10**30}, ValueError, "a list of the seeds themselves"),
        ({"seeds": 0}, ValueError, "at least one"),
        ({"jobs": "2"}, TypeError, "jobs: how many threads"),
        ({"jobs": 0}, ValueError, "jobs: 0 threads"),
        ({"interval_s": "1 s"}, TypeError, "interval_s: a number of seconds, such as 0.5, is needed, not '1 s'"),
        ({"interval_s": float("nan")}, ValueError, "interval_s: "),
        ({"until": "2%"}, TypeError, "until: a share of the mean, such as 0.02 for 2 %, is needed, not '2%'"),
        ({"until": 2}, ValueError, "until: 2 is not a share"),
        ({"until": 0.1, "metrics": ["nonsense"]}, ValueError, "nonsense: no run has such a metric"),
        ({"until": 0.1, "metrics": [3]}, TypeError, "metrics: the name of a metric"),
        ({"metrics": ["nodes.ap.queue_drops"]}, ValueError, "metrics: have no effect without until"),
        ({"record": 3}, TypeError, "record: the name of a table"),
        ({"record": "air", "record_from_s": "1 s"}, TypeError, "record_from_s: a number of seconds"),
        ({"pcap": 3}, TypeError, "pcap: the name of a directory"),
        ({"pcap": "x", "pcap_snap": "9"}, TypeError, "pcap_snap: a number of bytes"),
    ],
)
def test_wrong_arguments_of_run_are_one_sentence(small, arguments, kind, words):
    assert words in refusal(kind, lambda: lasthop.run(small, **arguments))
    assert not (small.parent / "x").exists()


def test_numbers_of_numpy_are_numbers(small):
    result = lasthop.run(small, seeds=numpy.int64(2), jobs=numpy.int32(1), interval_s=numpy.float64(0.5))
    assert result.seeds == [1, 2]
    assert lasthop.run(small, seeds=numpy.arange(3, 5)).seeds == [3, 4]
    scenario = lasthop.load(small).set(
        "channel.error_model", {"kind": "fixed", "frame_error_rate": numpy.float64(0.25)}
    )
    assert scenario.settings[-1][1] == '{ "kind" = "fixed", "frame_error_rate" = 0.25 }'
    assert scenario.set(COUNT, numpy.int64(3)).to_dict()["station"][0]["count"] == 3
    assert scenario.set("tcp.sack", numpy.bool_(True)).to_dict()["tcp"]["sack"] is True
    waypoint = scenario.set("station.0.position", numpy.array(["1 m", "2 m"])).settings[-1][1]
    assert waypoint == '["1 m", "2 m"]'


def test_a_path_is_a_setting_as_its_name(small):
    scenario = lasthop.load(small).set("flow.0.traffic", {"kind": "trace", "file": Path("trace.csv")})
    assert scenario.settings[-1][1] == '{ "kind" = "trace", "file" = "trace.csv" }'


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (None, 1, "set: the path of a setting is needed, such as 'station.0.count', not None"),
        ("", 1, "set: the path of a setting"),
        (COUNT, None, f"{COUNT}: a setting is a string, a number, a truth value, a list or a dict, not None"),
        (COUNT, {"a": object}, f"{COUNT}: a setting is"),
    ],
)
def test_wrong_arguments_of_set_are_one_sentence(small, path, value, words):
    assert words in refusal(TypeError, lambda: lasthop.load(small).set(path, value))


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        (None, TypeError, "a Scenario or the name of its file is needed, not None; see lasthop.load"),
        (3, TypeError, "not 3"),
        (
            TEXT,
            ValueError,
            "is the text of a file, and its name is needed; lasthop.Scenario(text) takes the text itself",
        ),
    ],
)
def test_wrong_scenarios_are_one_sentence(given, kind, words):
    for use in (lasthop.run, lasthop.open, lambda each: lasthop.sweep(each, over={COUNT: [1]})):
        assert words in refusal(kind, lambda use=use: use(given))


def test_wrong_arguments_of_read_are_one_sentence(result):
    scenario = lasthop.Scenario(TEXT)
    assert refusal(TypeError, lambda: lasthop.load(None)) == "load: the name of a scenario file is needed, not None"
    assert "is a Scenario already" in refusal(TypeError, lambda: lasthop.load(scenario))
    assert "read: the name of a result" in refusal(TypeError, lambda: lasthop.read(result))
    assert "b: a Result is needed" in refusal(TypeError, lambda: lasthop.compare(result, "b"))
    assert "save: the name of a directory" in refusal(TypeError, lambda: result.save(None))
    assert "goodput: no run has such a metric; did you mean totals.goodput_bps" in refusal(
        KeyError, lambda: result.summary["goodput"]
    )
    assert "None: the name of a metric" in refusal(KeyError, lambda: result.summary[None])


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"over": {COUNT: 3}}, ValueError, f"{COUNT}: a list of values is needed, e.g. [3], not 3"),
        ({"over": {COUNT: numpy.int64(3)}}, ValueError, f"{COUNT}: a list of values is needed, e.g. [3], not 3"),
        ({"over": {COUNT: None}}, ValueError, f"{COUNT}: a list of values is needed, not None"),
        ({"over": {COUNT: [None]}}, TypeError, f"{COUNT}: a setting is"),
        ({"over": {3: [1]}}, TypeError, "the path of a setting"),
        ({"over": {"x": ["cubic"]}}, lasthop.ScenarioError, 'unknown key "x"'),
        ({"over": {COUNT: [1]}, "store": 3}, TypeError, "store: a Store or the name of its file"),
        ({"over": {COUNT: [1]}, "jobs": 0}, ValueError, "jobs: 0 threads"),
        ({"over": {COUNT: [1]}, "metrics": "nonsense"}, ValueError, "nonsense: no run has such a metric"),
        (
            {"over": {COUNT: "1..2"}, "sample": "3"},
            TypeError,
            "sample: how many points is needed, a whole number, not '3'",
        ),
        ({"over": {COUNT: "1..2"}, "sample": 3, "design_seed": "x"}, TypeError, "design_seed: a seed"),
    ],
)
def test_wrong_arguments_of_sweep_are_one_sentence(small, arguments, kind, words):
    assert words in refusal(kind, lambda: lasthop.sweep(small, seeds=1, **arguments))


def test_one_metric_needs_no_list(small):
    one = lasthop.sweep(small, over={COUNT: [1]}, seeds=1, metrics="nodes.ap.queue_drops")
    assert "nodes.ap.queue_drops" in one


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"size": "7x3"}, TypeError, "size: a width and a height in inches are needed, such as (7, 3), not '7x3'"),
        ({"size": (7, "a")}, TypeError, "size: "),
        ({"y_max": "3"}, TypeError, "y_max: a number is needed, not '3'"),
        ({"log_y": "yes"}, TypeError, "log_y: True or False"),
        ({"title": 3}, TypeError, "title: a text is needed, not 3"),
        ({"flow": 3}, TypeError, "flow: a pattern of names"),
        ({"legend": "upper left"}, ValueError, "legend upper left: must be one of"),
        ({"y_min": 3, "y_max": 2}, ValueError, "y_min 3 is not below y_max 2"),
        ({"by": "x"}, ValueError, "by has no effect on plot goodput"),
        ({"out": 3}, TypeError, "out: the name of a file"),
    ],
)
def test_wrong_options_of_plot_are_named_as_in_python(result, options, kind, words):
    said = refusal(kind, lambda: result.plot("goodput", **options))
    assert words in said and "--" not in said


def test_a_campaign_takes_jobs_and_a_store(small):
    scenario, store = lasthop.load(small), lasthop.Store.in_memory()
    complete = lasthop.complete
    assert "jobs: each is a lasthop.Job" in refusal(TypeError, lambda: complete([3], store))
    assert "seed: a seed is needed" in refusal(TypeError, lambda: complete([lasthop.Job(scenario, "x")], store))
    assert "store: a Store is needed" in refusal(TypeError, lambda: complete([], "runs.duckdb"))


def test_a_simulation_goes_on_for_seconds(small):
    assert "seed: a seed is needed" in refusal(TypeError, lambda: lasthop.open(small, seed="1"))
    simulation = lasthop.open(small, seed=numpy.int64(1))
    assert "run_until: a number of seconds" in refusal(TypeError, lambda: simulation.run_until(None))
    assert simulation.run_until(numpy.float64(0.25)) is False and simulation.now_s == 0.25
