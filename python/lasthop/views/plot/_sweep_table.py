"""The rows of a sweep: varied settings, seed, metrics; from its file, or from several results."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...data.arguments import Argument, ArgumentLookupError
from ...data.diagnostic import ScenarioError, refused
from ...data.extras import pandas_for, pyarrow_for
from ...data.foreign_text import parsed_json
from ...data.metric import UnknownMetric, single
from ...study.axis import short_names
from ...study.design import DESIGN, DESIGN_SEED, drawn_paths
from ...study.sweep import BETWEEN_WARNINGS, WARNINGS

if TYPE_CHECKING:
    import pandas

    from ...data.result import Result

TABLES = (".csv", ".parquet")
# A number and its unit, which may be missing.
QUANTITY = re.compile(r"([+-]?[0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*([a-zA-Zµ].*|)")


#: A row: values by column, None for a missing one.
Row = Mapping[str, Any]


@dataclass(frozen=True)
class SweepTable:
    """One row for each point and seed: the columns `paths`, then `seed`, then metrics by their dotted names."""

    name: str
    rows: Sequence[Row]
    paths: tuple[str, ...]
    drawn: tuple[str, ...] = ()
    """the paths with drawn points, which no line joins"""
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, rows: Sequence[Row], drawn: Sequence[str] = (), warnings: Sequence[str] = ()) -> SweepTable:
        """Rows that all have the same columns; raises `ScenarioError` if no path is before the seed."""
        columns = [*rows[0]] if rows else []
        if "seed" not in columns or not columns.index("seed"):
            raise refused("not a sweep: the varied settings and a column `seed` must come first", file=name)
        if DESIGN in columns:
            drawn = drawn_paths(str(rows[0][DESIGN]))
        return cls(name, rows, tuple(columns[: columns.index("seed")]), tuple(drawn), tuple(warnings))

    @classmethod
    def of_frame(cls, name: str, frame: pandas.DataFrame) -> SweepTable:
        """The rows of a data frame, such as `lasthop.sweep` gives."""
        design = frame.attrs.get(DESIGN)
        rows = [{str(key): _known(value) for key, value in row.items()} for row in _records(frame)]
        ranges = design.get("ranges", ()) if isinstance(design, Mapping) else ()
        return cls.of(name, rows, ranges, frame.attrs.get(WARNINGS, ()))

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [*self.rows[0]] if self.rows else []

    def column(self, name: str) -> list[Any]:
        """The values of a column that are there."""
        return [row[name] for row in self.rows if row[name] is not None]

    def varies(self, path: str) -> bool:
        """Whether a path has several values."""
        return len(set(self.column(path))) > 1

    def where(self, path: str, value: Any) -> SweepTable:
        """The rows in which a path has this value."""
        return replace(self, rows=[row for row in self.rows if row[path] == value])

    def metric(self, name: str) -> str:
        """The column `name`, or the only one with this key; raises `LookupError`."""
        known = [column for column in self.columns if column not in (*self.paths, "seed", DESIGN, DESIGN_SEED)]
        short = ", ".join(sorted(known)[:12]) + (" ..." if len(known) > 12 else "")
        try:
            return single(name, known, f"{self.name} has: {short}")
        except UnknownMetric as error:
            raise ArgumentLookupError(Argument("metric"), f" {error}") from None

    def path(self, name: str) -> str:
        """`name` if it was varied; raises `LookupError`."""
        if name not in self.paths:
            raise LookupError(f"{self.name}: {name} was not varied; the sweep varies: {', '.join(self.paths)}")
        return name

    def only(self, chosen: Mapping[str, str]) -> SweepTable:
        """The rows in which each path of `chosen` has its value; raises `LookupError` if there are none."""
        rows = self.rows
        for path, value in chosen.items():
            self.path(path)
            texts = dict.fromkeys(text(row[path]) for row in self.rows)
            if value not in texts:
                raise LookupError(f"{self.name}: {path} is never {value}; its values: {', '.join(texts)}")
            rows = [row for row in rows if text(row[path]) == value]
        if not rows:
            raise LookupError(f"{self.name}: no run has all of {', '.join(f'{k}={v}' for k, v in chosen.items())}")
        return replace(self, rows=rows, paths=tuple(path for path in self.paths if path not in chosen))

    def check_single(self, paths: Sequence[str]) -> None:
        """Raises `LookupError` for two runs of one seed at one point: the sweep varied something else too."""
        known = set()
        for row in self.rows:
            point = tuple(row[name] for name in (*paths, "seed"))
            if point in known:
                said = ", ".join(f"{name}={text(row[name])}" for name in (*paths, "seed"))
                raise ArgumentLookupError(
                    f"{self.name}: several runs have {said}; name the setting in which they differ with ",
                    Argument("by"),
                    " PATH, or choose one value of it with ",
                    Argument("only"),
                    " PATH=VALUE",
                )
            known.add(point)

    def follows(self, path: str, others: Sequence[str]) -> bool:
        """Whether the values of `others` determine the value of `path`, as for a setting that varies in step with them."""
        points = {tuple(row[other] for other in others): row[path] for row in self.rows}
        return bool(others) and all(points[tuple(row[other] for other in others)] == row[path] for row in self.rows)

    def values(self, paths: Sequence[str], metric: str) -> dict[tuple[Any, ...], list[float]]:
        """For each point of `paths`, in the order of its first row, the metric's numbers, one for each seed."""
        found: dict[tuple[Any, ...], list[float]] = {}
        for row in self.rows:
            numbers = found.setdefault(tuple(row[path] for path in paths), [])
            numbers.extend([row[metric]] if row[metric] is not None else [])
        return found


