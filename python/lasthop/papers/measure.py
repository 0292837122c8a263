"""Expressions of claim files: their functions, and their value for one seed.

expression.py is the language; docs/papers/format.md lists the functions. Lists from runs are NumPy arrays: arithmetic
on them goes element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import count
from typing import Any, Protocol

import numpy

from ..data.diagnostic import ScenarioError
from ..data.quantities import SERIES
from .expression import MAX_SIZE, ExpressionError, UnknownName, is_number, kind_of, value_of
from .paper import Case, PaperError, Point

# A run leaves out these series if every value is zero.
RARE_SERIES = tuple(quantity for quantity in SERIES if quantity.is_rare)
# Characters of an expression in a message.
SHOWN = 200
# The most contenders that `same_slot` counts through.
MAX_CONTENDERS = 10_000
MAX_DIGITS = 20
# Seconds of a time series in a rehearsal.
MAX_SERIES = 10_000


class Missing(ValueError):
    """A run lacks the number, such as the completion time of a flow that did not complete."""


class Source(Protocol):
    """The source of the numbers: the runs of one seed, or a rehearsal that only notes the requests."""

    def section(self, point: Point, section: str, metric: str) -> float:
        """A number of `totals` or `medium`."""

    def rows(self, point: Point, table: str, metric: str, matches: Callable[[dict[str, Any]], bool]) -> numpy.ndarray:
        """The numbers of the matching rows of `flows`, `nodes` or `links`, without missing ones."""

    def names(self, point: Point, matches: Callable[[dict[str, Any]], bool]) -> list[str]:
        """The ids of the matching flows."""

    def series(self, point: Point, metric: str, pattern: str) -> numpy.ndarray:
        """A value for each second, the sum over the matching entities."""

    def warmup_s(self, point: Point) -> float:
        """The length of the warm-up."""

    def answering(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` for use in expressions, with this source's treatment of missing numbers."""


def evaluate(
    expression: str, place: str, cases: Mapping[str, Case], source: Source, names: dict[str, Any] | None = None
) -> Any:
    """The value of `expression`; raises `PaperError` if it is wrong and `Missing` if a run lacks a number."""
    functions = {name: source.answering(function) for name, function in _functions(source).items()}
    try:
        return value_of(expression, {**cases, **(names or {})}, functions)
    except Missing:
        raise
    except ZeroDivisionError:
        raise Missing("a division by zero") from None
    except UnknownName as error:
        raise PaperError(f"{place}: {error}{_near(error.name, functions if error.function else cases)}") from None
    except (PaperError, ScenarioError) as error:
        raise PaperError(f"{place}: {error}") from None
    except ExpressionError as error:
        raise PaperError(f"{place}: {shortened(expression)} {error}") from None
    except Exception as error:  # noqa: BLE001 - whatever an expression does wrong is a mistake in the file
        raise PaperError(f"{place}: {shortened(expression)}: {error or type(error).__name__}") from None


