"""Charts: what is to be seen as plain data, apart from where it came from; drawn, and written as PDF, PNG and CSV.

The same for `lasthop plot` and for the figures of papers. Columns of the CSV are in docs/plots.md.
"""

from .data import KINDS, PLACES, Chart, Curve, Mark, cdf_curve, csv_text
from .drawing import draw_chart, new_figure, save_picture
from .files import write_chart

__all__ = [
    "KINDS",
    "PLACES",
    "Chart",
    "Curve",
    "Mark",
    "cdf_curve",
    "csv_text",
    "draw_chart",
    "new_figure",
    "save_picture",
    "write_chart",
]
