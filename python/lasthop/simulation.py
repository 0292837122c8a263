"""Runs a scenario for several seeds: starts the engine's threads, watches them, and keeps what is finished."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

from . import _core
from .progress import Progress, progress_here
from .result import Result
from .scenario import Scenario

POLL_S = 0.02
MAX_SEED = 2**63 - 1


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; `result` holds what was finished: a `Result`, or the table of a sweep."""

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted; what was finished is in .result")
        self.result = result


class RunFailed(RuntimeError):
    """A run stopped because something in it was wrong; `result` holds those that did not: a `Result`, or a sweep's table."""

    def __init__(self, result: Any, sentences: Iterable[str] = ()) -> None:
        super().__init__("; ".join(sentences or (failure["error"] for failure in result.failures)))
        self.result = result


def run(
    scenario: Scenario,
    seeds: int | Iterable[int] = 5,
    *,
    jobs: int | None = None,
    interval_s: float | None = 1.0,
    progress: bool | None = None,
) -> Result:
    """Runs `scenario` once for each seed, in parallel, and returns the results.

    `seeds`: how many (1 to N), or which. `jobs`: threads, by default one for each core.
    `interval_s`: simulated seconds between rows of the time series; None keeps none.
    `progress`: shown in a terminal or a notebook unless told otherwise.
    Raises `ValueError` for an impossible argument, `ScenarioError`, `RunFailed` and, on Ctrl-C, `Interrupted`; the
    latter two carry what was finished.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: {jobs} threads run nothing; at least 1, or None for one each core")
    if interval_s is not None and not 1e-9 <= interval_s < math.inf:
        raise ValueError(f"interval_s: {interval_s} is no length of time; a number of seconds, or None for no time series")
    show = progress_here() if progress is None else progress
    with Progress.in_terminal() if show else Progress.silent() as bar:
        result = simulate(scenario, seed_list(seeds), jobs or core_count(), interval_s, bar, keep_series=True)
    if result.interrupted:
        raise Interrupted(result)
    if result.failures:
        raise RunFailed(result)
    return result


def _drained(blocks: list[_core.SeriesBlock]) -> Iterator[_core.SeriesBlock]:
    """The blocks one by one, each let go once the next is asked for."""
    while blocks:
        yield blocks.pop(0)


def simulate(
    scenario: Scenario,
    seeds: list[int],
    jobs: int,
    interval_s: float | None,
    progress: Progress,
    *,
    keep_series: bool = False,
    on_series: Callable[[int, Iterable[_core.SeriesBlock]], None] | None = None,
) -> Result:
    """Runs `seeds` and hands their time series to `on_series` in the order of the seeds, whatever finishes first."""
    resolved = scenario.resolve()
    result = Result.empty(resolved, scenario)
    waiting: dict[int, _core.RunOutcome] = {}
    order = list(seeds)
    finished = 0

    def deliver(outcome: _core.RunOutcome) -> None:
        series = outcome.take_series()
        result.add(outcome.seed, outcome.json, outcome.error, series if keep_series else [])
        if on_series is not None and series:
            on_series(outcome.seed, series if keep_series else _drained(series))

    with InterruptRequests() as requests:
        campaign = _core.Campaign(resolved, seeds, min(jobs, len(seeds)), interval_s)
        while True:
            if requests.count:
                campaign.cancel()
            # Asked before taking: nothing can finish between the two and be left behind.
            done = campaign.is_done()
            for outcome in campaign.take_finished():
                waiting[outcome.seed] = outcome
                finished += 1
            while order and order[0] in waiting:
                deliver(waiting.pop(order.pop(0)))
            progress.update(campaign.progress(), finished, len(seeds))
            if done or requests.count > 1:
                break
            time.sleep(POLL_S)
        for seed in order:
            if seed in waiting:
                deliver(waiting.pop(seed))
        result.interrupted = requests.count > 0 and finished < len(seeds)
    return result


class InterruptRequests:
    """Counts Ctrl-C instead of letting it break in between two steps that belong together."""

    def __init__(self) -> None:
        self.count = 0
        self._previous = None

    def __enter__(self) -> InterruptRequests:
        # Only the main thread is ever interrupted, and only it may set a handler.
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1


def seed_list(seeds: int | Iterable[int]) -> list[int]:
    """`seeds` as a list: 1 to N for a number, else those given, each once."""
    chosen = list(range(1, seeds + 1)) if isinstance(seeds, int) else [int(seed) for seed in seeds]
    if not chosen:
        raise ValueError("seeds: at least one is needed")
    if min(chosen) < 0 or max(chosen) > MAX_SEED:
        raise ValueError(f"seeds: each is a whole number from 0 to {MAX_SEED}")
    if len(set(chosen)) < len(chosen):
        raise ValueError("seeds: each may be given once; the same seed gives the same run")
    return chosen


def core_count() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
