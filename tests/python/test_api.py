"""`import lasthop`: scenarios, results, sweeps."""

from __future__ import annotations

import signal
import threading

import lasthop
import pytest


def test_set_returns_a_new_scenario(small):
    scenario = lasthop.load(small)
    changed = scenario.set("station.0.count", 3)
    assert scenario.settings == ()
    assert changed.to_dict() != scenario.to_dict()


def test_wrong_setting_raises_scenario_error_with_its_place(small):
    scenario = lasthop.load(small).set("station.0.count", 0)
    with pytest.raises(lasthop.ScenarioError, match="count"):
        scenario.resolve()
    assert issubclass(lasthop.ScenarioError, ValueError)


def test_set_takes_tables_as_dicts(small):
    scenario = lasthop.load(small).set("bss.ap.queue", {"kind": "fifo", "limit": "20 packets"})
    assert scenario.settings[-1] == ("bss.ap.queue", '{ "kind" = "fifo", "limit" = "20 packets" }')
    scenario.resolve()


def test_missing_file_raises_the_usual_error(small):
    with pytest.raises(FileNotFoundError):
        lasthop.load("absent.toml")


def test_tables_have_a_row_for_each_seed_and_entity(small):
    result = lasthop.run(lasthop.load(small), seeds=[3, 5])
    assert result.seeds == [3, 5]
    assert result.flows.groupby("seed").size().to_dict() == {3: 2, 5: 2}
    assert set(result.nodes["seed"]) == {3, 5}
    assert set(result.links["seed"]) == {3, 5}
    assert result.summary["totals.goodput_bps"]["n"] == 2


def test_saved_result_reads_back_the_same(small):
    result = lasthop.run(lasthop.load(small), seeds=2)
    result.save("saved")
    again = lasthop.read("saved")
    assert again.to_json() == result.to_json()
    assert again.timeseries["value"].equals(result.timeseries["value"])
    again.save("saved")
    assert lasthop.read("saved").timeseries["value"].equals(result.timeseries["value"])


def test_result_without_time_series_names_the_option(small):
    result = lasthop.run(lasthop.load(small), seeds=1, interval_s=None)
    with pytest.raises(LookupError, match="--out DIR"):
        _ = result.timeseries


@pytest.mark.parametrize("seeds", [0, [], [1, 1]])
def test_impossible_seeds_are_refused(small, seeds):
    with pytest.raises(ValueError, match="seeds"):
        lasthop.run(lasthop.load(small), seeds=seeds)


def test_sweep_has_a_row_for_each_point_and_seed(small):
    table = lasthop.sweep(lasthop.load(small), over={"station.0.count": [1, 2]}, seeds=2)
    assert table[["station.0.count", "seed"]].to_numpy().tolist() == [[1, 1], [1, 2], [2, 1], [2, 2]]
    assert (table["totals.goodput_bps"] > 0).all()


def test_sweep_checks_every_point_before_it_runs_one(small):
    with pytest.raises(lasthop.ScenarioError, match="count"):
        lasthop.sweep(lasthop.load(small), over={"station.0.count": [1, 0]})


def test_interrupt_carries_finished_runs(small):
    timer = threading.Timer(1.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        lasthop.run(lasthop.load(small), seeds=1_000_000, jobs=1, interval_s=None)
    assert caught.value.result.interrupted
    assert 1 <= len(caught.value.result.seeds) < 1_000_000


def test_other_threads_run_while_the_engine_does(small):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(None)

    ticker = threading.Thread(target=tick)
    ticker.start()
    lasthop.run(lasthop.load(small).set("duration", "20 s"), seeds=4)
    stop.set()
    ticker.join()
    assert len(ticks) > 5


def test_the_name_of_a_file_is_as_good_as_its_scenario(small):
    assert lasthop.run("small.toml", seeds=1).flows.equals(lasthop.run(lasthop.load(small), seeds=1).flows)
    assert len(lasthop.sweep(small, {"station.0.count": [1, 2]}, seeds=1)) == 2
    with pytest.raises(FileNotFoundError):
        lasthop.run("absent.toml")
    with pytest.raises(TypeError, match="a Scenario or the name of its file is needed, not 5"):
        lasthop.run(5)


def test_a_sweep_over_a_scalar_asks_for_a_list(small):
    for value in ("cubic", 3, {"kind": "cubic"}):
        with pytest.raises(ValueError, match=r"tcp.congestion_control: a list of values is needed, e.g. \["):
            lasthop.sweep(lasthop.load(small), over={"tcp.congestion_control": value}, seeds=1)


def test_an_unknown_key_is_refused_with_the_same_words_wherever_it_is_found(small):
    scenario = lasthop.load(small).set("tcp.foo", "1")
    for use in (
        scenario.resolve,
        scenario.to_dict,
        lambda: lasthop.run(scenario),
        lambda: lasthop.sweep(scenario, {"station.0.count": [1]}),
    ):
        with pytest.raises(lasthop.ScenarioError, match=r'^--set tcp\.foo=1: tcp\.foo: unknown key "foo"; one of: '):
            use()
