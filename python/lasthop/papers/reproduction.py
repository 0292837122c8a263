"""Reproduces a paper: judges its claims and gathers its figures' data.

Seeds are added, up to the case's `max_seeds`, while a verdict is undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from ..data.confidence import Estimate, estimate
from ..study.store import Job
from ..views.plot import Chart
from .drawing import Drawing
from .expression import is_number
from .measure import Missing, evaluate
from .paper import Claim, FigurePlan, Paper, PaperError, Part, Today
from .queue_drops import Loss, losses
from .recorded import Recorded, Runs
from .rehearsal import Needs, Planner, check_kind
from .verdict import Finding, Verdict, combine, judge


@dataclass(frozen=True)
class PartOutcome:
    """A part of a claim after the runs."""

    part: Part
    needs: Needs
    finding: Finding
    seeds: int
    missing: str = ""

    @property
    def more_seeds(self) -> int:
        """The seeds of the next round: twice as many if the part is undecided and may have them."""
        undecided = self.finding.verdict is Verdict.UNDECIDED
        return min(2 * self.seeds, max(self.seeds, self.needs.max_seeds)) if undecided else self.seeds


@dataclass(frozen=True)
class TodayOutcome:
    """Numbers of a current system."""

    today: Today
    needs: Needs
    estimate: Estimate | None


@dataclass(frozen=True)
class ClaimOutcome:
    """A claim after the runs."""

    claim: Claim
    parts: tuple[PartOutcome, ...]
    today: tuple[TodayOutcome, ...]
    losses: tuple[Loss, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim."""
        if self.claim.not_comparable:
            return Verdict.NOT_COMPARABLE
        return combine([part.finding.verdict for part in self.parts])

    @property
    def may_be_decided(self) -> bool:
        """Whether more seeds may decide it."""
        return any(part.more_seeds > part.seeds for part in self.parts)


class Reproduction:
    """A paper and its runs."""

    def __init__(self, paper: Paper, runs: Runs) -> None:
        self.paper = paper
        self.planner = Planner(paper)
        self._runs = runs

    def first_jobs(self, claims: Sequence[Claim], figures: Sequence[FigurePlan]) -> list[Job]:
        """Returns the first runs of all claims and figures, each once; the caller runs them."""
        needs_and_seeds: list[tuple[Needs, Sequence[int]]] = [
            (needs, _first(needs)) for claim in claims for needs in self.planner.of_claim(claim)
        ]
        for figure in figures:
            needs = self.planner.of_figure(figure)
            needs_and_seeds.append((needs, figure.seeds or _first(needs)))
        return self._runs.lacking(needs_and_seeds)

    # Claims --------------------------------------------------------------------------------------------------------

    def claims(self, chosen: Sequence[Claim]) -> list[ClaimOutcome]:
        """Runs the seeds that `chosen` need, adds more while they are undecided, and judges them."""
        needs = [self.planner.of_claim(claim) for claim in chosen]
        self._runs.bring((need, _first(need)) for of_claim in needs for need in of_claim)
        outcomes = [
            self._judged(claim, of_claim, [need.first_seeds for need in of_claim])
            for claim, of_claim in zip(chosen, needs, strict=True)
        ]
        while any(outcome.may_be_decided for outcome in outcomes):
            self._runs.bring(
                (part.needs, range(1, part.more_seeds + 1)) for outcome in outcomes for part in outcome.parts
            )
            outcomes = [
                self._judged(outcome.claim, of_claim, [part.more_seeds for part in outcome.parts])
                if outcome.may_be_decided
                else outcome
                for outcome, of_claim in zip(outcomes, needs, strict=True)
            ]
        return [replace(outcome, losses=self._losses(outcome)) for outcome in outcomes]

    def _losses(self, outcome: ClaimOutcome) -> tuple[Loss, ...]:
        """Returns the drops of queues in the runs that the parts of a claim read."""
        return losses(self._runs, ((part.needs, range(1, part.seeds + 1)) for part in outcome.parts))

    def _judged(self, claim: Claim, needs: list[Needs], seeds: list[int]) -> ClaimOutcome:
        place = f"{self.paper.file}: claim {claim.id}"
        parts = []
        for n, part in enumerate(claim.parts):
            values, missing = self._by_seed(f"{place}.part[{n + 1}].measure", part.measure, range(1, seeds[n] + 1))
            finding = _judge(place, part, values, needs[n])
            if claim.not_comparable:
                finding = replace(finding, verdict=Verdict.NOT_COMPARABLE)
            parts.append(PartOutcome(part, needs[n], finding, seeds[n], missing))
        today = [
            TodayOutcome(item, need, self._mean(f"{place}.today[{n}].measure", item.measure, need))
            for n, (item, need) in enumerate(zip(claim.today, needs[len(claim.parts) :], strict=True), start=1)
        ]
        return ClaimOutcome(claim, tuple(parts), tuple(today))

    def _mean(self, place: str, expression: str, needs: Needs) -> Estimate | None:
        values, _ = self._by_seed(place, expression, _first(needs))
        for value in values:
            check_kind(place, expression, value, a_list=False)
        return estimate([float(value) for value in values])

    def _by_seed(self, place: str, expression: str, seeds: Iterable[int]) -> tuple[list[Any], str]:
        """The value for each seed, and the reason for a missing one."""
        values, missing = [], ""
        for seed in seeds:
            try:
                value = self.value(place, expression, seed)
            except Missing as error:
                missing = f"seed {seed}: {error}"
                continue
            if is_number(value) and not isfinite(value):
                missing = f"seed {seed}: {value}"
                continue
            values.append(value)
        return values, missing

    # Figures -------------------------------------------------------------------------------------------------------

    def chart(self, figure: FigurePlan) -> Chart:
        """Runs the seeds of a figure and gathers its data."""
        needs = self.planner.of_figure(figure)
        seeds = figure.seeds or tuple(_first(needs))
        self._runs.bring([(needs, seeds)])
        return Drawing(self, figure, seeds).chart()

    def losses_behind(self, figure: FigurePlan) -> tuple[Loss, ...]:
        """Returns the drops of queues in the runs that a figure shows."""
        needs = self.planner.of_figure(figure)
        return losses(self._runs, [(needs, figure.seeds or _first(needs))])

    def value(self, place: str, expression: str, seed: int, names: dict[str, Any] | None = None) -> Any:
        """The value of an expression under one seed; raises `Missing` if a run lacks a number."""
        return evaluate(expression, place, self.paper.cases, Recorded(self._runs, seed), names)


def _first(needs: Needs) -> range:
    return range(1, needs.first_seeds + 1)


def _judge(place: str, part: Part, values: list[Any], needs: Needs) -> Finding:
    for value in values:
        check_kind(place, part.measure, value, a_list=part.expectation.shape is not None)
    try:
        return judge(part.expectation, values, looks=needs.looks, exact=not needs.points)
    except ValueError as error:
        raise PaperError(f"{place}: {part.measure!r}: {error}") from None
