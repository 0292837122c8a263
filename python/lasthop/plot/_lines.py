"""One line for each entity over time, one panel for each result; the first seed of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._style import INCHES_PER_COLUMN, colours, labels, repeats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..result import Result

MAX_NAMED = 21
NAMES_PER_ROW = 4
INCHES_PER_ROW = 0.15
DASHES = ("-", "--", ":")


def draw_lines(results: list[Result], figure: Figure, metric: str, label: str, scale: float = 1.0) -> None:
    """Draws `metric`, multiplied by `scale`, under `label`."""
    from matplotlib.lines import Line2D

    looks: dict[str, tuple[str, str]] = {}
    panels = figure.subplots(len(results), 1, sharex=True, squeeze=False)[:, 0]
    for panel, result, title in zip(panels, results, labels(results), strict=True):
        series = result.timeseries
        series = series[series["metric"] == metric]
        if series.empty:
            raise LookupError(f"{title}: has no time series of {metric}")
        seed = series["seed"].iloc[0]
        groups = list(series[series["seed"] == seed].groupby("entity", observed=True, sort=False))
        looks |= _looks([*looks, *(str(entity) for entity, _ in groups if str(entity) not in looks)])
        for entity, line in groups:
            colour, dashes = looks[str(entity)]
            panel.plot(line["time_s"], line["value"] * scale, dashes, color=colour, linewidth=0.8)
        panel.set_title(f"{title}, seed {seed}", fontsize=8)
        panel.set_ylabel(label)
        panel.set_ylim(bottom=0)
    panels[-1].set_xlabel("time (s)")
    width, height = INCHES_PER_COLUMN
    rows = -(-len(looks) // NAMES_PER_ROW) if 1 < len(looks) <= MAX_NAMED else 0
    figure.set_size_inches(width, height * (0.4 + 0.6 * len(results)) + rows * INCHES_PER_ROW)
    if rows:
        lines = [Line2D([], [], color=colour, linestyle=dashes, linewidth=0.8) for colour, dashes in looks.values()]
        figure.legend(lines, list(looks), loc="outside lower center", ncols=NAMES_PER_ROW)


def _looks(names: list[str]) -> dict[str, tuple[str, str]]:
    """Colour and dashes of each name, the same in every panel."""
    dashes = [DASHES[repeat % len(DASHES)] for repeat in repeats(len(names))]
    return dict(zip(names, zip(colours(len(names)), dashes, strict=True), strict=True))
