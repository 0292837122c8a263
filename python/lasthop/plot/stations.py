"""Goodput of every station, up and down: the sum of its flows, the mean over the seeds and its 95 % interval."""

from __future__ import annotations

from ._chart import Chart
from ._results import curve, labels, mean_of, results_only, titled

SUMMARY = "goodput of every station, up and down, mean over seeds with its 95 % interval"
OPTIONS = ()


def chart(sources, options):
    """A bar for each station and direction that has flows; several results stand beside one another."""
    results = results_only(sources, "stations")
    flows = [flow for result in results for run in result.runs for flow in run["flows"]]
    stations = {
        direction: list(dict.fromkeys(flow["station"] for flow in flows if flow["direction"] == direction))
        for direction in ("up", "down")
    }
    directions = [direction for direction in stations if stations[direction]]
    curves = tuple(
        curve(_name(label, direction, results, directions), of, _estimates(result, of, direction))
        for result, label in zip(results, labels(results), strict=True)
        for direction, of in stations.items()
        if of
    )
    title = titled("goodput by station", results)
    return Chart("bars", title, "station", "goodput (Mbit/s)", curves)


def _name(label, direction, results, directions):
    if len(results) == 1:
        return direction
    return label if len(directions) == 1 else f"{label}, {direction}"


def _estimates(result, stations, direction):
    sums = [_by_station(run, direction) for run in result.runs]
    return [mean_of((one.get(station) for one in sums), 1e-6) for station in stations]


def _by_station(run, direction):
    """The sum of the goodputs of each station's flows in one run; what delivers nothing, such as `ping`, is not in it."""
    sums = {}
    for flow in run["flows"]:
        if flow["direction"] == direction and flow.get("goodput_bps") is not None:
            sums[flow["station"]] = sums.get(flow["station"], 0.0) + flow["goodput_bps"]
    return sums
