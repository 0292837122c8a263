"""The style of charts: the width of a column in print, and curves that differ without colour.

Colours are by [Okabe & Ito 2008]; dashes, markers and hatches distinguish the curves in grey.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .text import FONT

COLUMN_INCHES = 3.5
POINTS_PER_INCH = 72
# Without yellow, which vanishes on white.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# The eighth to the fourteenth curve are darker, and grey for black.
DARKER = ("#003A5C", "#7A3600", "#005A42", "#77406A", "#8A6000", "#2B6485", "#8C8C8C")
COLOURS = (*OKABE_ITO, *DARKER)
# Neighbours differ in more than colour, and so do a colour and its darker one.
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
HATCHES = ("", "/////", "....", r"\\\\\\", "xxxx", "-----", "||||", "oooo")
LINE_WIDTH = 1.0
# From twelve curves on, this many have looks and names of their own.
MOST_NAMED = 10


@dataclass(frozen=True)
class Look:
    """The style of one curve."""

    colour: str
    dashes: Any
    marker: str
    hatch: str
    is_other: bool = False
    """one of many without a look of its own"""


# The style of all curves beyond `MOST_NAMED`.
OTHER = Look("#B4B4B4", "-", "None", "", is_other=True)


def looks(labels: Sequence[str], ranked: Sequence[str] = ()) -> dict[str, Look]:
    """A look for each label. If they are more than `MOST_NAMED + 1`, only the first of `ranked` have looks of their own."""
    named = set(ranked[:MOST_NAMED]) if ranked and len(labels) > MOST_NAMED + 1 else set(labels)
    places = {label: number for number, label in enumerate(label for label in labels if label in named)}
    return {label: _look(places[label]) if label in named else OTHER for label in labels}


def _look(number: int) -> Look:
    kinds = (COLOURS, DASHES, MARKERS, HATCHES)
    return Look(*(kind[number % len(kind)] for kind in kinds))


def style() -> dict[str, Any]:
    """Settings of matplotlib for one drawing."""
    return {
        "font.family": FONT,
        "font.size": 8,
        "text.parse_math": False,
        "text.usetex": False,
        "axes.titlesize": 7.5,
        "axes.labelsize": 8,
        "legend.fontsize": 7,
        "legend.frameon": False,
        "legend.columnspacing": 1.4,
        "legend.borderaxespad": 0.2,
        "legend.borderpad": 0.1,
        "legend.labelspacing": 0.35,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.6,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.alpha": 0.3,
        "grid.linewidth": 0.5,
        "lines.linewidth": LINE_WIDTH,
        "lines.markersize": 3.2,
        "hatch.linewidth": 0.5,
        "savefig.dpi": 300,
        "savefig.bbox": None,
        "figure.dpi": 100,
        "figure.constrained_layout.h_pad": 0.03,
        "figure.constrained_layout.w_pad": 0.03,
        "pdf.fonttype": 42,
        "svg.hashsalt": "lasthop",
    }
