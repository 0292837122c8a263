"""Charts: plain data, independent of its source; drawn, and written as PDF, PNG and CSV.

`lasthop plot` and the figures of papers share them. docs/plots.md lists the columns of the CSV.
"""

from .data import KINDS, PLACES, Chart, Curve, Mark, cdf_curve, csv_text, shares_curve
from .drawing import draw_chart, new_figure, save_picture
from .files import write_chart
from .style import MOST_NAMED

__all__ = [
    "KINDS",
    "MOST_NAMED",
    "PLACES",
    "Chart",
    "Curve",
    "Mark",
    "cdf_curve",
    "csv_text",
    "draw_chart",
    "new_figure",
    "save_picture",
    "shares_curve",
    "write_chart",
]
