"""One line for each entity over time, one panel for each result; the first seed of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._style import INCHES_PER_COLUMN, colours, labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..result import Result

MAX_NAMED = 8


def draw_lines(results: list[Result], figure: Figure, metric: str, label: str, scale: float = 1.0) -> None:
    """Draws `metric`, multiplied by `scale`, under `label`."""
    width, height = INCHES_PER_COLUMN
    figure.set_size_inches(width, height * (0.4 + 0.6 * len(results)))
    panels = figure.subplots(len(results), 1, sharex=True, squeeze=False)[:, 0]
    for panel, result, title in zip(panels, results, labels(results), strict=True):
        series = result.timeseries
        series = series[series["metric"] == metric]
        if series.empty:
            raise LookupError(f"{title}: has no time series of {metric}")
        seed = series["seed"].iloc[0]
        groups = list(series[series["seed"] == seed].groupby("entity", observed=True, sort=False))
        for (entity, line), colour in zip(groups, colours(len(groups)), strict=True):
            panel.plot(line["time_s"], line["value"] * scale, color=colour, label=str(entity), linewidth=0.8)
        panel.set_title(f"{title}, seed {seed}", fontsize=8)
        panel.set_ylabel(label)
        panel.set_ylim(bottom=0)
        if 1 < len(groups) <= MAX_NAMED:
            panel.legend(ncols=2)
    panels[-1].set_xlabel("time (s)")
