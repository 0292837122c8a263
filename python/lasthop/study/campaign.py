"""A campaign: many runs, of which only those are run that the store lacks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple

from ..data.arguments import shown, whole
from ..data.runs import Run
from .executor import Outcome, Selective, Task
from .executor.local import Threads
from .progress import Progress
from .scenario import Scenario
from .simulation import HeldInterrupt, InterruptRequests
from .store import Finished, Job, Memory, Store, Writer, whole_run

LOOK_S = 0.1
# Jobs whose runs are looked up in the store together.
JOBS_AT_A_TIME = 4096

# Selects the wanted part of a run, in the process that ran it.
Take = Callable[[Run], Any]
# Called with each job that has an outcome (what was taken of its run, or None if it failed); returns further jobs.
Then = Callable[[Job, Any], Iterable[Job]]


class Jobs:
    """So many jobs, each of another run, made as they are wanted: a campaign that need not be in memory. Their scenarios were checked."""

    def __init__(self, jobs: Iterable[Job], number: int) -> None:
        self._jobs = iter(jobs)
        self._number = number

    def __len__(self) -> int:
        """The number of those to come."""
        return self._number

    def some(self) -> list[Job]:
        """The next of them."""
        some = list(islice(self._jobs, JOBS_AT_A_TIME))
        self._number = self._number - len(some) if some else 0
        return some


def nothing_follows(_job: Job, _run: Any) -> Iterable[Job]:
    """The campaign has all its jobs from the start."""
    return ()


class Counts(NamedTuple):
    """How a campaign went; `failures` are sentences, each with the command that repeats the run."""

    run: int
    found: int
    failed: int
    interrupted: bool
    failures: tuple[str, ...] = ()


def complete(
    jobs: Iterable[Job] | Jobs,
    store: Store | Memory,
    *,
    executor: Any = None,
    jobs_at_once: int | None = None,
    progress: Progress | None = None,
    then: Then = nothing_follows,
    take: Take = whole_run,
    held: HeldInterrupt | None = None,
) -> Counts:
    """Runs what `store` lacks of `jobs`, all scenarios side by side, and stores each run as it comes in.

    `executor`: see `lasthop.executor`; threads of this process by default, `jobs_at_once` of them.
    `then`: further jobs, once one has its outcome: its run, or what `take` selects of it. Ctrl-C stops the campaign and keeps finished runs; `held` holds it back
    afterwards.
    Raises `ScenarioError` before the first run, `StoreError`, and `OSError` if the store cannot be written.
    """
    if isinstance(executor, str):
        raise ValueError(
            f"executor: {executor!r} is only a name; give an executor, such as lasthop.executor.dask.Dask(ADDRESS)"
        )
    if not isinstance(store, Store | Memory):
        raise TypeError(f"store: a Store is needed, such as lasthop.Store.open('runs.duckdb'), not {shown(store)}")
    campaign = _Campaign(store, progress or Progress.silent(), then, take)
    if isinstance(jobs, Jobs):
        campaign.follow(jobs)
    else:
        jobs = [jobs] if isinstance(jobs, Job) else list(jobs)
        for job in jobs:
            if not isinstance(job, Job) or not isinstance(job.scenario, Scenario):
                raise TypeError(f"jobs: each is a lasthop.Job(scenario, seed), not {shown(job)}")
            whole("jobs: seed", job.seed, "a seed")
        campaign.ask(jobs)
    with InterruptRequests(held) as requests:
        if campaign.is_unfinished:
            chosen = executor or Threads(jobs_at_once)
            if isinstance(chosen, Selective):
                chosen.select(take if then is not nothing_follows else None, store.takes)
            with chosen, store.writer(lambda: requests.count > 1) as writer:
                campaign.work(chosen, writer, requests)
            campaign.show()
    return campaign.counts(interrupted=requests.count > 0 and campaign.is_unfinished)


class _Campaign:
    """The wanted runs, those in flight, and their outcomes."""

    def __init__(self, store: Store | Memory, progress: Progress, then: Then, take: Take) -> None:
        self._store = store
        self._progress = progress
        self._then = then
        self._take_of = take
        self._known: set[str] = set()
        self._to_come = Jobs((), 0)
        self._waiting: deque[Task] = deque()
        self._in_flight: dict[str, Task] = {}
        self._run = self._found = 0
        self._failures: list[str] = []

    @property
    def is_unfinished(self) -> bool:
        return bool(self._waiting or self._in_flight or len(self._to_come))

    def counts(self, *, interrupted: bool) -> Counts:
        return Counts(self._run, self._found, len(self._failures), interrupted, tuple(self._failures))

    def follow(self, jobs: Jobs) -> None:
        """Takes jobs that are each of another run, some at a time."""
        self._to_come = jobs
        self._look_ahead()

    def _look_ahead(self) -> None:
        """Looks up further jobs, until one has to be run."""
        while not self._waiting and len(self._to_come):
            self.ask(self._look_up({self._store.key(job): job for job in self._to_come.some()}))

    def ask(self, jobs: Iterable[Job]) -> None:
        """Takes jobs. Those that the store answers are answered at once, and so are those that follow from them."""
        while new := self._new(jobs):
            jobs = self._look_up(new)

    def _look_up(self, new: dict[str, Job]) -> list[Job]:
        """Has those run that the store does not answer; returns what follows from the others."""
        held = self._store.held(list(new))
        found = {key: job for key, job in new.items() if held.answers(key, job.series)}
        self._waiting.extend(self._task(key, job) for key, job in new.items() if key not in found)
        self._found += sum(key in held.runs for key in found)
        self._failures.extend(held.failures[key] for key in found if key in held.failures)
        return self._following(list(found.values()))

    def _following(self, found: list[Job]) -> list[Job]:
        if self._then is nothing_follows:
            return []
        runs = self._store.each(found, self._take_of)
        return [more for job, run in zip(found, runs, strict=True) for more in self._then(job, run)]

    def _new(self, jobs: Iterable[Job]) -> dict[str, Job]:
        """New jobs by key, each with all series requested of it."""
        new: dict[str, Job] = {}
        for job in jobs:
            key = self._store.key(job)
            if key not in self._known:
                series = {*job.series, *(new[key].series if key in new else ())}
                new[key] = job._replace(series=tuple(sorted(series)))
        self._known.update(new)
        return new

    def _task(self, key: str, job: Job) -> Task:
        return Task(key, job, self._store.identity(job))

    def is_waiting(self) -> bool:
        """Whether a task can be handed out."""
        self._look_ahead()
        return bool(self._waiting)

    def work(self, executor: Any, writer: Writer | Memory, requests: InterruptRequests) -> None:
        """Keeps the executor busy until all jobs are done, or until Ctrl-C."""
        while self.is_unfinished and not requests.count:
            room = executor.room()
            while room > 0 and self.is_waiting():
                task = self._waiting.popleft()
                self._in_flight[task.key] = task
                executor.submit(task)
                room -= 1
            self._take(executor.finished(LOOK_S), writer)
            self.show(executor.fraction(), writer.waiting)
        if requests.count:
            executor.cancel()
            self._take(executor.finished(0), writer)

    def _take(self, outcomes: Iterable[Outcome], writer: Writer | Memory) -> None:
        follow: list[Job] = []
        for outcome in outcomes:
            task = self._in_flight.pop(outcome.key)
            if outcome.error is None:
                self._run += 1
            else:
                self._failures.append(outcome.error)
            if isinstance(writer, Writer) and outcome.shard is not None:
                writer.add_shard(outcome.shard)
            if not (outcome.is_lost or outcome.is_in_shard):
                writer.add(Finished(*task, outcome.run, outcome.series, outcome.error))
            if self._then is not nothing_follows:
                taken = self._take_of(outcome.run) if outcome.run is not None else outcome.taken
                follow.extend(self._then(task.job, taken))
        writer.write()
        if follow:
            self.ask(follow)

    def show(self, fraction: float = 0.0, unwritten: int = 0) -> None:
        """Shows the progress, with the finished part of the runs in flight and the number of finished runs not stored yet."""
        done = self._run + self._found + len(self._failures)
        whole = done + len(self._in_flight) + len(self._waiting) + len(self._to_come)
        # Work that a kill could still undo does not count as finished.
        self._progress.update((done + fraction) / max(1, whole), done - unwritten, whole)
