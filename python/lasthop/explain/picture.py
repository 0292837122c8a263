"""Where the time went as stacked bars, one for each flow, or for the flows of each of several results."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..files import PendingFile, is_special
from ..plot import file_format
from ..plot._style import INCHES_PER_COLUMN, colours, repeats, style
from .account import FLOW_TERMS, Explanation
from .text import shown_flows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BARS = 12
# Terms that no bar shows for longer are drawn as one.
DRAWN_FROM = 0.01


def bars_of(explanations: list[Explanation]) -> list[tuple[str, dict[str, float]]]:
    """A label and the share of each term: of each flow, or of all flows of each explanation where there are several."""
    if len(explanations) == 1:
        return [
            (flow.id, {term: flow.share(term) for term in FLOW_TERMS})
            for flow in shown_flows(explanations[0], MOST_BARS)
        ]
    means = []
    for label, explanation in zip("AB", explanations, strict=True):
        flows = explanation.flows
        mean = {term: sum(flow.share(term) for flow in flows) / max(len(flows), 1) for term in FLOW_TERMS}
        means.append((f"{label}: {explanation.name}", mean))
    return means


def draw(explanations: list[Explanation], out: str | os.PathLike[str]) -> Figure:
    """Draws them to `out` (PNG, PDF or SVG by its ending), whole or not at all; raises `ValueError` for others."""
    ending = file_format(out)
    # Loaded only now: matplotlib takes longer to import than many a run to finish.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    bars = bars_of(explanations)
    drawn = [term for term in FLOW_TERMS if any(shares[term] >= DRAWN_FROM for _, shares in bars)]
    width, height = INCHES_PER_COLUMN
    with rc_context(style()):
        figure = Figure(figsize=(width, max(height, 0.9 + 0.16 * len(bars) + 0.12 * len(drawn))), layout="constrained")
        axes = figure.subplots()
        left = [0.0] * len(bars)
        for term, colour, repeat in zip(drawn, colours(len(drawn)), repeats(len(drawn)), strict=True):
            shares = [100 * of[term] for _, of in bars]
            hatch = (None, "////", "....")[repeat % 3]
            axes.barh(
                range(len(bars)),
                shares,
                left=left,
                color=colour,
                edgecolor="white",
                linewidth=0.4,
                hatch=hatch,
                label=FLOW_TERMS[term],
            )
            left = [before + share for before, share in zip(left, shares, strict=True)]
        axes.set_yticks(range(len(bars)), [label for label, _ in bars])
        axes.invert_yaxis()
        axes.set_axisbelow(True)
        axes.set_xlim(0, 100)
        axes.set_xlabel("share of time (%)")
        axes.set_title("Where the time of the flows went", fontsize=8)
        figure.legend(loc="outside lower center", ncols=2)
        _write(figure, out, ending)
    return figure


def _write(figure: Figure, out: str | os.PathLike[str], ending: str) -> None:
    with PendingFile(out) as pending:
        special = is_special(out)
        figure.savefig(out if special else pending.temporary, format=ending)
        if not special:
            pending.commit()
