"""The page's own runs: one at a time, the others wait; closing a page ends none of them."""

from __future__ import annotations

import secrets
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from typing import Any

from ..study.progress import Progress
from ..study.simulation import InterruptRequests

# Number of ended jobs that are remembered.
REMEMBERED = 50
MOST_WAITING = 20
ENDED = ("done", "stopped", "failed")
LAST_WAIT_S = 10.0


class Job(ABC):
    """A task that takes a while; `work` runs in a thread of its own."""

    def __init__(self, name: str, of: int, unit: str) -> None:
        self.id = secrets.token_hex(6)
        self.name = name
        self.requests = InterruptRequests()
        self._lock = threading.Lock()
        self._state: dict[str, Any] = {
            "id": self.id,
            "name": name,
            "state": "waiting",
            "fraction": 0.0,
            "finished": 0,
            "of": of,
            "unit": unit,
            "headline": None,
            "key": None,
            "error": None,
            "version": 0,
        }

    def report(self, **news: Any) -> None:
        """Updates its state."""
        with self._lock:
            self._state.update(news, version=self._state["version"] + 1)

    def state(self) -> dict[str, Any]:
        """Returns its state: state, fraction, finished, of, unit, headline, key of the result, error."""
        with self._lock:
            return dict(self._state)

    @property
    def has_ended(self) -> bool:
        """Whether its state is final."""
        return self.state()["state"] in ENDED

    def ask_to_stop(self) -> None:
        """Stops it as Ctrl-C does: finished parts are kept."""
        self.requests.ask()

    @abstractmethod
    def work(self) -> None:
        """Does the task and reports its state; an exception becomes the job's error."""


class JobProgress(Progress):
    """Progress of a job as its page shows it."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._last: tuple[float, int] = (-1.0, -1)

    def update(self, fraction: float, finished: int, seeds: int) -> None:
        """Reports progress if it changes visibly."""
        now = (round(fraction, 3), finished)
        if now != self._last:
            self._last = now
            self._job.report(fraction=now[0], finished=finished)


class Jobs:
    """All jobs of the page, worked on one after another."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Job] = OrderedDict()
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    def add(self, job: Job) -> None:
        """Adds a job. Raises `ValueError` if too many wait."""
        with self._lock:
            if self._is_closed or len(self._waiting) >= MOST_WAITING:
                raise ValueError(f"{len(self._waiting)} runs wait already; wait for one of them, or stop it")
            self._known[job.id] = job
            self._waiting.append(job)
            self._forget()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="lasthop-jobs", daemon=True)
                self._thread.start()

    def get(self, name: str) -> Job:
        """A job by its id. Raises `LookupError`."""
        with self._lock:
            if name not in self._known:
                raise LookupError(f"{name}: is not a run of this page, or ended long ago")
            return self._known[name]

    def all(self) -> list[dict[str, Any]]:
        """Returns the states of all jobs, the latest first."""
        with self._lock:
            known = list(self._known.values())
        return [job.state() for job in reversed(known)]

    def stop(self, job: Job) -> None:
        """Stops a job; a waiting one never begins."""
        with self._lock:
            waits = job in self._waiting
            if waits:
                self._waiting.remove(job)
        if waits:
            job.report(state="stopped", error="it was stopped before it began")
        else:
            job.ask_to_stop()

    def close(self) -> None:
        """Stops all, and waits until the running one has saved its finished parts."""
        with self._lock:
            self._is_closed = True
            waiting, running, thread = list(self._waiting), self._running, self._thread
            self._waiting.clear()
        for job in waiting:
            job.report(state="stopped", error="the page was closed before it began")
        if running is not None:
            running.ask_to_stop()
        if thread is not None:
            thread.join(LAST_WAIT_S)

    def _forget(self) -> None:
        ended = [name for name, job in self._known.items() if job.has_ended]
        for name in ended[: max(0, len(self._known) - REMEMBERED)]:
            del self._known[name]

    def _next(self) -> Job | None:
        with self._lock:
            self._running = self._waiting.popleft() if self._waiting else None
            if self._running is None:
                self._thread = None
            return self._running

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job.report(state="running")
            try:
                job.work()
            except Exception as error:  # noqa: BLE001 - any error must reach the page, and the next job must begin
                job.report(state="failed", error=str(error) or type(error).__name__)
            if not job.has_ended:
                job.report(state="failed", error="it ended without a result")
