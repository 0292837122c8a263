"""Which points a sweep has: every combination of its axes, on each of which one setting varies, several in step, or many at random.

The command and `lasthop.sweep` ask alike: `over` has the values of settings that vary by themselves, `zip` groups of settings
that vary together, the first value of each, then the second; and where `sample` points are drawn, ranges of `over` give
one axis of them. Axes multiply.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..data.arguments import Argument, ArgumentError, shown, whole
from .ranges import drawn, is_range, range_of
from .scenario import Scenario, toml_value

# Columns of a table of points that were drawn.
DESIGN, DESIGN_SEED = "design", "design_seed"
OVER, ZIP, SAMPLE = Argument("over"), Argument("zip"), Argument("sample")

Over = Mapping[str, Iterable[Any] | str]


class Axis(NamedTuple):
    """A row of values of `paths` for each point along it."""

    paths: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


class Sample(NamedTuple):
    """How points are drawn in ranges."""

    points: int
    design: str = "lhs"
    seed: int = 1


class Design(NamedTuple):
    """The axes of a sweep, and where points were drawn, how: what a table of them keeps."""

    axes: tuple[Axis, ...]
    drawn: dict[str, Any] | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The varied settings, in the order in which they are shown."""
        return tuple(path for axis in self.axes for path in axis.paths)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The settings that vary together."""
        return tuple(
            axis.paths
            for axis in self.axes
            if len(axis.paths) > 1 or axis.paths[0] in (self.drawn or {}).get("ranges", ())
        )

    def points(self) -> Iterator[dict[str, Any]]:
        """The values of each point, by path."""
        for rows in itertools.product(*(axis.rows for axis in self.axes)):
            yield dict(zip(self.paths, itertools.chain.from_iterable(rows), strict=True))


def wanted(
    scenario: Scenario,
    over: Over | None = None,
    groups: Sequence[Mapping[str, Iterable[Any]]] = (),
    sample: Sample | None = None,
) -> Design:
    """Returns the design to run: the arguments, or else the file's `[sweep]`; raises `ValueError`, `TypeError`."""
    if over is not None and not isinstance(over, Mapping):
        raise TypeError(
            f"over: settings and their values are needed, e.g. {{'station.0.count': [1, 2]}}, not {shown(over)}"
        )
    return design_of(over or {} if over or groups else dict(scenario.resolve().sweep()), groups, sample)


def groups_of(asked: Any) -> list[Mapping[str, Iterable[Any]]]:
    """The groups that `zip` of `lasthop.sweep` asks for; raises `TypeError`."""
    groups = [] if asked is None else [asked] if isinstance(asked, Mapping) else asked
    if not isinstance(groups, list | tuple) or not all(isinstance(group, Mapping) for group in groups):
        raise TypeError(
            f"zip: settings and their values are needed, e.g. {{PATH: [1, 2], PATH: [3, 4]}}, or a list of such, not {shown(asked)}"
        )
    return list(groups)


def sample_of(points: int | None, design: str, seed: int) -> Sample | None:
    """Returns the draws that `sample` of `lasthop.sweep` asks for; raises `TypeError`, `ValueError`."""
    if points is not None:
        return Sample(whole("sample", points, "how many points"), design, whole("design_seed", seed, "a seed"))
    if (design, seed) != ("lhs", 1):
        raise no_sample()
    return None


def no_sample() -> ArgumentError:
    """The error for a way to draw points when none are drawn."""
    rest = (": have no effect without ", SAMPLE, ", which says how many points are drawn")
    return ArgumentError(Argument("design"), ", ", Argument("design_seed"), *rest)


