"""Where runs are run: threads of this process, or workers of a Dask cluster.

An executor is a context manager with
  room()         how many more tasks it is worth giving it now
  submit(task)   takes a task
  finished(s)    outcomes since the last call; waits up to `s` seconds for the first
  fraction()     how much of the tasks in flight is done, as a number of tasks
  cancel()       gives up runs in flight; `finished` still returns finished ones
One whose runs are run elsewhere is `Selective` too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ... import _core
from ...data.runs import Run
from ..store import Blocks, Form, Identity, Job

SERIES_INTERVAL_S = 1.0


class ExecutorError(ValueError):
    """An executor that cannot run; the message has place and remedy."""


class Task(NamedTuple):
    """A job with all that running it needs."""

    key: str
    job: Job
    identity: Identity


class Outcome(NamedTuple):
    """The outcome of a task: its run and time series, or `error`, a sentence with the cause of failure."""

    key: str
    run: Run | None = None
    series: Blocks | None = None
    error: str | None = None
    is_lost: bool = False
    """whether the error is a machine's, so that running it again may help"""
    is_in_shard: bool = False
    """whether a shard has its run, which therefore is not here"""
    taken: Any = None
    """what was selected of a run that is not here"""
    shard: dict[str, bytes] | None = None
    """the files of the shard that has this run and others, with the first of them"""


@runtime_checkable
class Selective(Protocol):
    """An executor that sends back only what is asked for."""

    def select(self, take: Callable[[Run], Any] | None, form: Form) -> None:
        """`take` selects what is wanted of a run where it was run; `form`: the form of many short runs."""


def series_interval_s(job: Job) -> float | None:
    """Simulated seconds between the samples that are kept of a job, if any are."""
    return SERIES_INTERVAL_S if job.series else None


def outcome_of(task: Task, run: _core.RunOutcome) -> Outcome:
    """The outcome of a task that the engine ran in this process."""
    if run.run is None:
        return Outcome(task.key, error=with_command(run.error or "", task.job))
    metrics = task.job.series
    return Outcome(task.key, run.run, series_of(run, metrics) if metrics else None)


def with_command(error: str, job: Job) -> str:
    """`error` with the whole command that repeats the run."""
    return job.scenario.with_command(error, job.seed)


def series_of(run: _core.RunOutcome, metrics: Collection[str]) -> Blocks:
    """The wanted time series."""
    return [block for block in run.take_series() if block.metric in metrics]


__all__ = [
    "ExecutorError",
    "Outcome",
    "Selective",
    "Task",
    "outcome_of",
    "series_interval_s",
    "series_of",
    "with_command",
]
