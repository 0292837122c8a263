"""Which runs an expression needs: found by a rehearsal of it, which also finds its mistakes before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy

from .. import _core
from ..progress import Progress
from ..simulation import simulate
from .measure import RARE_SERIES, Rehearsal, Vocabulary, evaluate
from .paper import Case, Claim, FigurePlan, Paper, PaperError, Point

# Long enough for every metric to appear under its name.
PROBE = (("duration", "50 ms"), ("warmup", "0 s"))


@dataclass(frozen=True)
class Needs:
    """The points that an expression reads, each with the series that it wants of them."""

    points: dict[Point, frozenset[str]]

    @property
    def first_seeds(self) -> int:
        """The seeds to begin with: those that all cases have."""
        return min((point.case.seeds for point in self.points), default=1)

    @property
    def max_seeds(self) -> int:
        """The most seeds that all cases allow."""
        return min((point.case.max_seeds for point in self.points), default=1)

    @property
    def looks(self) -> int:
        """How often a verdict may be looked for, the seeds doubling in between."""
        return 1 + ceil(log2(max(1, self.max_seeds / self.first_seeds)))


class Planner:
    """Finds what the claims and figures of a paper need; raises `PaperError` where one is wrong."""

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
            point.scenario.resolve()
        except _core.ScenarioError as error:
            raise PaperError(f"{self._paper.file}: case.{point}: {error}") from None

    def of_claim(self, claim: Claim) -> list[Needs]:
        """What each part of a claim needs, then what stands beside it."""
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
        value = evaluate(expression, place, self._paper.cases, rehearsal)
        check_kind(place, expression, value, a_list=a_list)
        return _needs(rehearsal)

    def of_figure(self, figure: FigurePlan) -> Needs:
        """What a figure needs."""
        place = f"{self._paper.file}: figure {figure.number}"
        rehearsal = Rehearsal(self._vocabulary)
        for row in self._places(f"{place}.rows", figure.rows, rehearsal):
            for x in self._places(f"{place}.x", figure.x, rehearsal):
                for n, curve in enumerate(figure.curves, start=1):
                    names = {"x": x, "row": row}
                    evaluate(curve.y, f"{place}.curves[{n}].y", self._paper.cases, rehearsal, names)
                    if curve.x is not None:
                        evaluate(curve.x, f"{place}.curves[{n}].x", self._paper.cases, rehearsal, names)
        for n, mark in enumerate(figure.marks, start=1):
            for bound in (mark.low, mark.high):
                if isinstance(bound, str):
                    value = evaluate(bound, f"{place}.marks[{n}]", self._paper.cases, rehearsal)
                    check_kind(f"{place}.marks[{n}]", bound, value, a_list=False)
        return _needs(rehearsal)

    def _places(self, place: str, given: Any, rehearsal: Rehearsal) -> list[Any]:
        """A list of the file, or the value of an expression, or nothing to go along."""
        if given is None:
            return [None]
        return list(evaluate(given, place, self._paper.cases, rehearsal)) if isinstance(given, str) else list(given)

    def _vocabulary(self, case: Case) -> Vocabulary | None:
        if case.name not in self._vocabularies:
            self._vocabularies[case.name] = _vocabulary(next(case.points()))
        return self._vocabularies[case.name]


def check_kind(place: str, expression: str, value: Any, *, a_list: bool) -> None:
    """Raises `PaperError` where a list is given and a number needed, or the other way round."""
    if bool(numpy.ndim(value)) != a_list:
        gives, needed = ("a number", "a list") if a_list else ("a list", "a number")
        raise PaperError(f"{place}: {expression!r} gives {gives}; {needed} is needed")


def _needs(rehearsal: Rehearsal) -> Needs:
    return Needs({point: frozenset(kept) for point, kept in rehearsal.points.items()})


def _vocabulary(point: Point) -> Vocabulary | None:
    """The names of all metrics that runs of a case have, from a very short one; None where there can be none."""
    scenario = point.scenario
    scenario.resolve()
    for path, value in PROBE:
        scenario = scenario.set(path, value)
    try:
        result = simulate(scenario, [1], 1, 0.01, Progress.silent(), keep_series=True)
    except _core.ScenarioError:
        return None  # a flow that starts later than so short a run ends
    if not result.runs:
        return None
    run = result.runs[0]
    known = {section: frozenset(run[section]) for section in ("totals", "medium")}
    known |= {table: frozenset(name for row in run[table] for name in row) for table in ("flows", "nodes", "links")}
    return known | {"series": frozenset([*result.timeseries["metric"].unique(), *RARE_SERIES])}
