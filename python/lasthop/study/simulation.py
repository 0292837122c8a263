"""Runs a scenario with several seeds: starts the engine's threads, watches them, and keeps the finished runs."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from .. import _core
from ..data import arguments as given
from ..data.metric import check_keys, check_names
from ..data.queue_report import loss_warnings
from ..data.recording import NewRecordings, Request, check_span
from ..data.recording import chosen as tables_of
from ..data.result import Result
from ..data.runs import metric_names
from .code.processes import Order, Processes, needs_processes
from .new_result import new_result
from .pcap import NewCaptures, requested
from .progress import Progress, progress_here
from .scenario import Scenario, scenario_or_file
from .sequential import GOODPUT, MOST, Until
from .warmup import warmup_warning

if TYPE_CHECKING:
    from .unfinished import Outcome, Unfinished

    AnyOutcome = _core.RunOutcome | Outcome

POLL_S = 0.02
MAX_SEED = 2**63 - 1
# A longer list is taken for a mistake.
MOST_SEEDS = 10_000_000


class Kept(NamedTuple):
    """The data of each run that is kept in addition to its summary."""

    interval_s: float | None = None
    account: bool = False
    #: a directory, and the choice of recorded data
    recording: tuple[Path, Request] | None = None
    #: a directory, and bytes of each frame
    captures: tuple[Path, int] | None = None

    def told(self) -> dict[str, Any]:
        """The same, as the job of a process has it."""
        recording = None
        if self.recording is not None:
            directory, (tables, from_s, length_s) = self.recording
            recording = {
                "directory": str(directory.resolve()),
                "tables": tables,
                "from_s": from_s,
                "length_s": length_s,
            }
        captures = None if self.captures is None else [str(self.captures[0].resolve()), self.captures[1]]
        return {"interval_s": self.interval_s, "account": self.account, "recording": recording, "captures": captures}


class Campaign(Protocol):
    """Seeds that run until they are done or cancelled."""

    def progress(self) -> float:
        """Returns the finished fraction over all seeds, 0 to 1."""

    def cancel(self) -> None:
        """Asks all seeds to stop; finished ones are kept."""

    def is_done(self) -> bool:
        """Returns whether all have stopped."""

    def take_finished(self) -> list[_core.RunOutcome]:
        """Returns the seeds finished since the last call."""


#: Starts seeds, this many at a time.
Starter = Callable[[list[int], int, Kept], Campaign]


class Interrupted(KeyboardInterrupt):
    """Raised on Ctrl-C; `result` holds the finished runs: a `Result`, or the table of a sweep."""

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted; finished runs are in .result")
        self.result = result


class RunFailed(RuntimeError):
    """Raised if a run stopped because of an error; `result` holds the other runs: a `Result`, or a sweep's table."""

    def __init__(self, result: Any, sentences: Iterable[str] = ()) -> None:
        super().__init__("; ".join(sentences or (failure["error"] for failure in result.failures)))
        self.result = result


