"""The rows of a sweep: varied settings, seed, metrics; from its file, or from several results."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import _core
from ...data.metric import UnknownMetric, single
from ...study.axis import short_names
from ...study.design import DESIGN, DESIGN_SEED, drawn_paths

if TYPE_CHECKING:
    import pandas

    from ...data.result import Result

TABLES = (".csv", ".parquet")
# A number and its unit, which may be missing.
QUANTITY = re.compile(r"([+-]?[0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*([a-zA-Zµ].*|)")


@dataclass(frozen=True)
class SweepTable:
    """One row for each point and seed: the columns `paths`, then `seed`, then metrics by their dotted names."""

    name: str
    rows: pandas.DataFrame
    paths: tuple[str, ...]

    @classmethod
    def of(cls, name: str, rows: pandas.DataFrame) -> SweepTable:
        """Rows of `lasthop.sweep`; raises `ScenarioError` for other tables."""
        if "seed" not in rows or not len(rows.columns[: rows.columns.get_loc("seed")]):
            raise _core.ScenarioError(f"{name}: not a sweep: the varied settings and a column `seed` must come first")
        return cls(name, rows, tuple(map(str, rows.columns[: rows.columns.get_loc("seed")])))

    def metric(self, name: str) -> str:
        """The column `name`, or the only one with this key; raises `LookupError`."""
        known = [column for column in self.rows if column not in (*self.paths, "seed", DESIGN, DESIGN_SEED)]
        short = ", ".join(sorted(known)[:12]) + (" ..." if len(known) > 12 else "")
        try:
            return single(name, known, f"{self.name} has: {short}")
        except UnknownMetric as error:
            raise LookupError(f"--metric {error}") from None

    def path(self, name: str) -> str:
        """`name` if it was varied; raises `LookupError`."""
        if name not in self.paths:
            raise LookupError(f"{self.name}: {name} was not varied; the sweep varies: {', '.join(self.paths)}")
        return name

    def only(self, chosen: Mapping[str, str]) -> SweepTable:
        """The rows in which each path of `chosen` has its value; raises `LookupError` if there are none."""
        rows = self.rows
        for path, value in chosen.items():
            texts = self.rows[self.path(path)].map(text)
            if not (texts == value).any():
                known = ", ".join(dict.fromkeys(texts))
                raise LookupError(f"{self.name}: {path} is never {value}; its values: {known}")
            rows = rows[texts.loc[rows.index] == value]
        if rows.empty:
            raise LookupError(f"{self.name}: no run has all of {', '.join(f'{k}={v}' for k, v in chosen.items())}")
        return replace(self, rows=rows, paths=tuple(path for path in self.paths if path not in chosen))

    def check_single(self, paths: Sequence[str]) -> None:
        """Raises `LookupError` for two runs of one seed at one point: the sweep varied something else too."""
        twice = self.rows[self.rows.duplicated([*paths, "seed"])]
        if len(twice):
            point = ", ".join(f"{name}={text(twice.iloc[0][name])}" for name in (*paths, "seed"))
            raise LookupError(
                f"{self.name}: several runs have {point}; name the setting in which they differ with --by PATH, "
                "or choose one value of it with --only PATH=VALUE"
            )

    @property
    def drawn(self) -> tuple[str, ...]:
        """The paths with drawn points, which no line joins."""
        design = self.rows.attrs.get(DESIGN)
        if isinstance(design, Mapping):
            return tuple(design.get("ranges", ()))
        return drawn_paths(str(self.rows[DESIGN].iloc[0])) if DESIGN in self.rows and len(self.rows) else ()

    def follows(self, path: str, others: Sequence[str]) -> bool:
        """Whether the values of `others` determine the value of `path`, as for a setting that varies in step with them."""
        return bool(others) and (self.rows.groupby(list(others))[path].nunique() == 1).all()

    def values(self, path: str, metric: str) -> dict[Any, list[float]]:
        """The metric's numbers of all seeds, by value of `path`."""
        groups = self.rows.groupby(path, sort=False)[metric]
        return {value: numbers.dropna().tolist() for value, numbers in groups}


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
    import pandas

    file = Path(path)
    file.open("rb").close()
    try:
        if file.suffix.lower() == ".parquet":
            rows = pandas.read_parquet(file)
        else:
            rows = pandas.read_csv(file, keep_default_na=False, na_values=[""])
    except (ValueError, OSError) as error:  # pandas and pyarrow raise both for unreadable files
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise _core.ScenarioError(f"{file}: not a table: {reason}") from None
    return SweepTable.of(str(file), rows)


class _At(NamedTuple):
    """A part of a result's scenario."""

    name: str
    scenario: dict[str, Any]


def setting(result: Result | _At, path: str) -> Any:
    """Returns the value at a path of a result's scenario, such as `station.0.count`; raises `LookupError`.

    For `flow.*.…` it is the flows' values, once each.
    """
    value: Any = result.scenario
    before, star, after = path.partition(".*.")
    if star and isinstance(value.get(before), list):
        entries = [setting(_At(result.name, entry), after) for entry in value[before]]
        return entries[0] if len(set(entries)) == 1 else ", ".join(sorted({text(entry) for entry in entries}))
    for part in path.split("."):
        # The number of a single BSS may be omitted.
        value = value[0] if isinstance(value, list) and len(value) == 1 and not part.isdigit() else value
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, ValueError, TypeError):
            raise LookupError(f"{result.name}: its scenario has no {path}") from None
    return str(value) if isinstance(value, dict | list) else value


def text(value: Any) -> str:
    """A value as text: 4, not 4.0."""
    return f"{value:g}" if isinstance(value, float) else str(value)
