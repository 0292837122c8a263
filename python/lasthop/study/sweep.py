"""Varies settings of a scenario: every combination, pair or drawn set of values is a point; all points run the same seeds."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ..data import arguments as given
from ..data.extras import pandas_for
from ..data.grouping import alike, named
from ..data.metric import GLOB, check_keys, check_names, check_single, matching
from ..data.metric import chosen as chosen_names
from ..data.quantities import TOTALS
from ..data.queue_report import Losses
from ..data.runs import Run, metric_names
from .campaign import Counts, complete
from .design import Design, Over, groups_of, sample_of, wanted
from .progress import Progress, progress_here
from .scenario import Scenario, scenario_or_file, toml_value
from .sequential import GOODPUT, MOST, Until
from .simulation import HeldInterrupt, Interrupted, RunFailed, job_count, seed_list
from .store import Job, Memory, Store
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

    rows: list[dict[str, Any]]
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
        else Memory()
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
) -> Swept:
    """Runs the points side by side, each with `seeds` or with as many as the rule needs. `held`: holds Ctrl-C back afterwards."""
    chosen = [_Seeds(point.scenario, seeds) for point in points]
    by_scenario: dict[str, _Seeds] = {}
    for each in chosen:
        by_scenario.setdefault(store.identity(each.job(0)).key, each)

    asking = {each.scenario: each for each in by_scenario.values()}

    def then(job: Job, run: Run | None) -> list[Job]:
        return asking[job.scenario].take(job.seed, run)

    def check(job: Job, run: Run | None) -> list[Job]:
        names.take(job, run)
        return []

    first = [job for each in by_scenario.values() for job in each.more()]
    names = _Names(metrics, {each.scenario for each in by_scenario.values()})
    after_each = {"then": then} if isinstance(seeds, Until) else {"then": check} if metrics else {}
    counts = complete(first, store, executor=executor, jobs_at_once=jobs, progress=progress, held=held, **after_each)
    used = [(point, by_scenario[store.identity(Job(point.scenario, 0)).key]) for point in points]
    rows, of_rows, warnings, late = [], [], [], []
    for (point, read), (_, each) in zip(_read_by_point(used, store, (*SHOWN, *metrics)), used, strict=True):
        shortfall = None if counts.interrupted else each.shortfall()
        own = list(_warnings(point, read, store))
        warnings += [(point.name, sentence) for sentence in own]
        late += [(point.name, shortfall)] if shortfall else []
        rows += read.rows
        of_rows += [(*own, *([shortfall] if shortfall else []))] * len(read.rows)
    return Swept(rows, counts, tuple(_once(warnings + late, len(points))), tuple(of_rows))


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


class _Read:
    """The data kept of the runs of a point, which may be thousands: their rows, and the input of warnings."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.totals: list[dict[str, Any]] = []
        self.losses = Losses()


def _read_by_point(
    used: Sequence[tuple[Point, _Seeds]], store: Store | Memory, shown: tuple[str, ...]
) -> Iterator[tuple[Point, _Read]]:
    """Each point with its runs that are there; read across points, which may have few seeds each."""
    tables = _tables(shown)

    def take(run: Run) -> tuple[dict[str, Any], Run]:
        found = run.numbers(tables)
        return {"seed": run["seed"], **{name: found[name] for name in _shown_of(shown, tuple(found))}}, run

    taken = store.each((each.job(seed) for _, each in used for seed in each.seeds), take)
    for point, each in used:
        read = _Read()
        for row, run in filter(None, islice(taken, len(each.seeds))):
            read.rows.append({**point.values, **row})
            read.totals.append(_settling(run))
            read.losses.take(run)
        yield point, read


def _tables(patterns: Iterable[str]) -> list[str] | None:
    """The parts of a run that contain all matches of `patterns`; None if that may be any part."""
    tables = [pattern.partition(".")[::2] for pattern in patterns]
    is_known = all(rest and not GLOB.search(table) for table, rest in tables)
    return sorted({table for table, _ in tables}) if is_known else None


@lru_cache(maxsize=64)
def _shown_of(shown: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    """Runs of a campaign have the same few sets of names."""
    return chosen_names(shown, names)


def _settling(run: Run) -> dict[str, Any]:
    """The totals of a run that `warmup_warning` reads."""
    totals: dict[str, Any] = {name: run["totals"].get(name) for name in (TOTALS.goodput_parts_bps, TOTALS.unsettled_s)}
    if totals[TOTALS.goodput_parts_bps]:
        totals[TOTALS.goodput_parts_bps] = array("d", totals[TOTALS.goodput_parts_bps])
    return totals


def _warnings(point: Point, read: _Read, store: Store | Memory) -> Iterator[str]:
    identity = store.identity(Job(point.scenario, 0))
    yield from map(str, identity.resolved.warnings())
    if read.rows and (sentence := warmup_warning(identity.document, ({"totals": totals} for totals in read.totals))):
        yield sentence
    yield from read.losses.warnings()


class _Seeds:
    """The seeds of one point: those given, or as many as the rule wants once it has seen those before."""

    def __init__(self, scenario: Scenario, given: Sequence[int] | Until) -> None:
        self.scenario = scenario
        self._rule = given if isinstance(given, Until) else None
        self.seeds: list[int] = [] if isinstance(given, Until) else list(given)
        self._metrics: dict[str, dict[int, float]] = {}
        self._awaited = 0

    def job(self, seed: int) -> Job:
        return Job(self.scenario, seed)

    def take(self, seed: int, run: Run | None) -> list[Job]:
        """Takes the outcome of one seed; returns further jobs after the last one of a round."""
        if run is not None and self._rule is not None:
            if not self._metrics:
                self._rule.check(metric_names(run))
            found = run.numbers()
            for name in chosen_names(self._rule.metrics, found):
                self._metrics.setdefault(name, {})[seed] = found[name]
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

    def shortfall(self) -> str | None:
        """Returns a warning for a point at which the rule gave up."""
        standing = self._rule and self._rule.standing(self.seeds, self._metrics)
        if not standing or standing.state == "reached":
            return None
        return f"{standing.words() or 'unknown width'} after {len(self.seeds)} seeds; not as narrow as requested"


def _cell(value: Any) -> Any:
    return toml_value(value) if isinstance(value, dict | list | tuple) else value