def run(
    scenario: Scenario | str | os.PathLike[str],
    seeds: int | Iterable[int] | None = None,
    *,
    until: float | None = None,
    metrics: Sequence[str] = (GOODPUT,),
    jobs: int | None = None,
    interval_s: float | None = 1.0,
    explain: bool = False,
    record: str | Iterable[str] | None = None,
    record_from_s: float = 0.0,
    record_for_s: float | None = None,
    pcap: str | os.PathLike[str] | None = None,
    pcap_snap: int | None = None,
    progress: bool | None = None,
) -> Result:
    """Runs `scenario`, or the file of that name, once for each seed, in parallel, and returns the results.

    `seeds`: their number N (seeds 1 to N), or a list; 5 by default. `until`: seeds are added until the 95 % interval of
    each of `metrics` (names or globs) is within this share of its mean, e.g. 0.02; `seeds` is then the largest number, 200
    by default, and `.until` of the result describes the outcome. `jobs`: number of threads, by default one per core.
    `interval_s`: simulated seconds between rows of the time series; None keeps none.
    `explain`: keeps the account of time that `Result.explain` reads.
    `record`: tables or groups of tables for `Result.recording`, such as "air,tcp" or ["ppdu"], from `record_from_s` on, in
    simulated seconds, for `record_for_s` or to the end. They are in a temporary directory until `Result.save`.
    `pcap`: a directory for captures of the air, of each node and of the servers, for Wireshark; with several seeds, one
    folder each. `pcap_snap`: bytes kept of each frame, 128 by default, enough for all headers; 0 keeps all.
    `progress`: whether to show it; by default in a terminal or a notebook. Raises `ValueError` for an impossible argument
    (for an unknown metric after the first run), `ScenarioError`, `RunFailed` and, on Ctrl-C, `Interrupted`; the latter two
    hold the finished runs.
    """
    jobs = job_count(jobs)
    check_interval(interval_s)
    scenario = scenario_or_file(scenario)
    metrics = given.names("metrics", metrics, "the name of a metric")
    if until is None and metrics != (GOODPUT,):
        raise ValueError(
            "metrics: have no effect without until, which judges them; .summary of the result has every metric"
        )
    check_keys(metrics)
    request = _request(scenario, record, record_from_s, record_for_s)
    captures = requested(pcap, pcap_snap)
    show = progress_here() if progress is None else progress
    chosen = seed_list((5 if until is None else MOST) if seeds is None else seeds)
    rule = None if until is None else Until(until, metrics, len(chosen))
    kept: dict[str, Any] = {"keep_series": True, "account": explain, "until": rule}
    with ExitStack() as stack:
        held = stack.enter_context(HeldInterrupt())
        bar = stack.enter_context(Progress.here() if show else Progress.silent())
        new = stack.enter_context(NewCaptures(captures)) if captures else None
        kept |= {"captures": new and new.asked, "held": held}
        result = _simulate_recorded(request, scenario, chosen, jobs or core_count(), interval_s, bar, **kept)
        if new is not None:
            new.commit(result.seeds, several=len(chosen) > 1)
    if result.interrupted or held.count:
        raise Interrupted(result)
    if result.failures:
        raise RunFailed(result)
    return result


def _request(
    scenario: Scenario, record: str | Iterable[str] | None, from_s: float, length_s: float | None
) -> Request | None:
    """Returns the request for recordings, checked."""
    if record is None:
        if from_s or length_s is not None:
            raise ValueError(
                "record_from_s, record_for_s: have no effect without record, which names the tables to record"
            )
        return None
    run_s = scenario.resolve().duration_s()
    from_s = given.seconds("record_from_s", from_s)
    length_s = None if length_s is None else given.seconds("record_for_s", length_s)
    record = given.names(
        "record", record.split(",") if isinstance(record, str) else record, "the name of a table or group of tables"
    )
    tables = tables_of(record)
    check_span(from_s, length_s, run_s)
    return Request(tables, from_s, length_s)


def _simulate_recorded(request: Request | None, *what: Any, **kept: Any) -> Result:
    """As `simulate`; recordings go into a temporary directory, which the result keeps."""
    if request is None:
        return simulate(*what, **kept)
    with NewRecordings() as recordings:
        result = simulate(*what, recording=(recordings.directory, request), **kept)
    result.keep_recordings(recordings)
    return result


def check_interval(interval_s: float | None) -> None:
    """Raises `ValueError` unless `interval_s` is a valid interval of time series, or None."""
    if interval_s is not None and not 1e-9 <= given.seconds("interval_s", interval_s) < math.inf:
        raise ValueError(
            f"interval_s: {interval_s} is not a length of time; a number of seconds, or None for no time series"
        )


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
    account: bool = False,
    recording: tuple[Path, Request] | None = None,
    captures: tuple[Path, int] | None = None,
    on_series: Callable[[int, Iterable[_core.SeriesBlock]], None] | None = None,
    until: Until | None = None,
    metrics: Sequence[str] = (),
    resolved: _core.ResolvedScenario | None = None,
    start: Starter | None = None,
    warnings: list[str] | None = None,
    held: HeldInterrupt | None = None,
    unfinished: Unfinished | None = None,
) -> Result:
    """Runs `seeds`, or as many of them as `until` needs, and adds warnings to the result.

    `on_series` receives the time series in the order of the seeds, whichever finishes first. `metrics`: names or globs that
    the first run must have, like those of `until`; else `UnknownMetric` is raised. `captures`: a directory for them, and
    the bytes of each frame. `resolved`: the resolved `scenario`, if known. `recording`: a directory for the requested
    recordings. `start`: a function that runs seeds in place of the engine's threads. `warnings`: those of the scenario, if
    they differ from a simulation's. `held`: holds Ctrl-C back from the last run on. `unfinished`: keeps each seed as it
    finishes; its seeds are not run again.
    """
    runs = Runs(
        scenario,
        jobs,
        interval_s,
        keep_series=keep_series,
        account=account,
        recording=recording,
        captures=captures,
        on_series=on_series,
        metrics=[*metrics, *(until.metrics if until else ())],
        resolved=resolved,
        start=start,
        warnings=warnings,
        unfinished=unfinished,
    )
    with InterruptRequests(held) as requests:
        if until is None:
            runs.extend(seeds, requests, lambda fraction, done: progress.update(fraction, done, len(seeds)))
        else:
            _add_until(until, seeds, runs, requests, progress)
    runs.result.was_told_to_stop = requests.count > 0
    return runs.judged()


