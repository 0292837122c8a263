"""A paper as data: its cases, claims and figures. No code here is about a particular paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product, takewhile
from pathlib import Path
from typing import Any

from ..data.quantities import FLOW, NODE
from ..study.scenario import Scenario

# Unit as shown: factor from the measure's own unit, decimals.
UNITS = {
    "": (1.0, 3),
    "%": (100.0, 1),
    "Mbit/s": (1e-6, 3),
    "kbit/s": (1e-3, 1),
    "KB/s": (1 / 8000, 1),
    "ms": (1e3, 2),
    "us": (1e6, 1),
    "s": (1.0, 2),
    **dict.fromkeys((NODE.queue_drops.unit, FLOW.cwnd_mean_segments.unit), (1.0, 1)),
}


class PaperError(ValueError):
    """A wrong claim file; the message has the place and the remedy."""


@dataclass(frozen=True)
class Axis:
    """An axis of a case: labels, each with its settings."""

    labels: tuple[Any, ...]
    settings: tuple[tuple[tuple[str, Any], ...], ...]

    def settings_of(self, label: Any) -> tuple[tuple[str, Any], ...]:
        """Path and value of each setting of `label`."""
        return self.settings[self.labels.index(label)]


@dataclass(frozen=True)
class Case:
    """A scenario with settings and axes; every combination of labels is a point that is run."""

    name: str
    scenario: Scenario
    settings: tuple[tuple[str, Any], ...]
    axes: Mapping[str, Axis]
    seeds: int
    max_seeds: int
    series: tuple[str, ...]

    def point(self, labels: Mapping[str, Any]) -> Point:
        """The point with these labels; an axis with a single label may be omitted."""
        chosen = {name: axis.labels[0] for name, axis in self.axes.items() if len(axis.labels) == 1} | dict(labels)
        return Point(self, tuple((name, chosen[name]) for name in self.axes))

    def points(self) -> Iterator[Point]:
        """Every combination."""
        for labels in product(*(axis.labels for axis in self.axes.values())):
            yield self.point(dict(zip(self.axes, labels, strict=True)))


@dataclass(frozen=True)
class Point:
    """One combination of a case's labels."""

    case: Case = field(repr=False)
    labels: tuple[tuple[str, Any], ...]

    def __hash__(self) -> int:
        return hash((self.case.name, self.labels))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and (self.case.name, self.labels) == (other.case.name, other.labels)

    @property
    def settings(self) -> tuple[tuple[str, Any], ...]:
        """All settings over the scenario's file, in order."""
        varied = (pair for name, label in self.labels for pair in self.case.axes[name].settings_of(label))
        return (*self.case.settings, *varied)

    @property
    def scenario(self) -> Scenario:
        """The scenario with all settings."""
        scenario = self.case.scenario
        for path, value in self.settings:
            scenario = scenario.set(path, value)
        return scenario

    def __str__(self) -> str:
        labels = ", ".join(f"{name}={label}" for name, label in self.labels)
        return f"{self.case.name}({labels})"


@dataclass(frozen=True)
class Expectation:
    """The expectation of a measure: a range (already widened by `tolerance`), or the shape of a list."""

    low: float | None = None
    high: float | None = None
    shape: str | None = None
    tolerance: float = 0.0
    because: str = ""


@dataclass(frozen=True)
class Part:
    """One checkable statement of a claim."""

    sentence: str
    measure: str
    unit: str
    expectation: Expectation


@dataclass(frozen=True)
class Today:
    """A number of a current system, shown next to a claim and not judged."""

    label: str
    measure: str
    unit: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper in our words."""

    id: str
    place: str
    sentence: str
    parts: tuple[Part, ...]
    today: tuple[Today, ...] = ()
    found: str = ""
    not_comparable: str = ""
    """the reason why no verdict is possible, such as a lost setting; empty if the claim is judged"""


@dataclass(frozen=True)
class CurvePlan:
    """A curve of a figure: expressions for y and, if it has its own, for x."""

    label: str
    y: str
    x: str | None = None


@dataclass(frozen=True)
class MarkPlan:
    """The paper's numbers for a figure: in the units of its axes, or expressions scaled in the same way."""

    label: str
    low: float | str | None = None
    high: float | str | None = None
    x: float | None = None


@dataclass(frozen=True)
class FigurePlan:
    """A figure: its kind, its axes and the expressions of its curves."""

    number: str
    title: str
    kind: str
    x_label: str
    y_label: str
    scale: float
    curves: tuple[CurvePlan, ...]
    x: Any = None
    rows: Any = None
    seeds: tuple[int, ...] | None = None
    log_x: bool = False
    log_y: bool = False
    x_scale: float = 1.0
    value_label: str = ""
    y_least: float = 0.0
    y_most: float | None = None
    marks: tuple[MarkPlan, ...] = ()
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper: its claims, and the cases to run."""

    key: str
    file: Path
    title: str
    authors: str
    published: str
    reference: str
    summary: str
    notes: tuple[str, ...]
    cases: Mapping[str, Case]
    claims: tuple[Claim, ...]
    figures: tuple[FigurePlan, ...]
    quick: bool = False

    @property
    def letters(self) -> str:
        """The common prefix of its claims' ids, such as K."""
        return "".join(takewhile(str.isalpha, self.claims[0].id)) if self.claims else ""

    @property
    def name(self) -> str:
        """First author and year; the key if the file names neither."""
        author = re.sub(r"^(\w\.[\s-]*)+", "", self.authors.split(",")[0].strip())
        years = re.findall(r"\b(?:19|20)\d\d\b", self.published)
        return f"{author} {years[-1]}" if author and years else self.key
