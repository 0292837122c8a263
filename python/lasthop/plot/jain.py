"""Jain's index of fairness of each result: over all flows, the uploads, the downloads."""

from __future__ import annotations

from math import fsum

from ._chart import Chart
from ._chosen import is_part
from ._results import curve, labels, mean_of, results_only, titled

SUMMARY = "Jain's index of fairness, mean over seeds with its 95 % interval"
OPTIONS = ("flow", "traffic")
SETS = (("all flows", "jain_index"), ("uploads", "jain_index_up"), ("downloads", "jain_index_down"))


def chart(sources, options):
    """A group of bars for each result; one bar where all flows have one direction."""
    results = results_only(sources, "jain")
    sets = SETS if all(_has(results, key) for _, key in SETS) else SETS[:1]
    curves = tuple(
        curve(name, labels(results), (mean_of(_of_seeds(result, key)) for result in results)) for name, key in sets
    )
    title = titled("fairness among flows", results)
    return Chart("bars", title, "", "Jain's index", curves, y_most=1)


def _has(results, key):
    return any(value is not None for result in results for value in _of_seeds(result, key))


def _of_seeds(result, key):
    if not is_part(result):
        return [run["totals"].get(key) for run in result.runs]
    return [_index(run["flows"], key.removeprefix("jain_index").lstrip("_")) for run in result.runs]


def _index(flows, direction):
    """(Σx)² / (n Σx²) of the goodputs, as the totals have it of all flows. [Jain, Chiu, Hawe 1984]"""
    chosen = [flow for flow in flows if not direction or flow["direction"] == direction]
    goodputs = [flow["goodput_bps"] for flow in chosen if flow.get("goodput_bps") is not None]
    squares = fsum(goodput * goodput for goodput in goodputs)
    return fsum(goodputs) ** 2 / (len(goodputs) * squares) if squares else None
