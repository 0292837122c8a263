"""The runs of a paper: brought into the store, then read as a source of numbers for expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy

from ..study.store import Job, Store
from ..study.warmup import seconds
from .measure import RARE_SERIES, Missing
from .paper import PaperError, Point
from .rehearsal import Needs

MAX_RUNS = 1_000_000


class Runs:
    """The runs of one paper in a store.

    `complete(jobs)` brings the store to hold all of them; it raises `KeyboardInterrupt` where it is told to stop.
    """

    def __init__(self, store: Store, complete: Callable[[Sequence[Job]], None]) -> None:
        self._store = store
        self._complete = complete
        self._kept: dict[Point, set[str]] = {}
        self._asked: dict[tuple[Point, int], frozenset[str]] = {}
        self._documents: dict[tuple[Point, int], dict[str, Any] | None] = {}
        self._series: dict[tuple[Point, int], dict[str, dict[str, numpy.ndarray]]] = {}

    def lacking(self, wanted: Iterable[tuple[Needs, Iterable[int]]]) -> list[Job]:
        """Returns the runs that needs require, each with some seeds, except those requested before."""
        seeds: dict[Point, set[int]] = {}
        count = 0
        for needs, under in wanted:
            under = set(under)
            for point, kept in needs.points.items():
                self._kept.setdefault(point, set()).update(kept)
                of_point = seeds.setdefault(point, set())
                count -= len(of_point)
                of_point |= under
                count += len(of_point)
                if count > MAX_RUNS:
                    raise PaperError(f"{point}: with it there are more than {MAX_RUNS} runs; give fewer seeds")
        jobs: list[Job] = []
        for point, under in seeds.items():
            kept = frozenset(self._kept[point])
            new = [seed for seed in sorted(under) if self._asked.get((point, seed)) != kept]
            self._asked.update({(point, seed): kept for seed in new})
            jobs += self._jobs(point, new)
        return jobs

    def bring(self, wanted: Iterable[tuple[Needs, Iterable[int]]]) -> None:
        """Runs what is lacking."""
        if jobs := self.lacking(wanted):
            self._complete(jobs)

    def _jobs(self, point: Point, seeds: Iterable[int]) -> list[Job]:
        scenario, kept = point.scenario, tuple(sorted(self._kept.get(point, ())))
        return [Job(scenario, seed, kept) for seed in seeds]

    def document(self, point: Point, seed: int) -> dict[str, Any]:
        """The JSON document of a run; raises `Missing` where it failed."""
        if (point, seed) not in self._documents:
            self._read()
        found = self._documents[point, seed]
        if found is None:
            (job,) = self._jobs(point, [seed])
            raise Missing(f"{point} has no run: {self._store.failure(job) or 'it was not finished'}")
        return found

    def _read(self) -> None:
        """Reads all runs that were asked for and not read: together, as each look into the store costs time."""
        unread = [key for key in self._asked if key not in self._documents]
        jobs = [job for point, seed in unread for job in self._jobs(point, [seed])]
        for key, found in zip(unread, self._store.each(jobs), strict=True):
            self._documents[key] = found and _without_lists(found)

    def series(self, point: Point, seed: int) -> dict[str, dict[str, numpy.ndarray]]:
        """The time series of a run, by metric and entity."""
        if (point, seed) not in self._series:
            (job,) = self._jobs(point, [seed])
            table = self._store.series(job)
            if table is None:
                raise Missing(f"{point} has no time series")
            found: dict[str, dict[str, numpy.ndarray]] = {}
            for (name, entity), group in table.groupby(["metric", "entity"], observed=True, sort=False):
                found.setdefault(str(name), {})[str(entity)] = group["value"].to_numpy()
            self._series[point, seed] = found
        return self._series[point, seed]


def _without_lists(run: dict[str, Any]) -> dict[str, Any]:
    """A run less its lists of quantiles and the like, which no expression reads: thousands of runs are held."""
    kinds = ("flows", "nodes", "links", "queues", "wires")
    # Runs of an earlier version have no queues.
    tables = {name: [_numbers(row) for row in run.get(name, ())] for name in kinds}
    return tables | {section: _numbers(run[section]) for section in ("totals", "medium")}


def _numbers(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if not isinstance(value, list)}


class Recorded:
    """The runs of one seed as a source of numbers."""

    def __init__(self, runs: Runs, seed: int) -> None:
        self._runs = runs
        self._seed = seed

    def section(self, point: Point, section: str, metric: str) -> float:
        found = self._document(point)[section].get(metric)
        if found is None:
            raise Missing(f"{point} has no {section}.{metric}")
        return found

    def rows(self, point: Point, table: str, metric: str, wanted: Callable[[dict[str, Any]], bool]) -> numpy.ndarray:
        rows = [row for row in self._document(point)[table] if wanted(row)]
        if not rows:
            raise PaperError(f"{point}: none of its {table} matches")
        return numpy.array([row[metric] for row in rows if row.get(metric) is not None], dtype=float)

    def names(self, point: Point, wanted: Callable[[dict[str, Any]], bool]) -> list[str]:
        return [row["id"] for row in self._document(point)["flows"] if wanted(row)]

    def series(self, point: Point, metric: str, pattern: str) -> numpy.ndarray:
        stations = {flow["id"]: flow["station"] for flow in self._document(point)["flows"]}
        found = self._runs.series(point, self._seed).get(metric, {})
        wanted = [
            values
            for entity, values in found.items()
            if fnmatchcase(entity, pattern) or fnmatchcase(stations.get(entity, entity), pattern)
        ]
        if not wanted and metric in RARE_SERIES:
            return numpy.zeros(round(point.scenario.resolve().duration_s()))
        if not wanted:
            raise PaperError(
                f"{point}: nothing that matches {pattern!r} has a series {metric}; there are {', '.join(found)}"
            )
        stacked = numpy.array(wanted)
        # A second without a value stays one; with several entities, those that have one count.
        return numpy.where(numpy.isnan(stacked).all(axis=0), numpy.nan, numpy.nansum(stacked, axis=0))

    def answering(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def warmup_s(self, point: Point) -> float:
        return seconds(point.scenario.to_dict()["warmup"])

    def _document(self, point: Point) -> dict[str, Any]:
        return self._runs.document(point, self._seed)