def _add_until(until: Until, seeds: list[int], runs: Runs, requests: InterruptRequests, progress: Progress) -> None:
    done, standing = 0, until.standing([], {})
    while standing.state == "more":
        new = seeds[done : standing.seeds]
        progress.say(standing.words())
        runs.extend(new, requests, _shown(progress, standing.expected, done, len(new)))
        if requests.count:
            break
        done = standing.seeds
        standing = until.standing(seeds[:done], runs.result.metrics)
    runs.result.until = standing.to_dict(until.target, len(runs.result.told_runs))


def _shown(progress: Progress, expected: int, done: int, new: int) -> Callable[[float, int], None]:
    """How `new` seeds go after `done`, of those expected in the end."""
    return lambda fraction, finished: progress.update((done + fraction * new) / expected, done + finished, expected)


class Runs:
    """The runs of one scenario, to which seeds are added; `result` holds them in that order, `resolved` is the scenario."""

    def __init__(
        self,
        scenario: Scenario,
        jobs: int,
        interval_s: float | None,
        *,
        keep_series: bool = False,
        account: bool = False,
        recording: tuple[Path, Request] | None = None,
        captures: tuple[Path, int] | None = None,
        on_series: Callable[[int, Iterable[_core.SeriesBlock]], None] | None = None,
        metrics: Sequence[str] = (),
        resolved: _core.ResolvedScenario | None = None,
        start: Starter | None = None,
        warnings: list[str] | None = None,
        unfinished: Unfinished | None = None,
    ) -> None:
        self.resolved = resolved or scenario.resolve()
        self._scenario = scenario
        self._jobs = jobs
        self._keep_series = keep_series
        self._kept = Kept(interval_s, account, recording, captures)
        self._start = start
        # Called before files of code are read: it reports settings that exclude each other.
        self._needs_processes = needs_processes(self.resolved)
        self._on_series = on_series
        self._metrics = metrics
        self._unfinished = unfinished
        self.result = new_result(self.resolved, scenario, warnings)

    def extend(self, seeds: list[int], requests: InterruptRequests, show: Callable[[float, int], None]) -> None:
        """Runs `seeds`, fewer on Ctrl-C. `show` is called with the finished fraction and the number of finished seeds."""
        kept = self._unfinished
        found = kept.seeds.intersection(seeds) if kept else set()
        waiting: dict[int, AnyOutcome] = {}
        order = deque(seeds)

        def deliver_in_order() -> None:
            while order and (order[0] in waiting or order[0] in found):
                seed = order.popleft()
                self.deliver(waiting.pop(seed) if kept is None or seed in waiting else kept.take(seed))

        new = [seed for seed in seeds if seed not in found]
        finished = ended = len(found)
        deliver_in_order()
        # No method of its own is kept: it would keep the result until a collection of garbage.
        campaign = (self._start or self._usual_start())(new, self._jobs, self._kept) if new else None
        while campaign is not None:
            if requests.count:
                campaign.cancel()
            # Checked before taking: no outcome can come between the two and be left behind.
            done = campaign.is_done()
            outcomes = campaign.take_finished()
            for outcome in kept.add(outcomes) if kept and outcomes else outcomes:
                waiting[outcome.seed] = outcome
                finished += outcome.run is not None
                ended += 1
            deliver_in_order()
            show((len(found) + campaign.progress() * len(new)) / len(seeds), finished)
            if done or requests.count > 1:
                break
            time.sleep(POLL_S)
        if campaign is None:
            show(1.0, finished)
        for seed in order:
            if seed in waiting:
                self.deliver(waiting.pop(seed))
            elif kept is not None and seed in found:
                self.deliver(kept.take(seed))
        self.result.interrupted = requests.count > 0 and ended < len(seeds)

    def _usual_start(self) -> Starter:
        start = self._in_processes if self._needs_processes else self._on_threads
        self.resolved.load_code()
        return start

    def _in_processes(self, seeds: list[int], jobs: int, kept: Kept) -> Processes:
        duration_s, code = self.resolved.duration_s(), self.resolved.code_contents()
        return Processes([Order(self._scenario, duration_s, seed, kept, code) for seed in seeds], min(jobs, len(seeds)))

    def _on_threads(self, seeds: list[int], threads: int, kept: Kept) -> _core.Campaign:
        recording = None if kept.recording is None else kept.recording[1].into(kept.recording[0])
        return _core.Campaign(self.resolved, seeds, threads, kept.interval_s, kept.account, recording, kept.captures)

    def judged(self) -> Result:
        """Returns the result, with the warnings that need all runs together."""
        warning = warmup_warning(self.result.scenario, self.result.told_runs)
        self.result.warn([warning] if warning else [])
        self.result.warn(loss_warnings(self.result.told_runs))
        return self.result

    def deliver(self, outcome: AnyOutcome) -> None:
        series = outcome.take_series()
        if self._metrics and outcome.run and not self.result.told_runs:
            check_names(self._metrics, metric_names(outcome.run))
        if outcome.run is None and self._start is None:
            self.result.failures.append(
                {"seed": outcome.seed, "error": self._scenario.with_command(outcome.error or "", outcome.seed)}
            )
            return
        self.result.add(outcome, series if self._keep_series else [])
        if self._on_series is not None and series:
            self._on_series(outcome.seed, series if self._keep_series else _drained(series))


