"""The analysis of [hashimoto2016], figures 3 to 14: made of a result, and made of the captures of the same run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import lasthop
import pytest
from lasthop.foreign.analysis import analyze
from test_recording import ROOT, needs_scenarios

pytestmark = needs_scenarios
FROM_S, TO_S = 3.0, 10.0
# The largest window of four flows is still growing at first.
CASES = {
    "near by": ("two", "300"),
    "position 4": ("two", "60"),
    "position 7": ("two", "6"),
    "four stations": ("four", "60"),
}


def scenario_of(case: str, rate: str) -> lasthop.Scenario:
    """A point of a case of the paper, with a FIFO."""
    paper = tomllib.loads((ROOT / "papers/hashimoto2016.toml").read_text(encoding="utf-8"))["case"][case]
    scenario = lasthop.load(ROOT / "papers" / paper["scenario"])
    for key, value in {**paper["set"], **paper["over"]["queue"]["fifo"], **paper["over"]["rate"][rate]}.items():
        scenario = scenario.set(key, value)
    return scenario.set("warmup", f"{FROM_S} s")


class Both:
    """A run and what its captures tell."""

    def __init__(self, case: str, rate: str, directory: Path) -> None:
        scenario = scenario_of(case, rate)
        # Captures last longer, so that nothing is cut off at the end of the compared time.
        lasthop.run(scenario.set("duration", f"{TO_S + 0.5} s"), seeds=1, interval_s=None, pcap=directory)
        self.run = lasthop.run(scenario.set("duration", f"{TO_S} s"), seeds=1, interval_s=1.0)
        self.seen = analyze([directory / "air.pcapng", directory / "server.pcapng"], FROM_S, TO_S, 1.0)
        self.told = {flow["id"]: flow for flow in self.seen.runs[0]["capture"]["flows"]}

    def flows(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Rows of the run, each with that of the captures."""
        read = {flow["id"]: flow for flow in self.seen.runs[0]["flows"]}
        return [(row, read[row["id"]]) for row in self.run.runs[0]["flows"]]

    def series(self, quantity: str, entity: str) -> tuple[list[float], list[float]]:
        """A quantity over time, of the run and of the captures."""
        both = []
        for result in (self.run, self.seen):
            rows = result.timeseries
            rows = rows[(rows["metric"] == quantity) & (rows["entity"] == entity) & (rows["time_s"] > FROM_S)]
            both.append(list(rows.sort_values("time_s")["value"]))
        return both[0], both[1]


@pytest.fixture(scope="module", params=CASES)
def both(request, tmp_path_factory) -> Both:
    return Both(*CASES[request.param], tmp_path_factory.mktemp("paper"))


def test_figures_3_and_13_data_rates_are_the_same(both):
    read = {(link["node"], link["peer"]): link["mean_data_rate_bps"] for link in both.seen.runs[0]["links"]}
    for link in both.run.runs[0]["links"]:
        assert read[link["node"], link["peer"]] == pytest.approx(link["mean_data_rate_bps"], rel=0.003)


def test_figures_4_6_to_8_and_14a_throughput_is_the_same_each_second(both):
    for row, read in both.flows():
        assert read["bytes_delivered"] == row["bytes_delivered"]
        own, seen = both.series("goodput_bps", row["id"])
        assert seen == pytest.approx(own) and len(own) == TO_S - FROM_S


def test_figures_5b_and_14c_mean_rtts_are_within_a_percent(both):
    for row, read in both.flows():
        assert read["rtt_mean_s"] == pytest.approx(row["rtt_mean_s"], rel=0.01)


def test_figures_9b_and_10b_rtts_are_within_a_tick_of_a_time_stamp_each_second(both):
    for row, _ in both.flows():
        own, seen = both.series("rtt_s", row["id"])
        assert seen == pytest.approx(own, abs=0.001)


def test_figures_5a_and_14b_flights_are_nearly_the_windows(both):
    for row, _ in both.flows():
        # Allowed and actual flight: a window that has grown is not yet filled, one in recovery is left behind.
        assert both.told[row["id"]]["flight_mean_segments"] == pytest.approx(row["cwnd_mean_segments"], rel=0.1)


def test_figures_11_and_12_the_load_is_nearly_that_of_the_window(both):
    rates = {(link["node"], link["peer"]): link["mean_data_rate_bps"] for link in both.run.runs[0]["links"]}
    for row, _ in both.flows():
        own = row["cwnd_mean_segments"] * 1500 * 8 / row["rtt_mean_s"] / rates["ap", row["station"]]
        assert both.told[row["id"]]["load_over_mac_rate"] == pytest.approx(own, rel=0.1)
