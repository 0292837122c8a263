"""Reads claim files, `papers/KEY.toml`, and checks them before anything runs.

docs/papers/adding.md describes the format. A claim file may come from a stranger, so the work that it can request is
bounded.
"""

from __future__ import annotations

import os
import re
import sys
from difflib import get_close_matches
from math import isnan, prod
from pathlib import Path
from typing import Any

from ..data.foreign_text import Unreadable, toml_of
from ..data.origin import ALLOW, Origin, Source
from ..study.scenario import Scenario, load, readable_text, toml_value
from ..study.simulation import MAX_SEED
from .paper import (
    UNITS,
    Axis,
    Case,
    Claim,
    CurvePlan,
    Expectation,
    FigurePlan,
    MarkPlan,
    Paper,
    PaperError,
    Part,
    Today,
)

DEFAULT_SEEDS = 5
DEFAULT_MAX_SEEDS = 20
MAX_SEEDS = 10_000
MAX_POINTS = 10_000
# A word that becomes part of the name of a file.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
KINDS = ("time_series", "lines", "bars", "stack", "cdf", "scatter", "heat_map")
SHAPES = ("flat", "increasing", "decreasing")


def read_paper(file: Path, *, quick: bool = False, allow_code: bool = False) -> Paper:
    """Reads and checks a claim file; raises `PaperError` or `ScenarioError` if it is wrong or unreadable.

    It may name files in its folder and in the neighbouring folder `scenarios`, and no code, unless `allow_code`.
    """
    try:
        document = toml_of(file, name="not a claim file")
    except OSError as error:
        raise PaperError(f"{readable_text(str(file))}: {error.strerror}") from None
    except Unreadable as error:
        raise PaperError(f"{file}: {error}") from None
    return _Reader(file, quick, allow_code).paper(document)


