"""Goodput of every station, up and down: the sum of its flows, the mean over the seeds and its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...data.quantities import FLOW
from ._chart import Chart
from ._left_out import without_goodput
from ._results import curve, labels, mean_of, results_only, titled

if TYPE_CHECKING:
    from ...data.result import Result
    from ._options import Options

SUMMARY = "goodput of every station, up and down, mean over seeds with its 95 % interval"
OPTIONS = ("flow", "node", "traffic")
DIRECTIONS = ("up", "down")
GOODPUT = FLOW.goodput_bps


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """A bar for each station and direction that has flows; the bars of several results are side by side."""
    results = results_only(sources, "stations")
    sums = [{way: _by_station(result, way) for way in DIRECTIONS} for result in results]
    ways = [way for way in DIRECTIONS if any(each[way] for each in sums)]
    curves = tuple(
        curve(
            _name(label, way, results, ways),
            each[way],
            (mean_of(by_seed, GOODPUT.shown.scale) for by_seed in each[way].values()),
        )
        for label, each in zip(labels(results), sums, strict=True)
        for way in ways
        if each[way]
    )
    title = titled("goodput by station", results)
    return Chart("bars", title, "station", GOODPUT.axis, curves, remarks=without_goodput(results))


def _name(label: str, direction: str, results: Sequence[Result], directions: Sequence[str]) -> str:
    if len(results) == 1:
        return direction
    return label if len(directions) == 1 else f"{label}, {direction}"


def _by_station(result: Result, direction: str) -> dict[str, list[float | None]]:
    """The sums of the goodputs of each station's flows in this direction, for every run; `ping` has no goodput."""
    stations: dict[str, list[float | None]] = {}
    for run in result.runs:
        sums: dict[str, float] = {}
        nodes = {node["name"] for node in run["nodes"]}
        for flow in run["flows"]:
            if flow["station"] not in nodes:
                continue
            if flow["direction"] == direction and flow.get(GOODPUT) is not None:
                sums[flow["station"]] = sums.get(flow["station"], 0.0) + flow[GOODPUT]
        for station, goodput in sums.items():
            stations.setdefault(station, []).append(goodput)
    return stations
