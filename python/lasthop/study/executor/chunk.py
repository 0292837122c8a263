"""Several runs as one task of a cluster: their form on the way, their number, and their outcomes.

A task costs a cluster some milliseconds, whatever is in it; so runs travel in chunks of about half a second. A worker stops
a chunk after a second and returns the runs that it has not begun: an estimate that was wrong costs no more than that.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ... import _core
from ...data.temporary import TemporaryFolder
from ..code.processes import needs_processes
from ..scenario import Scenario, toml_value
from ..store import Blocks, Form, scenario_row
from ..store.identity import run_key
from ..store.shards import NewShard
from ..store.tables import utc_now
from . import SERIES_INTERVAL_S, Outcome, Task, series_of, with_command

CHUNK_S = 0.5
LONGEST_S = 1.0
# Weight of the latest run in the estimate of a run's cost.
NEWEST = 0.3
# Documents of one scenario are alike; more effort would take longer than it saves.
COMPRESSION = 1
# Runs of a chunk that make a shard.
SHARD_FROM = 64
# Parsed scenarios that a worker keeps, of some 20 kB.
SCENARIOS_KNOWN = 256


class Sent(NamedTuple):
    """A scenario on its way to a worker, with the files that it refers to, and its texts in a shard by name."""

    text: str
    file_name: str
    settings: tuple[tuple[str, str], ...]
    files: dict[str, bytes]
    row: dict[str, str]


class Payload(NamedTuple):
    """The work sent to a worker: scenarios, their runs by number, what is wanted of each run, and the form of all."""

    scenarios: tuple[tuple[Any, ...], ...]
    runs: tuple[tuple[int, int, tuple[str, ...]], ...]
    take: Callable[[_core.Run], Any] | None
    form: Form


class Done(NamedTuple):
    """A worker's answer to a chunk, in order: the duration and the outcome of each run that it has begun."""

    seconds: list[float]
    documents: bytes
    """of runs that have one, a line each, compressed; none unless they were asked for"""
    errors: dict[int, str]
    """by number, of runs that failed"""
    series: dict[int, Blocks]
    """by number, of runs that keep some"""
    taken: list[Any]
    """what was selected of each run that has not failed"""
    shard: dict[str, bytes]
    """the files of the shard of all runs, if it was asked for"""


def pack(tasks: Sequence[Task], take: Callable[[_core.Run], Any] | None = None, form: Form = "documents") -> Payload:
    """The chunk of these tasks."""
    numbers: dict[int, int] = {}
    scenarios: list[Any] = []
    runs: list[tuple[int, int, tuple[str, ...]]] = []
    if form == "shards" and (len(tasks) < SHARD_FROM or any(task.job.series for task in tasks)):
        form = "documents"
    if form == "documents":
        take = None  # the run is there to take it from
    for task in tasks:
        scenario, seed, series = task.job
        if id(task.identity) not in numbers:
            numbers[id(task.identity)] = len(scenarios)
            row = scenario_row(task.job, task.identity) if form == "shards" else {}
            scenarios.append(
                tuple(Sent(scenario.text, scenario.file_name, scenario.settings, task.identity.files, row))
            )
        runs.append((numbers[id(task.identity)], seed, series))
    return Payload(tuple(scenarios), tuple(runs), take, form)


def name_of(tasks: Sequence[Task], take: object = None, form: Form = "documents") -> str:
    """A name that only a chunk of the same runs has, of which the same is wanted."""
    told = hashlib.sha256(f"{form} {take!r}\n".encode())
    for task in tasks:
        told.update(f"{task.key} {' '.join(task.job.series)}\n".encode())
    return f"lasthop-{told.hexdigest()[:32]}"


