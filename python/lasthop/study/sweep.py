"""Varies settings of a scenario: every combination, pair or drawn set of values is a point; all points run the same seeds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ..data import arguments as given
from ..data.extras import pandas_for
from ..data.grouping import alike, named
from ..data.metric import check_keys, check_names, check_single, matching
from ..data.metric import chosen as chosen_names
from ..data.runs import Run, metric_names
from .campaign import Counts, Jobs, complete
from .design import Design, Over, groups_of, sample_of, wanted
from .progress import Progress, progress_here
from .scenario import Scenario, scenario_or_file, toml_value
from .sequential import GOODPUT, MOST, Until
from .simulation import HeldInterrupt, Interrupted, RunFailed, job_count, seed_list
from .store import Job, Memory, Store
from .sweep_rows import PointRows, Rows, Taken, Taking
from .warmup import warmup_warning

if TYPE_CHECKING:
    from .sweep_table import SweepTable

STORE = "a Store or the name of its file"
SHOWN = ("totals.*", "medium.*")
# The column of a CSV file and the metadata of a Parquet file that have warnings, and the separator in a cell.
WARNINGS, BETWEEN_WARNINGS = "warnings", " | "


class Point(NamedTuple):
    """A combination of values, by path, and its scenario."""

    values: dict[str, Any]
    scenario: Scenario

    @property
    def name(self) -> str:
        """The point as a reader knows it, such as `station.0.count=4, wired.delay=5 ms`."""
        return ", ".join(f"{path}={value}" for path, value in self.values.items())


class Swept(NamedTuple):
    """The outcome of a sweep: a row for each point and seed, counts and warnings."""

    rows: Rows
    counts: Counts
    warnings: tuple[str, ...]
    """notes for a reader of the rows, each headed by its points"""
    warnings_of_rows: tuple[tuple[str, ...], ...] = ()
    """for each row the notes about its point"""


def sweep(
    scenario: Scenario | str | os.PathLike[str],
    over: Over | None = None,
    seeds: int | Iterable[int] | None = None,
    *,
    zip: Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Iterable[Any]]] | None = None,
    sample: int | None = None,
    design: str = "lhs",
    design_seed: int = 1,
    until: float | Until | None = None,
    metrics: Sequence[str] = (),
    store: Store | str | os.PathLike[str] | None = None,
    executor: Any = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> SweepTable:
    """Runs every combination of the values in `over` (by default the file's `[sweep]`) for each seed (5 by default).

    `zip`: settings that vary together, the first value of each, then the second: `{"wired.rate": [10, 50], "wired.delay":
    […]}` with as many values each; a list of such groups for several. Groups multiply with one another and with `over`.
    `sample`: the number of points to draw in those of `over` that are ranges such as `"1 ms..100 ms"`, `"1..10"` (whole
    numbers) or `"1 ms..1000 ms log"`: a Latin hypercube, or independent draws with `design="random"`, from `design_seed`.
    Each drawn point is combined with all values of `over` and `zip`; `.attrs["design"]` of the table has how they
    were drawn.
    Returns one row for each point and seed: the varied paths, `seed`, the run's `totals.…` and `medium.…`, and further
    `metrics` (globs are allowed). Its `.to_xarray()` has the paths and `seed` as dimensions, and one dimension for
    settings that vary together.
    `until`: at each point, seeds are added until the interval of `metrics` (by default goodput) is narrower than this share
    of the mean, at most `seeds`; points that would need more are among the warnings. `store`: a `Store` or its file; stored
    runs are not run again, and new ones are stored. `.attrs["warnings"]` has warnings for readers of the table, each headed
    by its points.
    `executor`: `lasthop.executor.dask.Dask(address)`, or threads of this process, `jobs` of them.
    Raises `ScenarioError` before anything runs if one of the points is wrong, `StoreError` if the store is, and `RunFailed`
    and, on Ctrl-C, `Interrupted`, which hold the table of finished runs.
    """
    pandas_for("the table of a sweep")
    from .sweep_table import SweepTable

    metrics = given.names("metrics", metrics, "the name of a metric")
    check_keys(metrics)
    jobs = job_count(jobs)
    scenario = scenario_or_file(scenario)
    asked = wanted(scenario, over, groups_of(zip), sample_of(sample, design, design_seed))
    points = grid(scenario, asked)
    chosen = seed_list(5 if seeds is None else seeds) if until is None else _rule(until, metrics, seeds)
    kept = (
        store
        if isinstance(store, Store)
        else Memory(forgets=True)
        if store is None
        else Store.open(given.path("store", store, STORE))
    )
    show = progress_here() if progress is None else progress
    with Progress.here("sweep", "runs") if show else Progress.silent() as bar:
        swept = run_points(points, chosen, kept, metrics=metrics, executor=executor, jobs=jobs, progress=bar)
    table = SweepTable.of(swept.rows, asked.paths, asked.groups)
    table.attrs["warnings"] = list(swept.warnings)
    if asked.drawn is not None:
        table.attrs["design"] = asked.drawn
    if swept.counts.interrupted:
        raise Interrupted(table)
    if swept.counts.failures:
        raise RunFailed(table, swept.counts.failures)
    return table


def _rule(until: float | Until, metrics: Sequence[str], seeds: int | Iterable[int] | None) -> Until:
    if isinstance(until, Until):
        if seeds is not None:
            raise ValueError("seeds: has no effect with an Until, which sets the largest number")
        return until
    if seeds is not None and not given.is_whole(seeds):
        raise ValueError("seeds: with until, give the largest number of seeds, not a list")
    return Until(
        until,
        tuple(metrics) or (GOODPUT,),
        MOST if seeds is None else given.whole("seeds", seeds, "the largest number"),
    )


def grid(scenario: Scenario, design: Design) -> list[Point]:
    """Returns the points of a sweep with their scenarios, all of them checked."""
    points = []
    for point in design.points():
        varied = scenario
        for path, value in point.items():
            varied = varied.set(path, value)
        varied.resolve().check_simulable()
        points.append(Point({path: _cell(value) for path, value in point.items()}, varied))
    return points


def run_points(
    points: Sequence[Point],
    seeds: Sequence[int] | Until,
    store: Store | Memory,
    *,
    metrics: Sequence[str] = (),
    executor: Any = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    held: HeldInterrupt | None = None,
    shown: Sequence[str] = SHOWN,
) -> Swept:
    """Runs the points side by side, each with `seeds` or with as many as the rule needs. Rows have the numbers of `shown` and
    `metrics`. `held`: holds Ctrl-C back afterwards.
    """
    chosen = [_Seeds(point.scenario, seeds) for point in points]
    by_scenario: dict[str, _Seeds] = {}
    of_points = []
    for each in chosen:
        of_points.append(by_scenario.setdefault(store.identity(each.job(0)).key, each))
    distinct = list(by_scenario.values())
    del chosen, by_scenario
    shapes: list[tuple[tuple[str, bool], ...]] = []
    # By the object: its hash would take longer than a row.
    rows = {id(each.scenario): PointRows(shapes) for each in distinct}
    asking = {id(each.scenario): each for each in distinct}
    names = _Names(metrics, {each.scenario for each in distinct})

    def then(job: Job, taken: Taken | None) -> Iterable[Job]:
        each = asking[id(job.scenario)]
        if taken is not None:
            rows[id(job.scenario)].add(each.place(job.seed), taken)
            if metrics:
                names.take(job, taken.run)
        return each.take(job.seed, taken and taken.run)

    each_one = chain.from_iterable(each.more() for each in distinct)
    first = each_one if isinstance(seeds, Until) else Jobs(each_one, len(distinct) * len(seeds))
    # A rule and the names of metrics are of whole runs.
    take = Taking(tuple(dict.fromkeys((*shown, *metrics))), whole=isinstance(seeds, Until) or bool(metrics))
    counts = complete(
        first, store, executor=executor, jobs_at_once=jobs, progress=progress, then=then, take=take, held=held
    )
    of_rows, warnings, late = [], [], []
    for point, each in zip(points, of_points, strict=True):
        read = rows[id(each.scenario)]
        shortfall = None if counts.interrupted else each.shortfall()
        own = list(_warnings(point, read, store))
        warnings += [(point.name, sentence) for sentence in own]
        late += [(point.name, shortfall)] if shortfall else []
        of_rows += [(*own, *([shortfall] if shortfall else []))] * len(read)
    found = [(point.values, each.seeds, rows[id(each.scenario)]) for point, each in zip(points, of_points, strict=True)]
    return Swept(Rows(found), counts, tuple(_once(warnings + late, len(points))), tuple(of_rows))


def _once(warnings: Iterable[tuple[str, str]], points: int) -> Iterator[str]:
    """Each headed by its point, or by all points that share it."""
    for sentence, names in alike(warnings).items():
        yield f"{names[0] if len(names) == 1 else named('point', names, points)}: {sentence}"


class _Names:
    """Whether each of `patterns` is among the names of some point's runs, once each point has shown one."""

    def __init__(self, patterns: Sequence[str], points: set[Scenario]) -> None:
        self._patterns = list(patterns)
        self._missing = self._patterns
        self._unseen = set(points)
        self._known: dict[str, None] = {}

    def take(self, job: Job, run: Run | None) -> None:
        """Adds a run; raises `UnknownMetric`."""
        if not self._missing or run is None or job.scenario not in self._unseen:
            return
        self._unseen.remove(job.scenario)
        names = metric_names(run)
        check_single(self._patterns, names)
        self._known.update(dict.fromkeys(names))
        self._missing = [pattern for pattern in self._missing if not matching(pattern, self._known)]
        if not self._unseen:
            check_names(self._missing, list(self._known))


def _warnings(point: Point, read: PointRows, store: Store | Memory) -> Iterator[str]:
    identity = store.identity(Job(point.scenario, 0))
    yield from map(str, identity.resolved.warnings())
    if len(read) and (sentence := warmup_warning(identity.document, read.settling())):
        yield sentence
    yield from read.losses.warnings()


class _Seeds:
    """The seeds of one point: those given, or as many as the rule wants once it has seen those before."""

    def __init__(self, scenario: Scenario, given: Sequence[int] | Until) -> None:
        self.scenario = scenario
        self._rule = given if isinstance(given, Until) else None
        self.seeds: Sequence[int] = [] if isinstance(given, Until) else given
        self._metrics: dict[str, dict[int, float]] = {}
        self._awaited = 0
        self._places: dict[int, int] = {}

    def place(self, seed: int) -> int:
        """The place of a seed among all."""
        if 0 < seed <= len(self.seeds) and self.seeds[seed - 1] == seed:
            return seed - 1
        if len(self._places) != len(self.seeds):
            self._places = {seed: place for place, seed in enumerate(self.seeds)}
        return self._places[seed]

    def job(self, seed: int) -> Job:
        return Job(self.scenario, seed)

    def take(self, seed: int, run: Run | None) -> Iterable[Job]:
        """Takes the outcome of one seed; returns further jobs after the last one of a round."""
        if self._rule is None:
            return ()
        if run is not None:
            if not self._metrics:
                self._rule.check(metric_names(run))
            found = run.numbers()
            for name in chosen_names(self._rule.metrics, found):
                self._metrics.setdefault(name, {})[seed] = found[name]
        self._awaited -= 1
        return [] if self._awaited else self.more()

    def more(self) -> Iterable[Job]:
        """The jobs of the next round."""
        if self._rule is None:
            return map(self.job, self.seeds)
        standing = self._rule.standing(self.seeds, self._metrics)
        new = range(len(self.seeds) + 1, standing.seeds + 1) if standing.state == "more" else ()
        self.seeds = [*self.seeds, *new]
        self._awaited = len(new)
        return [self.job(seed) for seed in new]

    def shortfall(self) -> str | None:
        """Returns a warning for a point at which the rule gave up."""
        standing = self._rule and self._rule.standing(self.seeds, self._metrics)
        if not standing or standing.state == "reached":
            return None
        return f"{standing.words() or 'unknown width'} after {len(self.seeds)} seeds; not as narrow as requested"


def _cell(value: Any) -> Any:
    return toml_value(value) if isinstance(value, dict | list | tuple) else value
