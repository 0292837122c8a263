"""The data of a chart: curves with their intervals, and the same as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from ...confidence import estimate

KINDS = ("time_series", "lines", "bars", "stack", "cdf", "scatter", "heat_map")
# More points of a distribution than this cannot be told apart in the width of a column.
CDF_POINTS = 400


@dataclass(frozen=True)
class Curve:
    """One line, one set of bars, one row of a heat map: `mean` over `x`, with the bounds of its 95 % interval.

    All sequences have one length. A number that does not exist is NaN; `low` and `high` are None where nothing is
    known of the spread. `x_low` and `x_high` are an interval across, for scatter and cdf. Curves of one `panel`
    share axes, one panel stands below the other.
    """

    label: str
    x: Sequence[float] | Sequence[str]
    mean: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    x_low: Sequence[float] | None = None
    x_high: Sequence[float] | None = None
    panel: str = ""

    def __post_init__(self) -> None:
        for name in ("mean", "low", "high", "x_low", "x_high"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.x):
                raise ValueError(f"curve {self.label!r}: {len(self.x)} values of x, {len(values)} of {name}")
        if (self.low is None) != (self.high is None) or (self.x_low is None) != (self.x_high is None):
            raise ValueError(f"curve {self.label!r}: an interval has two bounds")

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(isfinite(value) for value in self.mean)


@dataclass(frozen=True)
class Chart:
    """What is seen (`title`), on which axes, in which curves; one of `KINDS`.

    Of a heat map each curve is a row: its label the row's value, `y_label` what the rows are, `value_label` what
    the colours are. The axis of values does not go beyond `y_most`, though intervals may. `log_x` and `log_y` have no
    effect along categories.
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

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind of chart {self.kind!r}; one of: {', '.join(KINDS)}")
        object.__setattr__(self, "curves", tuple(self.curves))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return all(curve.is_empty for curve in self.curves)

    @property
    def panels(self) -> list[str]:
        """The panels in the order of their first curves."""
        return list(dict.fromkeys(curve.panel for curve in self.curves)) or [""]


def cdf_curve(label: str, samples: Sequence[Sequence[float]], panel: str = "") -> Curve:
    """The distribution of `samples`, one list for each seed: the mean over seeds of the share of samples up to x.

    Every seed weighs the same. The interval is Student's t over seeds, kept within 0 and 1.
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
    found = [estimate(column) for column in shares.T.tolist()]
    mean = [one.mean for one in found]
    if len(seeds) == 1:
        return Curve(label, x.tolist(), mean, panel=panel)
    low, high = [max(0.0, one.ci95_low) for one in found], [min(1.0, one.ci95_high) for one in found]
    return Curve(label, x.tolist(), mean, low, high, panel=panel)


def csv_text(chart: Chart) -> str:
    """Columns curve, x, mean, ci95_low, ci95_high; then x_ci95_low, x_ci95_high and panel if a curve has them.

    Numbers are written so that they read back as the same; what does not exist is an empty cell.
    """
    across = any(curve.x_low is not None for curve in chart.curves)
    panels = any(curve.panel for curve in chart.curves)
    head = ["curve", "x", "mean", "ci95_low", "ci95_high"]
    head += ["x_ci95_low", "x_ci95_high"] * across + ["panel"] * panels
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(row[: 5 + 2 * across] + [row[7]] * panels for row in _rows(chart))
    return text.getvalue()


def _rows(chart: Chart) -> Iterator[list[str]]:
    for curve in chart.curves:
        columns = (curve.x, curve.mean, curve.low, curve.high, curve.x_low, curve.x_high)
        cells = zip(*(_cells(column, len(curve.x)) for column in columns), strict=True)
        yield from ([curve.label, *row, curve.panel] for row in cells)


def _cells(column: Sequence[float] | Sequence[str] | None, length: int) -> list[str]:
    return [""] * length if column is None else [_cell(value) for value in column]


def _cell(value: float | str) -> str:
    if isinstance(value, str):
        return value
    number = float(value)
    if not isfinite(number):
        return ""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
