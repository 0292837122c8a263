"""Varies settings of a scenario: every combination is a point, every point runs the same seeds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from .campaign import Counts, complete
from .progress import Progress, progress_here
from .result import flat_metrics, metric_names
from .scenario import Scenario, toml_value
from .sequential import Until
from .simulation import Interrupted, RunFailed, seed_list
from .store import Job, Store
from .warmup import warmup_warning

if TYPE_CHECKING:
    from .sweep_table import SweepTable

SHOWN = ("totals.*", "medium.*")


class Point(NamedTuple):
    """A combination of values, by path, and its scenario."""

    values: dict[str, Any]
    scenario: Scenario


class Swept(NamedTuple):
    """What a sweep gave: a row for each point and seed, how it went, and what a reader of a point should know."""

    rows: list[dict[str, Any]]
    counts: Counts
    warnings: tuple[str, ...] = ()


def sweep(
    scenario: Scenario,
    over: Mapping[str, Iterable[Any]] | None = None,
    seeds: int | Iterable[int] | None = None,
    *,
    until: float | Until | None = None,
    metrics: Sequence[str] = (),
    store: Store | str | os.PathLike[str] | None = None,
    executor: Any = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> SweepTable:
    """Runs every combination of the values in `over` (by default the file's `[sweep]`) for each seed (5 by default).

    One row for each point and seed: the varied paths, `seed`, then the run's `totals.…` and `medium.…` and what else
    `metrics` names (globs are allowed). `.to_xarray()` of it has the paths and `seed` as dimensions.
    `until`: as many seeds at each point as make the interval of `metrics` (by default goodput) narrower than that share
    of the mean. `store`: a `Store` or its file, whose runs are not run again and which keeps the others.
    `executor`: `lasthop.executor.dask.Dask(address)`, or threads of this process, `jobs` of them.
    Raises `ScenarioError` before anything runs where one of the points is wrong, `StoreError` where the store is, and
    `RunFailed` and, on Ctrl-C, `Interrupted`, which carry the table of what was finished.
    """
    from .sweep_table import SweepTable

    points = grid(scenario, over)
    kept = store if isinstance(store, Store) else Store.in_memory() if store is None else Store.open(store)
    rule = Until(until, *([tuple(metrics)] if metrics else [])) if isinstance(until, int | float) else until
    show = progress_here() if progress is None else progress
    with Progress.in_terminal("sweep", "runs") if show else Progress.silent() as bar:
        chosen = rule or seed_list(5 if seeds is None else seeds)
        rows, counts, _ = run_points(points, chosen, kept, metrics=metrics, executor=executor, jobs=jobs, progress=bar)
    table = SweepTable.of(rows, list(points[0].values))
    if counts.interrupted:
        raise Interrupted(table)
    if counts.failures:
        raise RunFailed(table, counts.failures)
    return table


def grid(scenario: Scenario, over: Mapping[str, Iterable[Any]] | None = None) -> list[Point]:
    """The points of a sweep and their scenarios, all of them checked."""
    axes = {path: list(values) for path, values in (over or dict(scenario.resolve().sweep())).items()}
    if not axes:
        raise ValueError("nothing to sweep: give over={path: values}, or a [sweep] table in the file")
    for path, values in axes.items():
        _check_axis(path, [toml_value(value) for value in values])
    points = []
    for values in product(*axes.values()):
        point = dict(zip(axes, values, strict=True))
        varied = scenario
        for path, value in point.items():
            varied = varied.set(path, value)
        varied.resolve()
        points.append(Point({path: _cell(value) for path, value in point.items()}, varied))
    return points


def run_points(
    points: Sequence[Point],
    seeds: Sequence[int] | Until,
    store: Store,
    *,
    metrics: Sequence[str] = (),
    executor: Any = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Swept:
    """Runs the points side by side, each for `seeds` or for as many as the rule wants."""
    chosen = [_Seeds(point.scenario, seeds) for point in points]
    by_scenario: dict[str, _Seeds] = {}
    for each in chosen:
        by_scenario.setdefault(store.identity(each.job(0)).key, each)

    def then(job: Job, document: dict[str, Any] | None) -> list[Job]:
        return by_scenario[store.identity(job).key].take(job.seed, document)

    first = [job for each in by_scenario.values() for job in each.more()]
    with_rule = {"then": then} if isinstance(seeds, Until) else {}
    counts = complete(first, store, executor=executor, jobs_at_once=jobs, progress=progress, **with_rule)
    shown = (*SHOWN, *metrics)
    rows, warnings = [], []
    for point in points:
        used = by_scenario[store.identity(Job(point.scenario, 0)).key]
        documents = [document for document in store.runs([used.job(seed) for seed in used.seeds]) if document is not None]
        rows += [_row(point, document, shown) for document in documents]
        if warning := warmup_warning(point.scenario.to_dict(), documents):
            warnings.append(f"{', '.join(f'{path}={value}' for path, value in point.values.items())}: {warning}")
    return Swept(rows, counts, tuple(warnings))


class _Seeds:
    """The seeds of one point: those given, or as many as the rule wants once it has seen those before."""

    def __init__(self, scenario: Scenario, given: Sequence[int] | Until) -> None:
        self._scenario = scenario
        self._rule = given if isinstance(given, Until) else None
        self.seeds: list[int] = [] if isinstance(given, Until) else list(given)
        self._metrics: dict[str, dict[int, float]] = {}
        self._awaited = 0

    def job(self, seed: int) -> Job:
        return Job(self._scenario, seed)

    def take(self, seed: int, document: dict[str, Any] | None) -> list[Job]:
        """Takes what one seed gave; further jobs once all of a round are there."""
        if document is not None:
            if not self._metrics:
                self._rule.check(metric_names(document))
            for name, value in flat_metrics(document).items():
                if any(fnmatchcase(name, pattern) for pattern in self._rule.metrics):
                    self._metrics.setdefault(name, {})[seed] = value
        self._awaited -= 1
        return [] if self._awaited else self.more()

    def more(self) -> list[Job]:
        """The jobs of the next round."""
        if self._rule is None:
            return [self.job(seed) for seed in self.seeds]
        standing = self._rule.standing(self.seeds, self._metrics)
        new = range(len(self.seeds) + 1, standing.seeds + 1) if standing.state == "more" else ()
        self.seeds += new
        self._awaited = len(new)
        return [self.job(seed) for seed in new]


def _row(point: Point, document: Mapping[str, Any], shown: Sequence[str]) -> dict[str, Any]:
    metrics = {
        name: value
        for name, value in flat_metrics(document).items()
        if any(fnmatchcase(name, pattern) for pattern in shown)
    }
    return {**point.values, "seed": document["seed"], **metrics}


def _check_axis(path: str, values: Sequence[str]) -> None:
    if not values:
        raise ValueError(f"{path}: at least one value is needed")
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        raise ValueError(f"{path}: {twice} is given twice")


def _cell(value: Any) -> Any:
    return toml_value(value) if isinstance(value, dict | list | tuple) else value
