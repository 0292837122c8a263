"""The rows of a sweep: what was varied, the seed, the metrics; from its file, or from results side by side."""

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
        """Rows as `lasthop.sweep` gives them; raises `ScenarioError` where they are not."""
        if "seed" not in rows or not len(rows.columns[: rows.columns.get_loc("seed")]):
            raise _core.ScenarioError(f"{name}: not a sweep: what was varied and a column `seed` should come first")
        return cls(name, rows, tuple(map(str, rows.columns[: rows.columns.get_loc("seed")])))

    def metric(self, name: str) -> str:
        """The column called `name`, or the only one of this key; raises `LookupError`."""
        known = [column for column in self.rows if column not in (*self.paths, "seed", DESIGN, DESIGN_SEED)]
        short = ", ".join(sorted(known)[:12]) + (" ..." if len(known) > 12 else "")
        try:
            return single(name, known, f"{self.name} has: {short}")
        except UnknownMetric as error:
            raise LookupError(f"--metric {error}") from None

    def path(self, name: str) -> str:
        """`name` if it was varied; raises `LookupError`."""
        if name not in self.paths:
            raise LookupError(f"{self.name}: {name} was not varied; varied were: {', '.join(self.paths)}")
        return name

    def only(self, chosen: Mapping[str, str]) -> SweepTable:
        """The rows in which each path of `chosen` has its value; raises `LookupError` if there are none."""
        rows = self.rows
        for path, value in chosen.items():
            texts = self.rows[self.path(path)].map(text)
            if not (texts == value).any():
                known = ", ".join(dict.fromkeys(texts))
                raise LookupError(f"{self.name}: {path} was never {value}; it was: {known}")
            rows = rows[texts.loc[rows.index] == value]
        if rows.empty:
            raise LookupError(f"{self.name}: no run has all of {', '.join(f'{k}={v}' for k, v in chosen.items())}")
        return replace(self, rows=rows, paths=tuple(path for path in self.paths if path not in chosen))

    def check_single(self, paths: Sequence[str]) -> None:
        """Raises `LookupError` where two runs of one seed stand at one point: something else was varied too."""
        twice = self.rows[self.rows.duplicated([*paths, "seed"])]
        if len(twice):
            point = ", ".join(f"{name}={text(twice.iloc[0][name])}" for name in (*paths, "seed"))
            raise LookupError(
                f"{self.name}: several runs have {point}; name the setting in which they differ with --by PATH, "
                "or choose one value of it with --only PATH=VALUE"
            )

    @property
    def drawn(self) -> tuple[str, ...]:
        """The paths in whose ranges points were drawn, which no line joins."""
        told = self.rows.attrs.get(DESIGN)
        if isinstance(told, Mapping):
            return tuple(told.get("ranges", ()))
        return drawn_paths(str(self.rows[DESIGN].iloc[0])) if DESIGN in self.rows and len(self.rows) else ()

    def follows(self, path: str, others: Sequence[str]) -> bool:
        """Whether `path` has one value wherever `others` have one each, as a setting that varies in step with them."""
        return bool(others) and (self.rows.groupby(list(others))[path].nunique() == 1).all()

    def values(self, path: str, metric: str) -> dict[Any, list[float]]:
        """For each value of `path` in order the metric's numbers, one for each seed."""
        groups = self.rows.groupby(path, sort=False)[metric]
        return {value: numbers.dropna().tolist() for value, numbers in groups}


@dataclass(frozen=True)
class Axis:
    """The values of a path as they stand on an axis: numbers with one unit in the label, or names."""

    label: str
    shown: Mapping[Any, float | str]

    @property
    def in_order(self) -> list[Any]:
        """The stored values: numbers from the least, names as they came."""
        named = any(isinstance(shown, str) for shown in self.shown.values())
        return list(self.shown) if named else sorted(self.shown, key=self.shown.get)


def axis(label: str, values: Sequence[Any]) -> Axis:
    """`50 ms` and `100 ms` become 50 and 100 on an axis in ms; of mixed units or words, names."""
    values = list(dict.fromkeys(values))
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return Axis(label, {value: float(value) for value in values})
    found = [QUANTITY.fullmatch(str(value).strip()) for value in values]
    if all(found) and len({match[2] for match in found}) == 1:
        unit = f" ({found[0][2]})" if found[0][2] else ""
        return Axis(f"{label}{unit}", {value: float(match[1]) for value, match in zip(values, found, strict=True)})
    names = short_names(values)
    return Axis(label, {value: text(value) if isinstance(value, float) else names[value] for value in values})


def read_sweep(path: str | os.PathLike[str]) -> SweepTable:
    """A sweep from the file that `lasthop sweep` wrote; raises `ScenarioError` where it is none, `OSError` where unreadable."""
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


def table_of(sources: Sequence[Any], paths: Sequence[str], metric: str) -> SweepTable:
    """One sweep as it is; of a store, or of results side by side, the settings `paths` of their scenarios."""
    import pandas

    from ._stored_runs import StoredRuns

    others = [source for source in sources if isinstance(source, SweepTable | StoredRuns)]
    if others and len(sources) > 1:
        raise LookupError(f"{others[0].name}: one sweep at a time")
    if others and isinstance(others[0], SweepTable):
        return others[0]
    if not paths:
        raise LookupError(
            "--x PATH is needed: a setting by which the scenarios of the runs differ, e.g. station.0.count"
        )
    if others:
        return others[0].table(paths, metric)
    rows = [row for result in sources for row in _rows(result, paths)]
    return SweepTable.of("these results", pandas.DataFrame(rows))


def _rows(result: Result, paths: Sequence[str]) -> list[dict[str, Any]]:
    from ...data.result import flat_metrics

    point = {path: setting(result, path) for path in paths}
    return [{**point, "seed": run["seed"], **flat_metrics(run)} for run in result.runs]


class _At(NamedTuple):
    """A part of a result's scenario."""

    name: str
    scenario: dict[str, Any]


def setting(result: Result | _At, path: str) -> Any:
    """Returns the value at a path of a result's scenario, such as `station.0.count`; raises `LookupError`.

    For `flow.*.…` it is the flows' values, once each.
    """
    found: Any = result.scenario
    before, star, after = path.partition(".*.")
    if star and isinstance(found.get(before), list):
        entries = [setting(_At(result.name, entry), after) for entry in found[before]]
        return entries[0] if len(set(entries)) == 1 else ", ".join(sorted({text(entry) for entry in entries}))
    for part in path.split("."):
        # The only BSS may be given without its number.
        found = found[0] if isinstance(found, list) and len(found) == 1 and not part.isdigit() else found
        try:
            found = found[int(part)] if isinstance(found, list) else found[part]
        except (KeyError, IndexError, ValueError, TypeError):
            raise LookupError(f"{result.name}: its scenario has no {path}") from None
    return str(found) if isinstance(found, dict | list) else found


def text(value: Any) -> str:
    """A value as it is written: 4 rather than 4.0."""
    return f"{value:g}" if isinstance(value, float) else str(value)
