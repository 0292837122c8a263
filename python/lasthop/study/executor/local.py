"""Threads of this process, which belong to the engine: they do not wait for Python, nor Python for them.

Runs whose code is in Python are run by processes.
"""

from __future__ import annotations

import time
from itertools import count
from typing import Self

from ... import _core
from ..code.processes import Order, ProcessPool, needs_processes
from ..simulation import Kept, core_count
from . import Outcome, Task, outcome_of, series_interval_s

# The runs of this much time are handed out, and no more than that: their receiver may be writing.
AHEAD_S = 1.0
MOST_AHEAD = 2000


class Threads:
    """Runs tasks of any scenario side by side, one a thread."""

    def __init__(self, jobs: int | None = None) -> None:
        self._jobs = jobs or core_count()
        self._tickets = count()
        self._tasks: dict[int, Task] = {}
        self._processes: ProcessPool | None = None

    def __enter__(self) -> Self:
        self._pool = _core.Pool(self._jobs)
        self._tasks.clear()
        self._begun, self._done = time.monotonic(), 0
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()
        if self._processes:
            self._processes.close()
            self._processes = None

    @property
    def _in_flight(self) -> int:
        return len(self._tasks)

    def room(self) -> int:
        """So many more that no thread waits while outcomes are stored."""
        by_speed = int(AHEAD_S * self._done / max(AHEAD_S, time.monotonic() - self._begun))
        return max(64, 8 * self._jobs, min(by_speed, MOST_AHEAD)) - self._in_flight

    def submit(self, task: Task) -> None:
        """Takes a task."""
        ticket = next(self._tickets)
        self._tasks[ticket] = task
        resolved, seed, interval_s = task.identity.resolved, task.job.seed, series_interval_s(task.job)
        if needs_processes(resolved):
            resolved.load_code()  # reports its errors before anything runs
            self._processes = self._processes or ProcessPool(self._jobs)
            self._processes.submit(
                ticket,
                Order(task.job.scenario, resolved.duration_s(), seed, Kept(interval_s), resolved.code_contents()),
            )
        else:
            self._pool.submit(ticket, resolved, seed, interval_s)

    def finished(self, wait_s: float) -> list[Outcome]:
        """Outcomes since the last call; waits for the first."""
        processes = None if self._processes is None or self._processes.is_idle() else self._processes
        found = [] if processes is None else processes.take_finished(wait_s)
        found += self._pool.take_finished(wait_s if processes is None else 0)
        self._done += len(found)
        return [self._taken(self._tasks.pop(ticket), run) for ticket, run in found]

    def fraction(self) -> float:
        """Tasks' worth of work done in those that run."""
        return self._pool.fraction() + (self._processes.fraction() if self._processes else 0.0)

    def cancel(self) -> None:
        """Stops what runs."""
        self._pool.cancel()
        if self._processes:
            self._processes.cancel()

    def _taken(self, task: Task, run: _core.RunOutcome) -> Outcome:
        try:
            return self._outcome(task, run)
        except Exception as error:  # noqa: BLE001  such as no memory for a time series: the campaign goes on
            return Outcome(task.key, error=f"{type(error).__name__}: {error}", is_lost=True)

    def _outcome(self, task: Task, run: _core.RunOutcome) -> Outcome:
        return outcome_of(task, run)
