"""Aggregate goodput second by second: the mean over the seeds and its 95 % band, as in Fig. 1 of [khademi2011]."""

from __future__ import annotations

from ..confidence import t_quantile_975
from ._style import colours, labels

SUMMARY = "aggregate goodput over time, mean over seeds with its 95 % band"


def draw(results, figure):
    """One line and band for each result, in Mbit/s."""
    axes = figure.subplots()
    for result, label, colour in zip(results, labels(results), colours(len(results)), strict=True):
        mean, half = _mean_and_half_width(result)
        axes.plot(mean.index, mean, color=colour, label=label)
        if half is not None:
            axes.fill_between(mean.index, mean - half, mean + half, color=colour, alpha=0.25, linewidth=0)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("goodput (Mbit/s)")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    if len(results) > 1:
        axes.legend()


def _mean_and_half_width(result):
    series = result.timeseries
    series = series[series["metric"] == "goodput_bps"]
    if series.empty:
        raise LookupError(f"{result.name}: has no time series of goodput")
    total = series.groupby(["time_s", "seed"])["value"].sum().unstack("seed") / 1e6
    seeds = total.shape[1]
    if seeds == 1:
        return total.mean(axis=1), None
    return total.mean(axis=1), t_quantile_975(seeds - 1) * total.std(axis=1) / seeds**0.5