def design_of(over: Over, groups: Sequence[Mapping[str, Iterable[Any]]] = (), sample: Sample | None = None) -> Design:
    """The design that is asked for; raises `ValueError`, `TypeError`."""
    ranges = {path: values for path, values in over.items() if isinstance(values, str) and is_range(values)}
    _check_sample(ranges, sample)
    axes = [_listed(path, values) for path, values in over.items() if path not in ranges]
    axes += [_paired(group) for group in groups]
    told = None
    if sample is not None:
        rows = drawn({path: range_of(path, text) for path, text in ranges.items()}, *sample)
        different = tuple(dict.fromkeys(rows))
        axes.append(Axis(tuple(ranges), different))
        told = {
            "design": sample.design,
            "seed": sample.seed,
            "points": len(rows),
            "different": len(different),
            "ranges": ranges,
        }
    design = Design(tuple(axes), told)
    if not design.paths:
        example = Argument("over", "over={path: values}", "--over PATH=V1,V2,...")
        raise ArgumentError("nothing to sweep: give ", example, ", or a [sweep] table in the file")
    twice = next((path for path in design.paths if design.paths.count(path) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice}: is varied twice; write it once")
    return design


def drawn_words(drawn: Mapping[str, Any]) -> str:
    """How points were drawn, in a sentence."""
    fewer = "" if drawn["different"] == drawn["points"] else f", {drawn['different']} of them different"
    called = "Latin hypercube" if drawn["design"] == "lhs" else "random"
    return f"a {called} design of {drawn['points']} points{fewer}, drawn with seed {drawn['seed']}"


def drawn_cells(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Returns its two columns of a table: the design with the settings that it draws, and its seed."""
    return {DESIGN: f"{drawn['design']}: {', '.join(drawn['ranges'])}", DESIGN_SEED: drawn["seed"]}


def drawn_paths(cell: str) -> tuple[str, ...]:
    """The settings that a cell of the column `design` names."""
    return tuple(path.strip() for path in cell.partition(":")[2].split(",") if path.strip())


def _check_sample(ranges: Mapping[str, str], sample: Sample | None) -> None:
    if sample is None and ranges:
        path, text = next(iter(ranges.items()))
        number = Argument("sample", "sample=N", "--sample N")
        is_range = f"{path}: {text!r} is a range: say how many points are drawn in it with "
        raise ArgumentError(is_range, number, ", or list its values")
    if sample is not None and not ranges:
        place = Argument("over", " in over", "")
        example = Argument("over", "over={'wired.delay': '1 ms..100 ms'}", "--over 'wired.delay=1 ms..100 ms'")
        raise ArgumentError(SAMPLE, ": no range to draw in; write one", place, ", e.g. ", example)


def _listed(path: str, values: Any) -> Axis:
    values = _values(path, values)
    texts = [_text(path, value) for value in values]
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        raise ValueError(f"{path}: {twice} is given twice")
    return Axis((path,), tuple((value,) for value in values))


def _paired(group: Mapping[str, Iterable[Any]]) -> Axis:
    columns = {path: _values(path, values) for path, values in group.items()}
    if len(columns) < 2:
        whose = next(iter(columns), ZIP)
        raise ArgumentError(whose, ": a zip pairs at least two settings; one alone belongs to ", OVER)
    first, *others = columns
    for path in others:
        if len(columns[path]) != len(columns[first]):
            counts = f"{len(columns[first])} of {first} and {len(columns[path])} of {path}"
            raise ArgumentError(ZIP, f": as many values of each setting are needed, and there are {counts}")
    rows = list(zip(*columns.values(), strict=True))
    texts = [
        ", ".join(f"{path}={_text(path, value)}" for path, value in zip(columns, row, strict=True)) for row in rows
    ]
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        raise ArgumentError(ZIP, f": {twice} is given twice")
    return Axis(tuple(columns), tuple(rows))


def _text(path: str, value: Any) -> str:
    try:
        return toml_value(value)
    except TypeError as error:
        raise TypeError(f"{path}: {error}") from None


def _values(path: Any, values: Any) -> list[Any]:
    if not isinstance(path, str):
        raise TypeError(f"the path of a setting is needed, such as 'station.0.count', not {shown(path)}")
    if isinstance(values, str) and ".." in values:
        range_of(path, values)
        raise ArgumentError(
            f"{path}: {values!r}: a range stands in ", OVER, ", and ", SAMPLE, " says how many points are drawn"
        )
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        example = "" if values is None else f", e.g. [{shown(values)}]"
        raise ValueError(f"{path}: a list of values is needed{example}, not {shown(values)}")
    if getattr(values, "shape", None) == ():  # an array of NumPy that is one number
        raise ValueError(f"{path}: a list of values is needed, e.g. [{shown(values)}], not {shown(values)}")
    found = list(values)
    if not found:
        raise ValueError(f"{path}: at least one value is needed")
    return found