def run_chunk(payload: Payload, longest_s: float = LONGEST_S) -> Done:
    """Runs a chunk, one run after another, until the first that ends after `longest_s`."""
    begun = time.perf_counter()
    scenarios = [Sent(*each) for each in payload.scenarios]
    own: dict[int, _core.ResolvedScenario] = {}
    seconds: list[float] = []
    documents: list[str] = []
    errors: dict[int, str] = {}
    kept: dict[int, Blocks] = {}
    taken: list[Any] = []
    shard = NewShard()
    pool = _core.Pool(1)
    for number, (index, seed, series) in enumerate(payload.runs):
        started = time.perf_counter()
        if seconds and started > begun + longest_s:
            break
        if index not in own:
            own[index] = _parsed(*scenarios[index][:4])
        outcome = _run(pool, own[index], seed, SERIES_INTERVAL_S if series else None)
        if needs_processes(own[index]):
            # Code in Python may keep state in its module: each seed loads it again.
            del own[index]
        if outcome.run is None:
            errors[number] = outcome.error or ""
        else:
            if payload.take is not None:
                taken.append(payload.take(outcome.run))
            if payload.form == "shards":
                row = scenarios[index].row
                key = run_key(row["scenario"], seed)
                shard.add(outcome.run, {**row, "run": key, "finished": str(utc_now())}, own[index].to_json)
            elif payload.form == "documents":
                documents.append(outcome.run.json())
            if series:
                kept[number] = series_of(outcome, series)
        seconds.append(time.perf_counter() - started)
    packed = zlib.compress("\n".join(documents).encode(), COMPRESSION)
    return Done(seconds, packed, errors, kept, taken, shard.files() if len(shard) else {})


def outcomes_of(tasks: Sequence[Task], done: Done) -> list[Outcome]:
    """Returns the outcomes of the tasks that were begun."""
    text = zlib.decompress(done.documents).decode()
    documents = iter(text.split("\n") if text else ())
    taken, shard = iter(done.taken), done.shard or None
    outcomes = []
    for number, task in enumerate(tasks[: len(done.seconds)]):
        if number in done.errors:
            outcomes.append(Outcome(task.key, error=with_command(done.errors[number], task.job)))
        elif text:
            outcomes.append(Outcome(task.key, _core.Run.parse(next(documents)), done.series.get(number)))
        else:
            outcomes.append(Outcome(task.key, is_in_shard=True, taken=next(taken, None), shard=shard))
            shard = None
    return outcomes


class Pace:
    """The cost of a run by scenario, as far as measured; for other scenarios, the recent cost of runs."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._lately: float | None = None

    @property
    def lately_s(self) -> float | None:
        """The recent cost of a run; None before the first."""
        return self._lately

    def learn(self, tasks: Iterable[Task], seconds: Iterable[float]) -> None:
        """Takes what runs have cost."""
        for task, spent in zip(tasks, seconds, strict=False):
            known = self._seconds.get(task.identity.key, spent)
            self._seconds[task.identity.key] = known + NEWEST * (spent - known)
            self._lately = spent if self._lately is None else self._lately + NEWEST * (spent - self._lately)

    def cost_s(self, task: Task) -> float | None:
        """Returns the estimated cost of a run; None before the first measurement."""
        return self._seconds.get(task.identity.key, self._lately)

    def cut(self, tasks: deque[Task], longest_s: float, *, whole: bool) -> list[Task]:
        """Takes a chunk of about `longest_s` off `tasks`, a single run before the first measurement.

        None if there are too few for a whole chunk, and it has to be `whole`.
        """
        spent_s = 0.0
        for number, task in enumerate(tasks, 1):
            cost_s = self.cost_s(task)
            spent_s += longest_s if cost_s is None else cost_s
            if spent_s >= longest_s:
                return [tasks.popleft() for _ in range(number)]
        return [] if whole else [tasks.popleft() for _ in range(len(tasks))]

    def work_s(self, tasks: Iterable[Task]) -> float:
        """How long these would take one after another."""
        return sum(self.cost_s(task) or 0.0 for task in tasks)


def _run(pool: _core.Pool, resolved: _core.ResolvedScenario, seed: int, interval_s: float | None) -> _core.RunOutcome:
    pool.submit(0, resolved, seed, interval_s)
    while True:
        for _, outcome in pool.take_finished(1.0):
            return outcome


def _parsed(text: str, file_name: str, settings: Any, files: dict[str, bytes]) -> _core.ResolvedScenario:
    """The scenario, from the last ones of this worker if it refers to no file."""
    return _resolved(text, file_name, settings, files) if files else _known(text, file_name, settings)


@lru_cache(maxsize=SCENARIOS_KNOWN)
def _known(text: str, file_name: str, settings: Any) -> _core.ResolvedScenario:
    return _resolved(text, file_name, settings, {})


def _resolved(text: str, file_name: str, settings: Any, files: dict[str, bytes]) -> _core.ResolvedScenario:
    """The scenario, whose files travelled with it."""
    scenario = Scenario(text, file_name, settings)
    with TemporaryFolder("lasthop-dask") as folder:
        for number, (path, content) in enumerate(files.items()):
            file = folder.path / str(number)
            file.write_bytes(content)
            scenario = scenario.set(path, toml_value(str(file)))
        resolved = scenario.resolve()
        resolved.load_code()
        return resolved
