"""The data of a figure: every curve for every seed, then means and their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..data.confidence import estimate
from ..views.plot import Chart, Curve, Mark, cdf_curve
from .measure import Missing
from .paper import FigurePlan, PaperError
from .rehearsal import check_kind, places

if TYPE_CHECKING:
    from .reproduction import Reproduction


class Drawing:
    """A figure's data: every curve for every seed, then means and intervals."""

    def __init__(self, reproduction: Reproduction, figure: FigurePlan, seeds: Sequence[int]) -> None:
        self._reproduction = reproduction
        self._figure = figure
        self._seeds = seeds
        self._place = f"{reproduction.paper.file}: figure {figure.number}"

    def chart(self) -> Chart:
        figure = self._figure
        ways = {"lines": self._lines, "heat_map": self._heat_map, "scatter": self._scatter, "cdf": self._cdf}
        curves = ways.get(figure.kind, self._lists)()
        return Chart(
            figure.kind,
            figure.title,
            figure.x_label,
            figure.y_label,
            tuple(curves),
            log_x=figure.log_x,
            log_y=figure.log_y,
            value_label=figure.value_label,
            y_most=figure.y_most,
            y_least=figure.y_least,
            marks=tuple(self._marks()),
        )

    def _marks(self) -> Iterator[Mark]:
        for mark in self._figure.marks:
            low, high = self._bound(mark.low), self._bound(mark.high)
            if (low is None or high is None) == (mark.low is None):  # otherwise a run lacks the number
                yield Mark(mark.label, low, high, mark.x)

    def _bound(self, bound: float | str | None) -> float | None:
        """A number of the file, or the mean of an expression over the seeds."""
        if not isinstance(bound, str):
            return bound
        mean = estimate([float(value) for value in self._values(bound)])
        return None if mean is None else mean.mean * self._figure.scale

    def _values(self, expression: str, names: dict[str, Any] | None = None, *, a_list: bool = False) -> list[Any]:
        values = []
        for seed in self._seeds:
            try:
                value = self._reproduction.value(self._place, expression, seed, names)
            except Missing:
                continue
            check_kind(self._place, expression, value, a_list=a_list)
            values.append(value)
        return values

    def _x(self) -> list[Any]:
        return self._places("x", self._figure.x)

    def _places(self, which: str, entries: Any) -> list[Any]:
        """A list of the file, or the value of an expression."""
        place = f"{self._place}.{which}"
        return places(place, entries, lambda: self._reproduction.value(place, entries, self._seeds[0]))

    def _lines(self) -> list[Curve]:
        places = self._x()
        return [
            _curve(curve.label, places, [self._values(curve.y, {"x": x}) for x in places], self._figure)
            for curve in self._figure.curves
        ]

    def _heat_map(self) -> list[Curve]:
        places, curve = self._x(), self._figure.curves[0]
        rows = self._places("rows", self._figure.rows)
        return [
            _curve(str(row), places, [self._values(curve.y, {"x": x, "row": row}) for x in places], self._figure)
            for row in rows
        ]

    def _lists(self) -> list[Curve]:
        curves = []
        for curve in self._figure.curves:
            by_seed = [numpy.asarray(values, dtype=float) for values in self._values(curve.y, a_list=True)]
            length = min((len(values) for values in by_seed), default=0)
            places = self._x() if self._figure.x is not None else [float(second) for second in range(1, length + 1)]
            if len(places) != length and by_seed:
                raise PaperError(
                    f"{self._place}: {len(places)} places on its x axis and {length} values of {curve.label!r}"
                )
            curves.append(
                _curve(curve.label, places, [[values[n] for values in by_seed] for n in range(length)], self._figure)
            )
        return curves

    def _cdf(self) -> list[Curve]:
        scale = self._figure.x_scale
        return [
            cdf_curve(
                curve.label,
                [
                    (numpy.asarray(values, dtype=float) * scale).tolist()
                    for values in self._values(curve.y, a_list=True)
                ],
            )
            for curve in self._figure.curves
        ]

    def _scatter(self) -> list[Curve]:
        curves = []
        for curve in self._figure.curves:
            if curve.x is None:  # the plan of a scatter plot has both
                continue
            x, y = (estimate([float(v) for v in self._values(text)]) for text in (curve.x, curve.y))
            if x is None or y is None:
                continue
            x, y = x.scaled(self._figure.x_scale), y.scaled(self._figure.scale)
            bounds: dict[str, Any] = {
                "low": _listed(y.ci95_low),
                "high": _listed(y.ci95_high),
                "x_low": _listed(x.ci95_low),
                "x_high": _listed(x.ci95_high),
            }
            curves.append(Curve(curve.label, [x.mean], [y.mean], **bounds))
        return curves


def _listed(bound: float | None) -> list[float] | None:
    return None if bound is None else [bound]


def _curve(label: str, places: Sequence[Any], values: Sequence[Sequence[float]], figure: FigurePlan) -> Curve:
    """A curve from the values of each place, one for each seed."""
    estimates = [estimate([float(value) for value in at_place]) for at_place in values]
    scaled = [None if item is None else item.scaled(figure.scale) for item in estimates]
    mean = [numpy.nan if item is None else item.mean for item in scaled]
    low = [m if item is None or item.ci95_low is None else item.ci95_low for m, item in zip(mean, scaled, strict=True)]
    high = [
        m if item is None or item.ci95_high is None else item.ci95_high for m, item in zip(mean, scaled, strict=True)
    ]
    several = any(item is not None and item.n > 1 for item in scaled)
    x = [place if isinstance(place, str) else float(place) * figure.x_scale for place in places]
    if any(isinstance(place, str) for place in x):
        x = [str(place) for place in places]
    return Curve(label, x, mean, low if several else None, high if several else None)
