"""The data of a chart: curves with their intervals, and their CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from ....data.confidence import Estimate, estimate
from .style import COLUMN_INCHES

KINDS = ("time_series", "lines", "bars", "stack", "cdf", "scatter", "heat_map", "box", "spans")
# Positions of the legend.
PLACES = ("below", "right", "inside", "none")
# A column's width cannot show more points of a distribution than this.
CDF_POINTS = 400


@dataclass(frozen=True)
class Curve:
    """One line, one set of bars, one row of a heat map: `mean` over `x`, with the bounds of its 95 % interval.

    All sequences have one length. A missing number is NaN; `low` and `high` are None if the spread is unknown. `x_low`
    and `x_high` are a horizontal interval, for scatter and cdf. Curves of one `panel` share axes; panels are stacked
    vertically. For a box `mean` is the median, and `low` and `high` are the quartiles. For spans `x` names the rows,
    `low` and `high` are the start and end of each along the axis, and `mean` is the start.
    """

    label: str
    x: Sequence[float | str]
    mean: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    x_low: Sequence[float] | None = None
    x_high: Sequence[float] | None = None
    panel: str = ""
    whisker_low: Sequence[float] | None = None
    whisker_high: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for name in ("mean", "low", "high", "x_low", "x_high", "whisker_low", "whisker_high"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.x):
                raise ValueError(f"curve {self.label!r}: {len(self.x)} values of x, {len(values)} of {name}")
        if (self.low is None) != (self.high is None) or (self.x_low is None) != (self.x_high is None):
            raise ValueError(f"curve {self.label!r}: an interval has two bounds")

    @property
    def is_empty(self) -> bool:
        """Whether there is no number to draw."""
        return not any(isfinite(value) for value in self.mean)


@dataclass(frozen=True)
class Mark:
    """A reference value: from `low` to `high`, across the axes or at `x`; without these, `x` itself."""

    label: str
    low: float | None = None
    high: float | None = None
    x: float | None = None

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None) or (self.low is None and self.x is None):
            raise ValueError(f"mark {self.label!r}: both bounds of its values are needed, or x alone")


@dataclass(frozen=True)
class Chart:
    """A chart: `title` and `subtitle`, axes and curves; one of `KINDS`.

    In a heat map each curve is a row: its label is the row's value, `y_label` names the rows, `value_label` the
    colours.

    Values lie between `y_least` and `y_most`: intervals are drawn no further, though the data keep them whole, and the
    axis of values ends at `y_most`. Without `y_least`, intervals stop at 0 if no mean is negative.

    `log_x` and `log_y` have no effect along categories. `y_labels` has the labels of panels whose quantity is not
    `y_label`; panels of one quantity have one scale with `same_y`. `size` is in inches; without it the chart is one
    column wide and as high as it needs. `x_limits` and `y_limits` are the ends of the axes; the chart chooses those
    that are None. `marks` are drawn in every panel. `rows` are the rows of spans, from the top, empty ones included.
    `remarks` name the data that are not shown, `notes` are warnings about the numbers; both are written below everything.
    """

    kind: str
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    log_x: bool = False
    log_y: bool = False
    value_label: str = ""
    y_most: float | None = None
    y_least: float | None = None
    y_labels: Mapping[str, str] = field(default_factory=dict)
    same_y: bool = False
    x_limits: tuple[float | None, float | None] = (None, None)
    y_limits: tuple[float | None, float | None] = (None, None)
    legend: str = "below"
    legend_title: str = ""
    size: tuple[float, float] | None = None
    subtitle: str = ""
    marks: tuple[Mark, ...] = ()
    rows: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind of chart {self.kind!r}; one of: {', '.join(KINDS)}")
        if self.legend not in PLACES:
            raise ValueError(f"unknown place of a legend {self.legend!r}; one of: {', '.join(PLACES)}")
        object.__setattr__(self, "curves", tuple(self.curves))

    @property
    def is_empty(self) -> bool:
        """Whether there is no number to draw."""
        return all(curve.is_empty for curve in self.curves)

    @property
    def is_named(self) -> bool:
        """Whether the horizontal axis has names instead of numbers."""
        return self.kind != "spans" and any(isinstance(value, str) for curve in self.curves for value in curve.x)

    @property
    def width(self) -> float:
        """Width in inches."""
        return COLUMN_INCHES if self.size is None else self.size[0]

    @property
    def panels(self) -> list[str]:
        """The panels in the order of their first curves."""
        return list(dict.fromkeys(curve.panel for curve in self.curves)) or [""]


def cdf_curve(label: str, samples: Sequence[Sequence[float]], panel: str = "") -> Curve:
    """The distribution of `samples`, one list for each seed: the mean over seeds of the share of samples up to x.

    Every seed has the same weight. The interval is Student's t over seeds, kept within 0 and 1.
    """
    import numpy

    seeds = [numpy.sort(numpy.asarray([v for v in values if isfinite(v)], dtype=float)) for values in samples]
    seeds = [values for values in seeds if values.size]
    if not seeds:
        return Curve(label, (), (), panel=panel)
    x = numpy.unique(numpy.concatenate(seeds))
    if x.size > CDF_POINTS:
        x = x[numpy.linspace(0, x.size - 1, CDF_POINTS).round().astype(int)]
    shares = numpy.array([numpy.searchsorted(values, x, side="right") / values.size for values in seeds])
    return shares_curve(label, x.tolist(), [estimate(column) for column in shares.T.tolist()], panel)


def shares_curve(label: str, x: list[float], shares: list[Estimate | None], panel: str = "") -> Curve:
    """A curve of shares, with intervals kept within 0 and 1; a single seed has no interval."""
    known = [share for share in shares if share is not None]
    mean = [share.mean for share in known]
    low = [max(0.0, share.ci95_low) for share in known if share.ci95_low is not None]
    high = [min(1.0, share.ci95_high) for share in known if share.ci95_high is not None]
    return Curve(label, x, mean, low, high, panel=panel) if low else Curve(label, x, mean, panel=panel)


def csv_text(chart: Chart) -> str:
    """Columns curve, x, mean, ci95_low, ci95_high; then x_ci95_low, x_ci95_high and panel if a curve has them.

    Boxes have curve, x, median, quartile_low, quartile_high, whisker_low, whisker_high, and panel. Spans have curve, x
    (their row), start, end, and panel. Numbers keep their full precision; a missing number is an empty cell.
    With remarks there is a column, remarks, with notes a last one, warnings, each with the same text in every row.
    """
    columns = {"x": "x", "mean": "mean", "ci95_low": "low", "ci95_high": "high"}
    if chart.kind == "box":
        columns = {"x": "x", "median": "mean", "quartile_low": "low", "quartile_high": "high"}
        columns |= {"whisker_low": "whisker_low", "whisker_high": "whisker_high"}
    if chart.kind == "spans":
        columns = {"x": "x", "start": "low", "end": "high"}
    if any(curve.x_low is not None for curve in chart.curves):
        columns |= {"x_ci95_low": "x_low", "x_ci95_high": "x_high"}
    panels = any(curve.panel for curve in chart.curves)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    words = {"remarks": chart.remarks, "warnings": chart.notes}
    notes = [" | ".join(texts) for texts in words.values() if texts]
    writer.writerow(["curve", *columns] + ["panel"] * panels + [name for name, texts in words.items() if texts])
    for curve in chart.curves:
        cells = (_cells(getattr(curve, name), len(curve.x)) for name in columns.values())
        writer.writerows([curve.label, *row] + [curve.panel] * panels + notes for row in zip(*cells, strict=True))
    return text.getvalue()


def _cells(column: Sequence[float] | Sequence[str] | None, length: int) -> list[str]:
    return [""] * length if column is None else [_cell(value) for value in column]


def _cell(value: float | str) -> str:
    if isinstance(value, str):
        return value
    number = float(value)
    if not isfinite(number):
        return ""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