@dataclass(frozen=True)
class Axis:
    """The values of a path on an axis: numbers with one unit in the label, or names."""

    label: str
    shown: Mapping[Any, float | str]

    @property
    def in_order(self) -> list[Any]:
        """The stored values: numbers in ascending order, names in their own."""
        numbers = {value: shown for value, shown in self.shown.items() if not isinstance(shown, str)}
        return (
            sorted(numbers, key=lambda value: numbers[value]) if len(numbers) == len(self.shown) else list(self.shown)
        )


def axis(label: str, values: Sequence[Any]) -> Axis:
    """`50 ms` and `100 ms` become 50 and 100 on an axis in ms; words and mixed units become names."""
    values = list(dict.fromkeys(values))
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return Axis(label, {value: float(value) for value in values})
    matches = [match for value in values if (match := QUANTITY.fullmatch(str(value).strip()))]
    units = {match[2] for match in matches}
    if len(matches) == len(values) and len(units) == 1:
        unit = f" ({matches[0][2]})" if matches[0][2] else ""
        return Axis(f"{label}{unit}", {value: float(match[1]) for value, match in zip(values, matches, strict=True)})
    names = short_names(values)
    return Axis(label, {value: text(value) if isinstance(value, float) else names[value] for value in values})


def read_sweep(path: str | os.PathLike[str]) -> SweepTable:
    """Reads the file of a `lasthop sweep`; raises `ScenarioError` if it is not one, `OSError` if it is unreadable."""
    file = Path(path)
    file.open("rb").close()
    try:
        if file.suffix.lower() == ".parquet":
            return _of_parquet(file)
        return _of_csv(file)
    except (ValueError, OSError, csv.Error) as error:  # pandas and pyarrow raise both for unreadable files
        if isinstance(error, ScenarioError):
            raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise refused(f"not a table: {reason}", file=str(file)) from None


def _of_parquet(file: Path) -> SweepTable:
    pyarrow = pyarrow_for("a sweep in a Parquet file")
    frame = pandas_for("a sweep in a Parquet file").read_parquet(file)
    metadata = pyarrow.parquet.read_schema(file).metadata or {}
    frame.attrs[WARNINGS] = parsed_json(file, metadata.get(WARNINGS.encode(), b"[]").decode())
    return SweepTable.of_frame(str(file), frame)


def _of_csv(file: Path) -> SweepTable:
    rows = _csv_rows(file)
    cells = [row.pop(WARNINGS, None) for row in rows]
    sentences = (each for cell in cells if cell for each in str(cell).split(BETWEEN_WARNINGS))
    return SweepTable.of(str(file), rows, warnings=list(dict.fromkeys(sentences)))


def _csv_rows(file: Path) -> list[dict[str, Any]]:
    """The rows of a CSV file, each column with values of one type."""
    with file.open(encoding="utf-8", newline="") as content:
        names, *cells = list(csv.reader(content)) or [[]]
    for number, row in enumerate(cells, 2):
        if len(row) != len(names):
            raise ValueError(f"row {number} has {len(row)} cells, and the first {len(names)}")
    columns = [_typed([row[place] for row in cells]) for place in range(len(names))]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _typed(cells: Sequence[str]) -> list[Any]:
    """Cells as whole numbers, numbers, truths or text, whichever all of them are; an empty one is missing."""
    truths = {"True": True, "False": False}
    for read in (int, float, truths.__getitem__):
        try:
            values = [read(cell) if cell else None for cell in cells]
        except (ValueError, KeyError):
            continue
        return list(map(_known, values))
    return [cell or None for cell in cells]


def _known(value: Any) -> Any:
    """The value; None for a missing one."""
    return None if isinstance(value, float) and isnan(value) else value


def _records(frame: pandas.DataFrame) -> list[dict[Any, Any]]:
    records: list[dict[Any, Any]] = frame.to_dict("records")
    return records


def setting(result: Result, path: str) -> Any:
    """Returns the value at a path of a result's scenario, such as `station.0.count`; raises `LookupError`.

    If a step selects several entries, as in `flow.*.size` or `flow.web*.size`, these are their values, once each.
    """
    try:
        values = [
            str(each) if isinstance(each, dict | list) else each for each in _at(result.scenario, path.split("."))
        ]
    except (KeyError, IndexError, TypeError):
        values = []
    if not values:
        raise LookupError(f"{result.name}: its scenario has no {path}")
    return values[0] if len(set(values)) == 1 else ", ".join(sorted({text(each) for each in values}))


def _at(value: Any, steps: Sequence[str]) -> list[Any]:
    """The values at a path, whose steps into lists are indices, names, or patterns of names."""
    if not steps:
        return [value]
    step, rest = steps[0], steps[1:]
    if not isinstance(value, list):
        return _at(value[step], rest)
    if step.isdigit():
        return _at(value[int(step)], rest)
    entries = [entry for entry in value if step == "*" or any(_matches(name, step) for name in _names(entry))]
    if not entries and len(value) == 1:  # the number of a single BSS may be omitted
        return _at(value[0], steps)
    return [each for entry in entries for each in _at(entry, rest)]


def _matches(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)


def _names(entry: dict[str, Any]) -> list[str]:
    """The name of an entry, else its stations, as in the paths of settings."""
    names = entry.get("name") or entry.get("station") or []
    return [names] if isinstance(names, str) else names


def text(value: Any) -> str:
    """A value as text: 4, not 4.0."""
    return f"{value:g}" if isinstance(value, float) else str(value)