class _Table:
    """A table of the file. Each value is checked when it is taken; a key that is never taken is an error."""

    def __init__(self, place: str, table: Any) -> None:
        if not isinstance(table, dict):
            raise PaperError(f"{place}: a table is needed, not {table!r}")
        self.place = place
        self._left = dict(table)
        self._known: list[str] = []

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """The value of `key`, which must be of `kind`."""
        self._known.append(key)
        if key not in self._left:
            if default is ...:
                near = get_close_matches(key, self._left, 1)
                hint = f"; did you mean it by {near[0]!r}?" if near else ""
                raise PaperError(f"{self.place}: {key} is missing{hint}")
            return default
        value = self._left.pop(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise PaperError(f"{self.place}.{key}: {_in_words(kind)} is needed, not {value!r}")
        if isinstance(value, str) and CONTROL.search(value):
            raise PaperError(f"{self.place}.{key}: has a control character: {value!r}")
        return value

    def number(self, key: str, default: float | None = None) -> float | None:
        """A finite number, or `default` if it is missing."""
        value = self.take(key, (int, float), default)
        return None if value is None else self._finite(key, value)

    def number_or_text(self, key: str) -> float | str | None:
        """A finite number or an expression; None if it is missing."""
        value = self.take(key, (int, float, str), None)
        return value if value is None or isinstance(value, str) else self._finite(key, value)

    def _finite(self, key: str, value: float) -> float:
        if abs(value) > sys.float_info.max or isnan(value):
            raise PaperError(f"{self.place}.{key}: a finite number is needed")
        return float(value)

    def name(self, key: str) -> str:
        """Letters, digits, and - and _ and . between them, for use in the name of a file."""
        value: str = self.take(key, str)
        if not NAME.fullmatch(value):
            raise PaperError(f"{self.place}.{key}: up to 40 letters, digits, - and _ and . are needed, not {value!r}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self.take(key, list, [])
        for value in values:
            if not isinstance(value, str) or CONTROL.search(value):
                raise PaperError(f"{self.place}.{key}: a list of texts is needed, not {value!r} in it")
        return tuple(values)

    def settings(self, key: str) -> tuple[tuple[str, Any], ...]:
        """Paths and values to lay over a scenario."""
        return _settings(f"{self.place}.{key}", self.take(key, dict, {}))

    def word(self, key: str, words: tuple[str, ...], default: Any = ...) -> Any:
        """One of `words`."""
        value = self.take(key, str, default)
        if value is not default and value not in words:
            raise PaperError(
                f'{self.place}.{key}: unknown "{value}"; one of: {", ".join(word or "none" for word in words)}'
            )
        return value

    def seeds(self, key: str, default: int) -> int:
        """A number of seeds."""
        value: int = self.take(key, int, default)
        if not 1 <= value <= MAX_SEEDS:
            raise PaperError(f"{self.place}.{key}: the number of seeds is from 1 to {MAX_SEEDS}, not {_short(value)}")
        return value

    def rest(self) -> dict[str, Any]:
        """Returns the keys that were not read."""
        left, self._left = self._left, {}
        return left

    def end(self) -> None:
        """Raises `PaperError` for keys that were not taken."""
        for key in self._left:
            near = get_close_matches(key, self._known, 1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise PaperError(f"{self.place}: unknown key {key!r}{hint}")


def _short(value: int) -> str:
    """A whole number as messages show it."""
    return str(value) if abs(value) < 1e18 else "so many digits"


def _settings(place: str, table: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    for path, value in table.items():
        try:
            toml_value(value)
        except (TypeError, ValueError):
            raise PaperError(f"{place}.{path}: no key of a scenario takes {value!r}") from None
    return tuple(table.items())


def _in_words(kind: type | tuple[type, ...]) -> str:
    names = {
        str: "text",
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        list: "a list",
        dict: "a table",
    }
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return "a number" if kinds == (int, float) else " or ".join(names[one] for one in kinds)


def _label(key: str) -> str | int | float:
    """A key as a label: a number if it reads as one."""
    for kind in (int, float):
        try:
            return kind(key)
        except ValueError:
            continue
    return key


class _Reader:
    def __init__(self, file: Path, quick: bool, allow_code: bool) -> None:
        self.file = file
        folder = Path(os.path.realpath(file.parent))
        self.origin = Origin(Source.CLAIM, (folder, folder.parent / "scenarios"), allow_code)
        self.quick = quick
        self.points = 0

    def paper(self, document: dict[str, Any]) -> Paper:
        top = _Table(str(self.file), document)
        self.quick_default = _Table(f"{self.file}: quick", top.take("quick", dict, {}))
        self.quick_seeds = self.quick_default.seeds("seeds", 3)
        self.quick_set = self.quick_default.settings("set")
        self.quick_default.end()
        paper = Paper(
            quick=self.quick,
            key=self.file.stem,
            file=self.file,
            title=top.take("title", str),
            authors=top.take("authors", str, ""),
            published=top.take("published", str, ""),
            reference=top.take("reference", str, ""),
            summary=top.take("summary", str, ""),
            notes=top.texts("notes"),
            cases={name: self.case(name, table) for name, table in top.take("case", dict, {}).items()},
            claims=tuple(
                self.claim(number, table) for number, table in enumerate(top.take("claim", list, []), start=1)
            ),
            figures=tuple(self.figure(number, table) for number, table in enumerate(top.take("figure", list, []), 1)),
        )
        top.end()
        self.once("claim", [claim.id for claim in paper.claims])
        self.once("figure", [figure.number for figure in paper.figures])
        known = {claim.id for claim in paper.claims}
        for figure in paper.figures:
            for name in set(figure.claims) - known:
                raise PaperError(f"{self.file}: figure {figure.number}.claims: there is no claim {name}")
        return paper

    def once(self, what: str, names: list[str]) -> None:
        for name in names:
            if names.count(name) > 1:
                raise PaperError(f"{self.file}: {what} {name} occurs twice")

    def case(self, name: str, table: Any) -> Case:
        place = f"{self.file}: case.{name}"
        if not name.isidentifier():
            raise PaperError(f"{place}: a name of letters, digits and _ is needed, as expressions use it")
        table = _Table(place, table)
        scenario = self.scenario(f"{place}.scenario", table.take("scenario", str))
        settings = table.settings("set")
        axes = {axis: self.axis(f"{place}.over.{axis}", value) for axis, value in table.take("over", dict, {}).items()}
        seeds = table.seeds("seeds", DEFAULT_SEEDS)
        max_seeds = table.seeds("max_seeds", max(seeds, DEFAULT_MAX_SEEDS))
        series = table.texts("series")
        quick = _Table(f"{place}.quick", table.take("quick", dict, {}))
        table.end()
        if max_seeds < seeds:
            raise PaperError(f"{place}.max_seeds: {max_seeds} is less than the {seeds} seeds to begin with")
        self.points += prod(len(axis.labels) for axis in axes.values())
        if self.points > MAX_POINTS:
            raise PaperError(
                f"{place}.over: the file's cases have {_short(self.points)} combinations; at most {MAX_POINTS}"
            )
        case = Case(name, scenario, settings, axes, seeds, max_seeds, series)
        quick_case = self.quick_case(case, quick)
        return quick_case if self.quick else case

    def scenario(self, place: str, name: str) -> Scenario:
        """A scenario near the claim file. The path of an untrusted claim file may lead to scenarios only."""
        file = self.file.parent / name
        if Path(name).is_absolute() or not {file.suffix, Path(os.path.realpath(file)).suffix} == {".toml"}:
            raise PaperError(f"{place}: a path from the claim file to a scenario (.toml) is needed, not {name!r}")
        if not self.origin.is_trusted and not self.origin.holds(file):
            raise PaperError(
                f"{place}: {name!r} is neither in the claim file's folder nor in the folder `scenarios` next to that; {ALLOW}"
            )
        if file.exists() and not file.is_file():
            raise PaperError(f"{place}: {file}: is not a file")
        try:
            return load(file, origin=self.origin)
        except OSError as error:
            raise PaperError(f"{place}: {file}: {error.strerror}") from None

    def quick_case(self, case: Case, quick: _Table) -> Case:
        """The case of `--quick`; read in any event, to find its mistakes."""
        seeds = quick.seeds("seeds", self.quick_seeds)
        settings = quick.settings("set") or self.quick_set
        axes = dict(case.axes)
        for axis, labels in quick.take("over", dict, {}).items():
            if axis not in axes:
                raise PaperError(f"{quick.place}.over: the case has no axis {axis}")
            if not isinstance(labels, list):
                raise PaperError(f"{quick.place}.over.{axis}: a list of labels is needed, not {labels!r}")
            unknown = [label for label in labels if label not in axes[axis].labels]
            if unknown or not labels:
                raise PaperError(f"{quick.place}.over.{axis}: {unknown or 'nothing'} is not among its labels")
            axes[axis] = Axis(tuple(labels), tuple(axes[axis].settings_of(label) for label in labels))
        quick.end()
        return Case(case.name, case.scenario, case.settings + settings, axes, seeds, seeds, case.series)

    def axis(self, place: str, value: Any) -> Axis:
        if isinstance(value, dict) and set(value) == {"path", "values"}:
            path, values = value["path"], value["values"]
            if not isinstance(path, str) or not isinstance(values, list) or not values:
                raise PaperError(f'{place}: {{ path = "…", values = […] }} needs a text and a list that is not empty')
            settings = tuple(_settings(place, {path: one}) for one in values)
            labels = tuple(label if isinstance(label, str | int | float) else str(label) for label in values)
        elif isinstance(value, dict) and value and all(isinstance(one, dict) for one in value.values()):
            settings = tuple(_settings(f"{place}.{label}", one) for label, one in value.items())
            labels = tuple(map(_label, value))
        else:
            raise PaperError(
                f'{place}: {{ path = "…", values = […] }}, or label = {{ path = value }} for each label, is needed'
            )
        if len(set(labels)) < len(labels):
            raise PaperError(f"{place}: a label occurs twice")
        return Axis(labels, settings)

    def claim(self, number: int, table: Any) -> Claim:
        table = _Table(f"{self.file}: claim[{number}]", table)
        name = table.name("id")
        table.place = f"{self.file}: claim {name}"
        parts = table.take("part", list, [])
        today = table.take("today", list, [])
        claim = Claim(
            id=name,
            place=table.take("place", str, ""),
            sentence=table.take("sentence", str),
            parts=tuple(self.part(f"{table.place}.part[{n}]", part) for n, part in enumerate(parts, start=1)),
            today=tuple(self.today(f"{table.place}.today[{n}]", part) for n, part in enumerate(today, start=1)),
            found=table.take("found", str, ""),
            not_comparable=table.take("not_comparable", str, ""),
        )
        table.end()
        if not claim.parts:
            raise PaperError(f"{table.place}: has no [[claim.part]] to check")
        return claim

    def today(self, place: str, table: Any) -> Today:
        table = _Table(place, table)
        today = Today(table.take("label", str), table.take("measure", str), table.word("unit", tuple(UNITS), ""))
        table.end()
        return today

    def part(self, place: str, table: Any) -> Part:
        table = _Table(place, table)
        part = Part(
            sentence=table.take("sentence", str, ""),
            measure=table.take("measure", str),
            unit=table.word("unit", tuple(UNITS), ""),
            expectation=self.expectation(table),
        )
        table.end()
        return part

    def expectation(self, part: _Table) -> Expectation:
        expect = _Table(f"{part.place}.expect", part.take("expect", dict))
        low, high = expect.number("from"), expect.number("to")
        shape = expect.word("shape", SHAPES, None)
        expect.end()
        tolerance, because = part.number("tolerance") or 0.0, part.take("because", str, "")
        if tolerance < 0:
            raise PaperError(f"{part.place}.tolerance: {tolerance:g} is negative")
        if tolerance and not because:
            raise PaperError(f"{part.place}: a tolerance needs its reason; add `because`")
        if shape is None and low is None and high is None:
            raise PaperError(f"{expect.place}: allows every number; give from, to or shape")
        if shape is not None and (low is not None or high is not None):
            raise PaperError(f"{expect.place}: either a range (from, to) or a shape, not both")
        if low is not None and high is not None and low > high:
            raise PaperError(f"{expect.place}: no number is from {low:g} to {high:g}")
        low = None if low is None else low - tolerance
        high = None if high is None else high + tolerance
        return Expectation(low, high, shape, tolerance, because)

    def figure(self, number: int, table: Any) -> FigurePlan:
        table = _Table(f"{self.file}: figure[{number}]", table)
        name = table.name("number")
        table.place = f"{self.file}: figure {name}"
        curves = table.take("curves", list)
        seeds = self.seeds(table)
        figure = FigurePlan(
            number=name,
            title=table.take("title", str),
            kind=table.word("kind", KINDS),
            x_label=table.take("x_label", str, ""),
            y_label=table.take("y_label", str, ""),
            scale=table.number("scale", 1.0),
            x_scale=table.number("x_scale", 1.0),
            curves=tuple(self.curve(f"{table.place}.curves[{n}]", curve) for n, curve in enumerate(curves, start=1)),
            x=table.take("x", (str, list), None),
            rows=table.take("rows", (str, list), None),
            seeds=seeds,
            log_x=table.take("log_x", bool, False),
            log_y=table.take("log_y", bool, False),
            value_label=table.take("value_label", str, ""),
            y_least=table.number("y_least") or 0.0,
            y_most=table.number("y_most"),
            marks=tuple(
                self.mark(f"{table.place}.marks[{n}]", mark) for n, mark in enumerate(table.take("marks", list, []), 1)
            ),
            claims=table.texts("claims"),
        )
        table.end()
        self.check_figure(table.place, figure)
        return figure

    def seeds(self, table: _Table) -> tuple[int, ...] | None:
        """The seeds that a figure shows, if it lists them."""
        seeds = table.take("seeds", list, None)
        if seeds is None:
            return None
        whole = all(isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed <= MAX_SEED for seed in seeds)
        if not whole or not 1 <= len(set(seeds)) == len(seeds) <= MAX_SEEDS:
            raise PaperError(f"{table.place}.seeds: whole numbers of 0 or more are needed, each once")
        return tuple(seeds)

    def check_figure(self, place: str, figure: FigurePlan) -> None:
        if not figure.curves:
            raise PaperError(f"{place}: has no curves")
        if figure.kind in ("lines", "bars", "stack", "heat_map") and figure.x is None:
            raise PaperError(f"{place}: a figure of kind {figure.kind} needs x")
        if figure.kind == "heat_map" and (figure.rows is None or len(figure.curves) != 1):
            raise PaperError(f"{place}: a heat map needs rows and one curve")
        if figure.kind == "scatter" and any(curve.x is None for curve in figure.curves):
            raise PaperError(f"{place}: each curve of a scatter plot needs x")

    def mark(self, place: str, table: Any) -> MarkPlan:
        table = _Table(place, table)
        label, x = table.take("label", str), table.number("x")
        y, low, high = (table.number_or_text(key) for key in ("y", "from", "to"))
        table.end()
        count = (y is not None) + (low is not None)
        if (low is None) != (high is None) or count == 2 or (not count and x is None):
            raise PaperError(f"{place}: give y, or from and to, or x alone")
        return MarkPlan(label, y if low is None else low, y if high is None else high, x)

    def curve(self, place: str, table: Any) -> CurvePlan:
        table = _Table(place, table)
        curve = CurvePlan(table.take("label", str), table.take("y", str), table.take("x", str, None))
        table.end()
        return curve