def shortened(expression: str) -> str:
    """An expression for messages: in quotes, on one line, cut if it is long."""
    text = " ".join(expression.split())
    return repr(text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…")


def _near(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(str(name), list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"


def _functions(source: Source) -> dict[str, Callable[..., Any]]:
    """The functions that an expression may call."""

    def of_section(section: str) -> Callable[..., float]:
        return lambda case, metric, **labels: source.section(point_of(case, labels), section, metric)

    def flows(case: Case, metric: str, pattern: str = "*", **labels: Any) -> numpy.ndarray:
        return source.rows(point_of(case, labels), "flows", metric, _flow_matches(pattern))

    def nodes(case: Case, metric: str, pattern: str = "*", **labels: Any) -> numpy.ndarray:
        return source.rows(point_of(case, labels), "nodes", metric, lambda row: fnmatchcase(row["name"], pattern))

    def links(case: Case, metric: str, sender: str = "*", receiver: str = "*", **labels: Any) -> numpy.ndarray:
        def matches(row: dict[str, Any]) -> bool:
            return fnmatchcase(row["node"], sender) and fnmatchcase(row["peer"], receiver)

        return source.rows(point_of(case, labels), "links", metric, matches)

    def series(case: Case, metric: str, pattern: str = "*", **labels: Any) -> numpy.ndarray:
        return source.series(point_of(case, labels), metric, pattern)

    def steady(case: Case, metric: str, pattern: str = "*", **labels: Any) -> numpy.ndarray:
        point = point_of(case, labels)
        return source.series(point, metric, pattern)[round(source.warmup_s(point)) :]

    def names(case: Case, pattern: str = "*", **labels: Any) -> list[str]:
        return source.names(point_of(case, labels), _flow_matches(pattern))

    return {
        "totals": of_section("totals"),
        "medium": of_section("medium"),
        "flows": flows,
        "nodes": nodes,
        "links": links,
        "series": series,
        "steady": steady,
        "names": names,
        "axis": axis_labels,
        **_ARITHMETIC,
    }


def point_of(case: Any, labels: dict[str, Any]) -> Point:
    """The point of `case` with `labels`; raises `PaperError` for an unknown one."""
    if not isinstance(case, Case):
        raise PaperError(f"{case!r} is not a case")
    for name, label in labels.items():
        if name not in case.axes:
            raise PaperError(f"case {case.name} has no axis {name!r}{_near(name, case.axes)}")
        if label not in case.axes[name].labels:
            raise PaperError(
                f"axis {name} of case {case.name} has no label {label!r}; one of: {_listed(case.axes[name].labels)}"
            )
    for name, axis in case.axes.items():
        if name not in labels and len(axis.labels) > 1:
            raise PaperError(f"case {case.name} needs {name}=…; one of: {_listed(axis.labels)}")
    return case.point(labels)


def axis_labels(case: Any, axis: str) -> list[Any]:
    """The labels of an axis, in order."""
    if not isinstance(case, Case) or axis not in case.axes:
        raise PaperError(f"axis({getattr(case, 'name', case)}, {axis!r}): there is no such axis")
    return list(case.axes[axis].labels)


def _listed(labels: Iterable[Any]) -> str:
    return ", ".join(repr(label) for label in labels)


def _flow_matches(pattern: str) -> Callable[[dict[str, Any]], bool]:
    return lambda row: fnmatchcase(row["id"], pattern) or fnmatchcase(row["station"], pattern)


def _numbers(values: Any) -> numpy.ndarray:
    every = _flat(values)
    array: numpy.ndarray = every[~numpy.isnan(every)]
    if not array.size:
        raise Missing("a list without numbers")
    return array


def _flat(values: Any) -> numpy.ndarray:
    """All numbers of a list and of the lists in it, one after another; a number is a list of one."""
    numbers: list[float] = []
    waiting = [values]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list | tuple):
            waiting += reversed(one)
        elif isinstance(one, numpy.ndarray):
            numbers += one.tolist()
        else:
            numbers.append(_number(one))
    return numpy.array(numbers, dtype=float)


def _number(value: Any) -> float:
    if not is_number(value):
        raise ExpressionError(f"has {kind_of(value)} where a number is needed")
    return float(value)


def _listed_values(values: Any) -> Any:
    if not isinstance(values, list | tuple | numpy.ndarray):
        raise ExpressionError(f"has {kind_of(values)} where a list is needed")
    return values


def _array(values: Any) -> numpy.ndarray:
    return numpy.array([_number(value) for value in _listed_values(values)], dtype=float)


def _jain(values: Any) -> float:
    x = _numbers(values)
    squares = float((x * x).sum())
    if squares == 0:
        raise Missing("Jain's index of zeros")
    return float(x.sum()) ** 2 / (x.size * squares)


def _std(values: Any) -> float:
    x = _numbers(values)
    if x.size < 2:
        raise Missing("the deviation of a single number")
    return float(x.std(ddof=1))


def _rounded(x: Any, digits: Any = None) -> Any:
    if digits is not None and abs(_number(digits)) > MAX_DIGITS:
        raise ExpressionError(f"rounds to more than {MAX_DIGITS} digits")
    return round(x if is_number(x) else _number(x), digits)


def _range(*bounds: Any) -> list[int]:
    numbers = range(*bounds)
    try:
        too_many = len(numbers) > MAX_SIZE
    except OverflowError:
        too_many = True
    if too_many:
        raise ExpressionError(f"makes a list of more than {MAX_SIZE} values; make it shorter")
    return list(numbers)


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    """`min` or `max` of one list, or of several numbers, as in Python."""

    def extreme(*values: Any) -> Any:
        numbers = _listed_values(values[0]) if len(values) == 1 else values
        if not len(numbers):
            raise Missing("a list without numbers")
        for value in numbers:
            _number(value)
        return function(numbers)

    return extreme


def same_slot(contenders: int, cw: int) -> float:
    """Probability that two of `contenders` draw the same of `cw` slots [gopal2005]."""
    if not 1 <= _number(contenders) <= MAX_CONTENDERS or _number(cw) < 1:
        raise ExpressionError(
            f"same_slot: 1 to {MAX_CONTENDERS} contenders and at least one slot, not {contenders}, {cw}"
        )
    apart = 1.0
    for taken in range(1, contenders):
        apart *= max(0, cw - taken) / cw
    return 1 - apart


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "total": lambda values: float(_numbers(values).sum()),
    "mean": lambda values: float(_numbers(values).mean()),
    "least": lambda values: float(_numbers(values).min()),
    "most": lambda values: float(_numbers(values).max()),
    "std": _std,
    "quantile": lambda values, q: float(numpy.quantile(_numbers(values), _number(q))),
    "jain": _jain,
    "fraction_below": lambda values, bound: float((_numbers(values) < _number(bound)).mean()),
    "count": lambda values: len(_listed_values(values)),
    "array": _array,
    "log": lambda x: float(numpy.log(_number(x))),
    "sqrt": lambda x: float(numpy.sqrt(_number(x))),
    "abs": lambda x: abs(x if isinstance(x, numpy.ndarray) else _number(x)),
    "min": _extreme(min),
    "max": _extreme(max),
    "round": _rounded,
    "range": _range,
    "zip": lambda *lists: list(zip(*map(_listed_values, lists), strict=True)),
    "same_slot": same_slot,
}


class Rehearsal:
    """A source without runs: notes the points and series that are read, and checks the names of metrics.

    Its numbers are all different, to avoid divisions by zero and equalities.
    """

    def __init__(self, known: Callable[[Case], Vocabulary | None]) -> None:
        self.points: dict[Point, set[str]] = {}
        self.missing: Missing | None = None
        self._known = known
        self._numbers = (1 + (0.6180339887 * n) % 1 for n in count(1))

    def _note(self, point: Point, kind: str, metric: str) -> None:
        self.points.setdefault(point, set())
        known = self._known(point.case)
        if known is not None and metric not in known[kind]:
            raise PaperError(f"{point.case.name} has no {kind} metric {metric!r}{_near(metric, known[kind])}")

    def _array(self, length: int = 3) -> numpy.ndarray:
        return numpy.array([next(self._numbers) for _ in range(length)])

    def section(self, point: Point, section: str, metric: str) -> float:
        self._note(point, section, metric)
        return next(self._numbers)

    def rows(self, point: Point, table: str, metric: str, matches: Callable[[dict[str, Any]], bool]) -> numpy.ndarray:
        self._note(point, table, metric)
        return self._array()

    def names(self, point: Point, matches: Callable[[dict[str, Any]], bool]) -> list[str]:
        self.points.setdefault(point, set())
        return ["a", "b", "c"]

    def series(self, point: Point, metric: str, pattern: str) -> numpy.ndarray:
        self._note(point, "series", metric)
        if metric not in point.case.series:
            raise PaperError(f'case {point.case.name} does not keep series; add "{metric}" to its `series`')
        self.points[point].add(metric)
        # As many as a run has, so that an expression may read a later second.
        return self._array(min(MAX_SERIES, max(30, round(point.scenario.resolve().duration_s()))))

    def warmup_s(self, point: Point) -> float:
        return 0.0

    def answering(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Replaces a missing value of made-up numbers by another, so that the rehearsal reaches all reads."""

        def answer(*positional: Any, **named: Any) -> Any:
            try:
                return function(*positional, **named)
            except Missing as error:
                self.missing = error
                return next(self._numbers)

        return answer


Vocabulary = dict[str, frozenset[str]]
