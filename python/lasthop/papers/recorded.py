"""The runs of a paper: completes them in the store, then reads numbers for expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy

from ..study.store import Job, Memory, Store
from ..study.warmup import seconds
from .measure import RARE_SERIES, Missing
from .paper import PaperError, Point
from .rehearsal import Needs

MAX_RUNS = 1_000_000


class Runs:
    """The runs of one paper in a store.

    `complete(jobs)` adds the missing ones to the store; it raises `KeyboardInterrupt` if interrupted.
    """

    def __init__(self, store: Store | Memory, complete: Callable[[Sequence[Job]], None]) -> None:
        self._store = store
        self._complete = complete
        self._series_of: dict[Point, set[str]] = {}
        self._requested: dict[tuple[Point, int], frozenset[str]] = {}
        self._documents: dict[tuple[Point, int], dict[str, Any] | None] = {}
        self._series: dict[tuple[Point, int], dict[str, dict[str, numpy.ndarray]]] = {}

    def lacking(self, needs_and_seeds: Iterable[tuple[Needs, Iterable[int]]]) -> list[Job]:
        """Returns the runs that needs require, each with some seeds, except those requested before."""
        seeds: dict[Point, set[int]] = {}
        count = 0
        for needs, under in needs_and_seeds:
            under = set(under)
            for point, series in needs.points.items():
                self._series_of.setdefault(point, set()).update(series)
                of_point = seeds.setdefault(point, set())
                count -= len(of_point)
                of_point |= under
                count += len(of_point)
                if count > MAX_RUNS:
                    raise PaperError(f"{point}: brings the number of runs above {MAX_RUNS}; give fewer seeds")
        jobs: list[Job] = []
        for point, under in seeds.items():
            series = frozenset(self._series_of[point])
            new = [seed for seed in sorted(under) if self._requested.get((point, seed)) != series]
            self._requested.update({(point, seed): series for seed in new})
            jobs += self._jobs(point, new)
        return jobs

    def bring(self, needs_and_seeds: Iterable[tuple[Needs, Iterable[int]]]) -> None:
        """Runs the missing ones."""
        if jobs := self.lacking(needs_and_seeds):
            self._complete(jobs)

    def _jobs(self, point: Point, seeds: Iterable[int]) -> list[Job]:
        scenario, series = point.scenario, tuple(sorted(self._series_of.get(point, ())))
        return [Job(scenario, seed, series) for seed in seeds]

    def document(self, point: Point, seed: int) -> dict[str, Any]:
        """The JSON document of a run; raises `Missing` if it failed."""
        if (point, seed) not in self._documents:
            self._read()
        document = self._documents[point, seed]
        if document is None:
            (job,) = self._jobs(point, [seed])
            raise Missing(f"{point} has no run: {self._store.failure(job) or 'it was not finished'}")
        return document

    def _read(self) -> None:
        """Reads all requested runs that are unread; together, as each query of the store costs time."""
        unread = [key for key in self._requested if key not in self._documents]
        jobs = [job for point, seed in unread for job in self._jobs(point, [seed])]
        for key, run in zip(unread, self._store.each(jobs), strict=True):
            self._documents[key] = None if run is None else _without_lists(run.document())

    def series(self, point: Point, seed: int) -> dict[str, dict[str, numpy.ndarray]]:
        """The time series of a run, by metric and entity."""
        if (point, seed) not in self._series:
            (job,) = self._jobs(point, [seed])
            series = self._store.arrays(job)
            if series is None:
                raise Missing(f"{point} has no time series")
            self._series[point, seed] = series
        return self._series[point, seed]


def _without_lists(run: dict[str, Any]) -> dict[str, Any]:
    """A run without its lists of quantiles and the like, which no expression reads: thousands of runs are in memory."""
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
        value: float | None = self._document(point)[section].get(metric)
        if value is None:
            raise Missing(f"{point} has no {section}.{metric}")
        return value

    def rows(self, point: Point, table: str, metric: str, matches: Callable[[dict[str, Any]], bool]) -> numpy.ndarray:
        rows = [row for row in self._document(point)[table] if matches(row)]
        if not rows:
            raise PaperError(f"{point}: none of its {table} matches")
        return numpy.array([row[metric] for row in rows if row.get(metric) is not None], dtype=float)

    def names(self, point: Point, matches: Callable[[dict[str, Any]], bool]) -> list[str]:
        return [row["id"] for row in self._document(point)["flows"] if matches(row)]

    def series(self, point: Point, metric: str, pattern: str) -> numpy.ndarray:
        stations = {flow["id"]: flow["station"] for flow in self._document(point)["flows"]}
        by_entity = self._runs.series(point, self._seed).get(metric, {})
        matching = [
            values
            for entity, values in by_entity.items()
            if fnmatchcase(entity, pattern) or fnmatchcase(stations.get(entity, entity), pattern)
        ]
        if not matching and metric in RARE_SERIES:
            return numpy.zeros(round(point.scenario.resolve().duration_s()))
        if not matching:
            raise PaperError(
                f"{point}: no match of {pattern!r} has a series {metric}; these have: {', '.join(by_entity)}"
            )
        stacked = numpy.array(matching)
        # A second is NaN only if all entities are; otherwise those with a value count.
        return numpy.where(numpy.isnan(stacked).all(axis=0), numpy.nan, numpy.nansum(stacked, axis=0))

    def answering(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def warmup_s(self, point: Point) -> float:
        return seconds(point.scenario.to_dict()["warmup"])

    def _document(self, point: Point) -> dict[str, Any]:
        return self._runs.document(point, self._seed)
