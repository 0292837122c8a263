"""A simulation that is held between calls."""

from __future__ import annotations

import json

import lasthop
import pytest

SETTINGS = {"duration": "2 s", "warmup": "500 ms"}


@pytest.fixture(scope="module")
def scenario():
    loaded = lasthop.load("scenarios/khademi2011-uplink-11b.toml")
    for path, value in SETTINGS.items():
        loaded = loaded.set(path, value)
    return loaded


def documents(result: lasthop.Result) -> list[dict]:
    runs = json.loads(result.to_json())["runs"]
    for run in runs:
        del run["simulator"]["wall_s"]
    return runs


def test_a_stepped_simulation_equals_a_run(scenario):
    whole = lasthop.run(scenario, seeds=[3])
    simulation = lasthop.open(scenario, seed=3)
    assert simulation.metrics() is None
    assert simulation.run_until("700 ms") is False
    assert simulation.now_s == pytest.approx(0.7)
    early = simulation.metrics()
    assert simulation.run_until(1.5) is False
    late = simulation.metrics()
    assert early["flows"][0]["bytes_delivered"] < late["flows"][0]["bytes_delivered"]
    finished = simulation.finish()
    assert documents(finished) == documents(whole)
    assert finished.timeseries.equals(whole.timeseries)
    assert finished.warnings == whole.warnings


def test_it_ends_with_the_run_and_can_be_finished_once(scenario):
    simulation = lasthop.open(scenario, interval_s=None)
    assert simulation.run_until("1 h") is True
    assert simulation.now_s == 2.0
    simulation.finish()
    with pytest.raises(RuntimeError, match="is finished"):
        simulation.finish()
    with pytest.raises(RuntimeError, match="is finished"):
        simulation.run_until("1 s")


def test_a_time_that_is_none_is_refused_and_loses_nothing(scenario):
    simulation = lasthop.open(scenario)
    simulation.run_until("100 ms")
    for wrong in ("soon", "5", "-1 s", float("nan")):
        with pytest.raises(ValueError, match="run_until"):
            simulation.run_until(wrong)
    assert simulation.run_until("50 ms") is False
    assert simulation.now_s == pytest.approx(0.1)


def test_an_impossible_seed_is_refused(scenario):
    with pytest.raises(ValueError, match="seeds"):
        lasthop.open(scenario, seed=-1)


def test_an_impossible_interval_is_refused_as_by_run(scenario):
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        for begin in (lasthop.open, lasthop.run):
            with pytest.raises(ValueError, match="interval_s"):
                begin(scenario, interval_s=wrong)
