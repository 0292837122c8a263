"""Finds the runs that an expression needs, and its mistakes, by a rehearsal before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy

from ..data.diagnostic import ScenarioError
from ..study.progress import Progress
from ..study.simulation import simulate
from .expression import is_list_of_numbers, is_number, kind_of
from .measure import RARE_SERIES, Missing, Rehearsal, Vocabulary, evaluate, shortened
from .paper import Case, Claim, FigurePlan, Paper, PaperError, Point

# Long enough for every metric to appear under its name.
PROBE = (("duration", "50 ms"), ("warmup", "0 s"))
# Kinds of figures whose curves have a number for each place; other curves have a list.
OF_NUMBERS = ("lines", "scatter", "heat_map")
MAX_PLACES = 10_000


@dataclass(frozen=True)
class Needs:
    """The points that an expression reads, each with the time series that it reads."""

    points: dict[Point, frozenset[str]]

    @property
    def first_seeds(self) -> int:
        """The first number of seeds, which all cases have."""
        return min((point.case.seeds for point in self.points), default=1)

    @property
    def max_seeds(self) -> int:
        """The largest number of seeds that all cases allow."""
        return min((point.case.max_seeds for point in self.points), default=1)

    @property
    def looks(self) -> int:
        """The number of times that a verdict may be judged, with the seeds doubled in between."""
        return 1 + ceil(log2(max(1, self.max_seeds / self.first_seeds)))


class Planner:
    """Finds the runs that the claims and figures of a paper need; raises `PaperError` for a mistake."""

    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self._vocabularies: dict[str, Vocabulary | None] = {}

    def check(self) -> None:
        """Checks every setting and rehearses every expression."""
        for case in self._paper.cases.values():
            for point in case.points():
                self._resolve(point)
        for claim in self._paper.claims:
            self.of_claim(claim)
        for figure in self._paper.figures:
            self.of_figure(figure)

    def _resolve(self, point: Point) -> None:
        try:
            point.scenario.resolve().check_simulable()
        except ScenarioError as error:
            raise PaperError(f"{self._paper.file}: case.{point}: {error}") from None

    def of_claim(self, claim: Claim) -> list[Needs]:
        """Returns the needs of each part of a claim, then of its further numbers."""
        place = f"{self._paper.file}: claim {claim.id}"
        parts = [
            self._of(f"{place}.part[{n}].measure", part.measure, a_list=part.expectation.shape is not None)
            for n, part in enumerate(claim.parts, start=1)
        ]
        beside = [
            self._of(f"{place}.today[{n}].measure", item.measure, a_list=False)
            for n, item in enumerate(claim.today, start=1)
        ]
        return parts + beside

    def _of(self, place: str, expression: str, *, a_list: bool) -> Needs:
        rehearsal = Rehearsal(self._vocabulary)
        self._rehearsed(place, expression, rehearsal, a_list=a_list)
        return _needs(rehearsal)

    def _rehearsed(
        self, place: str, expression: str, rehearsal: Rehearsal, names: dict[str, Any] | None = None, *, a_list: bool
    ) -> None:
        """Raises `PaperError` if an expression is wrong, or has no value whatever the runs give."""
        try:
            value = evaluate(expression, place, self._paper.cases, rehearsal, names)
        except Missing as error:
            raise PaperError(f"{place}: {shortened(expression)} has no value: {error}") from None
        check_kind(place, expression, value, a_list=a_list)
        if not rehearsal.points and rehearsal.missing:
            raise PaperError(f"{place}: {shortened(expression)} has no value: {rehearsal.missing}")
        if not rehearsal.points and not numpy.isfinite(value).all():
            raise PaperError(f"{place}: {shortened(expression)} gives {value}; a finite number is needed")

    def of_figure(self, figure: FigurePlan) -> Needs:
        """Returns the needs of a figure."""
        place = f"{self._paper.file}: figure {figure.number}"
        rehearsal = Rehearsal(self._vocabulary)
        for row in self._places(f"{place}.rows", figure.rows, rehearsal):
            for x in self._places(f"{place}.x", figure.x, rehearsal):
                for n, curve in enumerate(figure.curves, start=1):
                    names, here = {"x": x, "row": row}, f"{place}.curves[{n}]"
                    self._rehearsed(f"{here}.y", curve.y, rehearsal, names, a_list=figure.kind not in OF_NUMBERS)
                    if curve.x is not None:
                        self._rehearsed(f"{here}.x", curve.x, rehearsal, names, a_list=False)
        for n, mark in enumerate(figure.marks, start=1):
            for bound in (mark.low, mark.high):
                if isinstance(bound, str):
                    self._rehearsed(f"{place}.marks[{n}]", bound, rehearsal, a_list=False)
        return _needs(rehearsal)

    def _places(self, place: str, entries: Any, rehearsal: Rehearsal) -> list[Any]:
        """A list of the file, or the value of an expression; a single None without either."""
        if entries is None:
            return [None]
        return places(place, entries, lambda: evaluate(entries, place, self._paper.cases, rehearsal))

    def _vocabulary(self, case: Case) -> Vocabulary | None:
        if case.name not in self._vocabularies:
            self._vocabularies[case.name] = _vocabulary(next(case.points()))
        return self._vocabularies[case.name]


def check_kind(place: str, expression: str, value: Any, *, a_list: bool) -> None:
    """Raises `PaperError` unless the value is a number, or a list of numbers if `a_list`."""
    if not (is_list_of_numbers(value) if a_list else is_number(value)):
        needed = "a list of numbers" if a_list else "a number"
        raise PaperError(f"{place}: {shortened(expression)} gives {kind_of(value)}; {needed} is needed")


def places(place: str, entries: Any, value: Callable[[], Any]) -> list[Any]:
    """Numbers and words along an axis: a list of the file, or the value of an expression; raises `PaperError`."""
    try:
        values = value() if isinstance(entries, str) else entries
    except Missing as error:
        raise PaperError(f"{place}: {shortened(entries)} has no value: {error}") from None
    if not isinstance(values, list | tuple | numpy.ndarray) or not len(values):
        raise PaperError(f"{place}: numbers or words in a list are needed, not {kind_of(values)}")
    if len(values) > MAX_PLACES or not all(isinstance(one, str) or is_number(one) for one in values):
        raise PaperError(f"{place}: up to {MAX_PLACES} numbers or words are needed")
    return list(values)


def _needs(rehearsal: Rehearsal) -> Needs:
    return Needs({point: frozenset(kept) for point, kept in rehearsal.points.items()})


def _vocabulary(point: Point) -> Vocabulary | None:
    """The names of all metrics that runs of a case have, from a very short run; None if it fails."""
    scenario = point.scenario
    scenario.resolve()
    for path, value in PROBE:
        scenario = scenario.set(path, value)
    try:
        result = simulate(scenario, [1], 1, 0.01, Progress.silent(), keep_series=True)
    except ScenarioError:
        return None  # a flow starts after the end of so short a run
    if result.was_told_to_stop:
        raise KeyboardInterrupt
    if not result.runs:
        return None
    run = result.runs[0]
    known = {section: frozenset(run[section]) for section in ("totals", "medium")}
    known |= {table: frozenset(name for row in run[table] for name in row) for table in ("flows", "nodes", "links")}
    return known | {"series": frozenset([*result.series.present_metrics(), *RARE_SERIES])}
