"""The verdict of the runs on a claim.

A part holds if the whole interval of its measure lies within the expected range, does not hold if all of it lies
outside, and is undecided in between: more seeds may decide. A claim holds if all of its parts do.

Repeated tests with more seeds err more often than an interval states. A verdict that may be judged `looks` times uses
intervals of confidence 1 - 0.05 / looks, by Bonferroni's inequality; the shown ones are of 95 %.

A claim whose setting is lost, and was chosen again, is not comparable: its numbers are shown next to the paper's
without a verdict. The claim file states this, with its reason, before anything runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy

from ..data.confidence import Estimate, estimate, t_bound
from .paper import Expectation


class Verdict(StrEnum):
    """The state of a claim."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"
    UNDECIDED = "undecided: more seeds needed"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class Finding:
    """The measure of a part over the seeds, and its verdict; for a shape, the worst step too."""

    estimate: Estimate | None
    verdict: Verdict
    values: tuple[float, ...] = ()
    step: str = ""


def judge(
    expectation: Expectation, by_seed: Sequence[float | Sequence[float]], *, looks: int = 1, exact: bool = False
) -> Finding:
    """The verdict on the values of a measure, one for each seed; `exact` values depend on no run."""
    if not by_seed:
        return Finding(None, Verdict.UNDECIDED)
    if expectation.shape is not None:
        lists = numpy.array([numpy.asarray(values, dtype=float) for values in by_seed])
        return _judge_shape(expectation, lists, looks, exact)
    mean = _estimate([float(value) for value in by_seed], exact)  # type: ignore[arg-type]  # no shape: numbers
    return Finding(mean, _within(mean, expectation.low, expectation.high, looks))


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on a claim from the verdicts on its parts."""
    decided = set(verdicts)
    if decided == {Verdict.HOLDS} or decided == {Verdict.FAILS}:
        return verdicts[0]
    if Verdict.UNDECIDED not in decided or (Verdict.FAILS in decided and Verdict.HOLDS in decided):
        return Verdict.IN_PART
    return Verdict.UNDECIDED


def _estimate(values: list[float], exact: bool) -> Estimate:
    of_values = estimate(values)
    assert of_values is not None  # a measure is finite
    if exact:
        return Estimate(of_values.mean, of_values.mean, of_values.mean, of_values.n)
    return of_values


def _within(measured: Estimate, low: float | None, high: float | None, looks: int) -> Verdict:
    if measured.half_width is None:
        return Verdict.UNDECIDED
    half = measured.half_width
    if half > 0:
        half *= t_bound(measured.n - 1, 1 - 0.05 / looks) / t_bound(measured.n - 1, 0.95)
    low, high = -numpy.inf if low is None else low, numpy.inf if high is None else high
    if low <= measured.mean - half and measured.mean + half <= high:
        return Verdict.HOLDS
    if measured.mean + half < low or high < measured.mean - half:
        return Verdict.FAILS
    return Verdict.UNDECIDED


def _judge_shape(expectation: Expectation, values: numpy.ndarray, looks: int, exact: bool) -> Finding:
    """`values`: seeds x points. A shape is a set of paired steps, each with its interval."""
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError("a shape needs a list of at least two numbers")
    means = tuple(float(mean) for mean in values.mean(axis=0))
    if expectation.shape == "flat":
        highest, lowest = int(numpy.argmax(means)), int(numpy.argmin(means))
        steps = [(lowest, highest)]
    else:
        steps = list(pairwise(range(values.shape[1])))
    sign = -1.0 if expectation.shape == "decreasing" else 1.0
    changes = []
    for start, end in steps:
        base = abs(means[start]) or 1.0
        changes.append(
            (start, end, _estimate([float(step) for step in sign * (values[:, end] - values[:, start]) / base], exact))
        )
    if expectation.shape == "flat":
        verdicts = [_within(step, None, expectation.tolerance, looks) for _, _, step in changes]
        worst = changes[0]
    else:
        verdicts = [_within(step, -expectation.tolerance, None, looks) for _, _, step in changes]
        worst = min(changes, key=lambda step: step[2].mean)
    verdict = verdicts[0] if len(set(verdicts)) == 1 else _mixed(verdicts)
    return Finding(worst[2], verdict, means, f"{worst[0] + 1} to {worst[1] + 1}")


def _mixed(verdicts: Sequence[Verdict]) -> Verdict:
    """One step in the wrong direction breaks a shape."""
    return Verdict.FAILS if Verdict.FAILS in verdicts else Verdict.UNDECIDED
