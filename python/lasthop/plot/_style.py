"""How plots look: the width of a column in print, colours that most colour-blind readers can tell apart."""

from __future__ import annotations

from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..result import Result

INCHES_PER_COLUMN = (3.5, 2.4)
# [Okabe & Ito 2008]; yellow is left out, it vanishes on white.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def style() -> dict[str, Any]:
    """Settings of matplotlib for the time of one drawing."""
    return {
        "font.size": 8,
        "axes.labelsize": 8,
        "legend.fontsize": 7,
        "legend.frameon": False,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.3,
        "lines.linewidth": 1.0,
        "savefig.dpi": 300,
        "pdf.fonttype": 42,
        "svg.hashsalt": "lasthop",
    }


def colours(count: int) -> list[str]:
    """`count` colours, repeating after the seventh."""
    return list(islice(cycle(OKABE_ITO), count))


def repeats(count: int) -> list[int]:
    """For each of `count` colours, how often it has been used before: what else must tell lines or bars apart."""
    return [number // len(OKABE_ITO) for number in range(count)]


def labels(results: list[Result]) -> list[str]:
    """A name for each result, told apart by where it was read from, else by number."""
    names = [result.name for result in results]
    if len(set(names)) < len(names):
        names = [result.source.parent.name if result.source else result.name for result in results]
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, start=1)]
    return names