class HeldInterrupt:
    """Holds the first Ctrl-C after the runs back, until they are written; `count` has how many came.

    A second one interrupts. Before the runs, Ctrl-C interrupts as always, and so it does while it is `let`.
    """

    def __init__(self) -> None:
        self.count = 0
        self._lets = False
        self._previous: Any = None

    def __enter__(self) -> Self:
        self._previous = signal.getsignal(signal.SIGINT)
        return self

    def __exit__(self, *_: object) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._previous)

    def on_signal(self, _number: int, _frame: FrameType | None) -> None:
        """The handler of the time in which runs are written."""
        self.count += 1
        if self._lets or self.count > 1:
            raise KeyboardInterrupt

    @contextmanager
    def let(self) -> Iterator[None]:
        """Lets Ctrl-C interrupt, one that was held included: for work without which the runs are still whole."""
        self._lets = True
        try:
            if self.count:
                raise KeyboardInterrupt
            yield
        finally:
            self._lets = False


class InterruptRequests:
    """Counts Ctrl-C instead of letting it interrupt two steps that belong together. `then` holds it back afterwards."""

    def __init__(self, then: HeldInterrupt | None = None) -> None:
        self.count = 0
        self._previous: Any = None
        self._then = then

    def ask(self) -> None:
        """Asks to stop as Ctrl-C does, from any thread."""
        self.count += 1

    def __enter__(self) -> Self:
        # Only the main thread can be interrupted, and only it may set a handler.
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if self._previous is not None:
            next_one = self._previous if self._then is None or failure else self._then.on_signal
            signal.signal(signal.SIGINT, next_one)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1


def seed_list(seeds: int | Iterable[int]) -> list[int]:
    """Returns `seeds` as a list: 1 to N for a number, else the given seeds, each once; raises `TypeError`, `ValueError`."""
    if given.is_whole(seeds):
        if seeds < 1:
            raise ValueError("seeds: at least one is needed")
        if seeds > MOST_SEEDS:
            raise ValueError(
                f"seeds: {seeds} are too many; at most {MOST_SEEDS}, or a list of the seeds themselves: [{seeds}]"
            )
        return list(range(1, given.whole("seeds", seeds, "how many") + 1))
    if isinstance(seeds, str | bytes) or not isinstance(seeds, Iterable):
        raise TypeError(f"seeds: how many is needed, a whole number, or a list of them, not {given.shown(seeds)}")
    chosen = [given.whole("seeds", seed, "each seed") for seed in seeds]
    if not chosen:
        raise ValueError("seeds: at least one is needed")
    if min(chosen) < 0 or max(chosen) > MAX_SEED:
        raise ValueError(f"seeds: each is a whole number from 0 to {MAX_SEED}")
    if len(set(chosen)) < len(chosen):
        raise ValueError("seeds: each may be given once; the same seed gives the same run")
    return chosen


def job_count(jobs: int | None) -> int | None:
    """Returns the number of threads asked for; raises `TypeError`, `ValueError`."""
    if jobs is None:
        return None
    if (jobs := given.whole("jobs", jobs, "how many threads")) < 1:
        raise ValueError(f"jobs: {jobs} threads cannot run a seed; give at least 1, or None for one per core")
    return jobs


def core_count() -> int:
    """Returns the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
