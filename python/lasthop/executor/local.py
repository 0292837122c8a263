"""Threads of this process: the engine lets other Python threads run meanwhile."""

from __future__ import annotations

import queue
import threading

from ..simulation import core_count
from . import Outcome, Task, run_once, with_command


class Threads:
    """Runs tasks of any scenario side by side, one a thread."""

    def __init__(self, jobs: int | None = None) -> None:
        self._jobs = jobs or core_count()
        self._finished: queue.SimpleQueue[Outcome | None] = queue.SimpleQueue()
        self._fractions: dict[str, float] = {}
        self._in_flight = 0
        self._cancelled = threading.Event()

    def __enter__(self) -> Threads:
        # Imported here: it costs what commands that run nothing need not pay.
        from concurrent.futures import ThreadPoolExecutor

        self._cancelled.clear()
        self._pool = ThreadPoolExecutor(self._jobs, "lasthop-run")
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()
        self._pool.shutdown(cancel_futures=True)

    def room(self) -> int:
        """So many more that no thread waits while outcomes are stored."""
        return max(64, 8 * self._jobs) - self._in_flight

    def submit(self, task: Task) -> None:
        """Takes a task."""
        self._in_flight += 1
        self._pool.submit(self._run, task)

    def finished(self, wait_s: float) -> list[Outcome]:
        """Outcomes since the last call; waits for the first."""
        outcomes = []
        try:
            outcomes.append(self._finished.get(timeout=wait_s))
            while True:
                outcomes.append(self._finished.get_nowait())
        except queue.Empty:
            pass
        self._in_flight -= len(outcomes)
        return [outcome for outcome in outcomes if outcome is not None]

    def fraction(self) -> float:
        """Tasks' worth of work done in those that run."""
        return sum(list(self._fractions.values()))

    def cancel(self) -> None:
        """Stops what runs."""
        self._cancelled.set()

    def _run(self, task: Task) -> None:
        try:
            self._finished.put(self._outcome(task))
        except BaseException as error:  # noqa: BLE001  a thread has nobody to raise to
            self._finished.put(Outcome(task.key, error=f"{type(error).__name__}: {error}", is_lost=True))
        finally:
            self._fractions.pop(task.key, None)

    def _outcome(self, task: Task) -> Outcome | None:
        def watch(fraction: float) -> bool:
            self._fractions[task.key] = fraction
            return not self._cancelled.is_set()

        if self._cancelled.is_set():
            return None
        done = run_once(task.identity.resolved, task.job, watch)
        if done is None:
            return None
        document, series, error = done
        return Outcome(task.key, document, series, error and with_command(error, task.job))
