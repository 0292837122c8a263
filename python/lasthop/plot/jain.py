"""Jain's index of fairness of each result: over all flows, the uploads, the downloads."""

from __future__ import annotations

from ._chart import Chart
from ._results import curve, labels, mean_of, results_only, titled

SUMMARY = "Jain's index of fairness, mean over seeds with its 95 % interval"
OPTIONS = ()
SETS = (("all flows", "jain_index"), ("uploads", "jain_index_up"), ("downloads", "jain_index_down"))


def chart(sources, options):
    """A group of bars for each result; one bar where all flows have one direction."""
    results = results_only(sources, "jain")
    sets = SETS if all(_has(results, key) for _, key in SETS) else SETS[:1]
    curves = tuple(
        curve(name, labels(results), (mean_of(run["totals"].get(key) for run in result.runs) for result in results))
        for name, key in sets
    )
    title = titled("fairness among flows", results)
    return Chart("bars", title, "", "Jain's index", curves, y_most=1)


def _has(results, key):
    return any(run["totals"].get(key) is not None for result in results for run in result.runs)
