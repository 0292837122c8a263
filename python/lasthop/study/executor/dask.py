"""Workers of a Dask cluster: for who outgrows one machine, on SLURM, Kubernetes or SSH by Dask's own deployments.

A worker runs a chunk of runs at a time for each of its threads. If it dies, the scheduler gives its chunks to others.
"""

from __future__ import annotations

import errno
import logging
import pickle
import queue
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Self

from ...data.extras import lacks
from ...data.runs import Run
from ..store import Form, Job, engine_identity
from . import ExecutorError, Outcome, Task, with_command
from .chunk import CHUNK_S, Done, Pace, Payload, name_of, outcomes_of, pack, run_chunk

CONNECT_S = 10.0
# Interval of queries for the scheduler's number of threads, and the silence after which it is given up.
ASK_S = 2.0
SILENCE_S = 10.0
TRANSFER_S = 60.0
# Number of chunks per thread with the scheduler: the running one, and those that follow it.
CHUNKS_AHEAD = 3
LEAST_AHEAD = 2


class Dask:
    """Runs tasks on the cluster whose scheduler is at `address`, such as `tcp://10.0.0.1:8786`.

    Raises `ExecutorError` if no scheduler answers, or if a worker's lasthop is not this one; `OSError` if the
    scheduler goes away.
    """

    def __init__(self, address: str, *, connect_s: float = CONNECT_S) -> None:
        self._address = address
        self._connect_s = connect_s
        self._run = _remote()
        self._take: Callable[[Run], Any] | None = None
        self._form: Form = "documents"
        self._pace = Pace()
        # Runs that wait for a chunk, and chunks by their futures.
        self._gathered: deque[Task] = deque()
        self._in_flight: dict[Any, list[Task]] = {}
        # Chunks that brought down a worker: their runs are sent alone.
        self._alone: deque[Task] = deque()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads, self._asked_at = 0, -ASK_S
        self._heard_at = time.monotonic()

    def __enter__(self) -> Self:
        # distributed's log of lost connections repeats the error that is raised.
        self._logger = logging.getLogger("distributed")
        self._level = self._logger.level
        self._logger.setLevel(logging.CRITICAL + 1)
        try:
            self._client = self._connected()
            self._check_workers()
        except BaseException:
            self._logger.setLevel(self._level)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()
        self._client.close(timeout=2)
        self._logger.setLevel(self._level)

    def select(self, take: Callable[[Run], Any] | None, form: Form) -> None:
        """Workers send back what `take` selects of each run, and short runs in this form."""
        self._take, self._form = take, form

    def room(self) -> int:
        """Enough that no worker waits, and that a cluster which grows by demand sees some."""
        if time.monotonic() > self._asked_at + ASK_S and self._client.status == "running":
            self._threads, self._asked_at = sum(self._client.nthreads().values()), time.monotonic()
        ahead = CHUNKS_AHEAD * CHUNK_S / (self._pace.lately_s or CHUNK_S)
        waiting = len(self._gathered) + len(self._alone) + sum(map(len, self._in_flight.values()))
        return max(64, 4 * self._threads, int(ahead * self._threads)) - waiting

    def submit(self, task: Task) -> None:
        """Takes a task, which goes with others as `finished` is called."""
        self._gathered.append(task)

    def finished(self, wait_s: float) -> list[Outcome]:
        """Outcomes since the last call; waits for the first."""
        self._send()
        futures = []
        try:
            futures.append(self._done.get(timeout=wait_s))
            while True:
                futures.append(self._done.get_nowait())
        except queue.Empty:
            pass
        self._check_scheduler()
        return [outcome for future in futures if future in self._in_flight for outcome in self._outcomes(future)]

    def _send(self) -> None:
        """Sends whole chunks; at the end, when no more tasks follow, all of them, in pieces that end together."""
        if self._client.status != "running":
            return
        while self._alone:
            self._start([self._alone.popleft()])
        is_end = self.room() > 0
        longest_s = CHUNK_S
        if is_end:
            longest_s = min(CHUNK_S, self._pace.work_s(self._gathered) / (LEAST_AHEAD * max(1, self._threads)))
        while self._gathered:
            is_short = len(self._in_flight) < max(1, LEAST_AHEAD * self._threads)
            chunk = self._pace.cut(self._gathered, longest_s, whole=not (is_end or is_short))
            if not chunk:
                break
            self._start(chunk)

    def _start(self, tasks: list[Task]) -> None:
        # As bytes, since Dask would look for its own objects in each tuple, and a worker without lasthop could not read a class of it.
        payload = pickle.dumps(pack(tasks, self._take, self._form))
        name = name_of(tasks, self._take, self._form)
        future = self._client.submit(self._run, payload, engine_identity(), key=name, pure=False)
        self._await(future, tasks)

    def fraction(self) -> float:
        """The progress of a run is unknown before its end."""
        return 0.0

    def cancel(self) -> None:
        """Asks the scheduler to forget unfinished tasks."""
        if self._in_flight and self._client.status == "running":
            self._client.cancel(list(self._in_flight), force=True)
        self._in_flight.clear()
        self._gathered.clear()
        self._alone.clear()

    def _connected(self) -> Any:
        if reason := lacks("cluster"):
            raise ExecutorError(f"running on Dask {reason}")
        import distributed

        try:
            # A client with an invalid address hangs for 20 s when it is dropped, and shows a traceback.
            if self._address.partition("://")[0] in ("tcp", "tls", self._address):
                distributed.comm.get_address_host_port(self._address)  # type: ignore[attr-defined]  # not listed there
            return distributed.Client(self._address, timeout=self._connect_s, set_as_default=False)  # type: ignore[no-untyped-call]  # its own
        except (OSError, TimeoutError):
            raise ExecutorError(
                f"{self._address}: no Dask scheduler answers there; is it running, and the port open?"
            ) from None
        except (ValueError, ImportError) as error:
            raise ExecutorError(f"{self._address}: is not an address of a Dask scheduler: {error}") from None

    def _check_workers(self) -> None:
        for worker, engine in self._client.run(_engine_there()).items():
            _check_engine(worker, engine)

    def _check_scheduler(self) -> None:
        if self._client.status == "running":
            self._heard_at = time.monotonic()
        elif self._client.status in ("closing", "closed") or time.monotonic() > self._heard_at + SILENCE_S:
            raise OSError(errno.ECONNRESET, "the Dask scheduler has gone; finished runs are kept", self._address)

    def _outcomes(self, future: Any) -> list[Outcome]:
        tasks = self._in_flight.pop(future)
        if future.status == "pending":
            # The worker that held the outcomes has gone, and the scheduler runs the chunk again.
            self._await(future, tasks)
            return []
        try:
            worker, engine, answer = future.result(timeout=TRANSFER_S)
        except Exception as error:  # noqa: BLE001  whatever the cluster did to it
            return self._without_result(tasks, future, error)
        _check_engine(worker, engine)
        done: Done = pickle.loads(answer)
        return self._taken(tasks, done)

    def _without_result(self, tasks: list[Task], future: Any, error: Exception) -> list[Outcome]:
        if future.status in ("pending", "cancelled", "lost") or isinstance(error, TimeoutError):
            self._gathered.extendleft(reversed(tasks))
            return []
        if len(tasks) > 1:  # one of them may be to blame, and is found by itself
            self._alone.extend(tasks)
            return []
        (task,) = tasks
        return [Outcome(task.key, error=_sentence(error, task.job), is_lost=True)]

    def _taken(self, tasks: list[Task], done: Done) -> list[Outcome]:
        """Takes the outcome of a chunk; runs that were not begun go with the next one."""
        self._pace.learn(tasks, done.seconds)
        self._gathered.extendleft(reversed(tasks[len(done.seconds) :]))
        return outcomes_of(tasks, done)

    def _await(self, future: Any, tasks: list[Task]) -> None:
        self._in_flight[future] = tasks
        future.add_done_callback(self._done.put)


def _sentence(error: Exception, job: Job) -> str:
    what = f"the worker failed with {type(error).__name__}: {error}"
    if type(error).__name__ == "KilledWorker":
        what = "every worker that was given it died, perhaps for want of memory"
    return with_command(what, job)


def _check_engine(worker: str, engine: str | None) -> None:
    if engine is None:
        raise ExecutorError(
            f"{worker}: this worker has no lasthop; install it there as it is here ({engine_identity()})"
        )
    if engine != engine_identity():
        raise ExecutorError(
            f"{worker}: this worker has lasthop {engine}, and here it is {engine_identity()}; install one build on both"
        )


# The two functions sent to a worker are defined inside others: such functions are sent whole, so that a worker without
# lasthop, or with another version, can still report it.


def _engine_there() -> Callable[[], str | None]:
    def engine() -> str | None:
        try:
            from lasthop.study.store import engine_identity
        except ImportError:
            return None
        return engine_identity()

    return engine


def _remote() -> Callable[..., tuple[str, str | None, Any]]:
    def run(payload: bytes, wanted: str) -> tuple[str, str | None, Any]:
        from distributed import get_worker

        address = get_worker().address
        try:
            from lasthop.study.executor.dask import run_payload
            from lasthop.study.store import engine_identity
        except ImportError:
            return address, None, None
        engine = engine_identity()
        return address, engine, run_payload(payload) if engine == wanted else None

    return run


def run_payload(payload: bytes) -> bytes:
    """Runs on a worker; both are pickled."""
    chunk: Payload = pickle.loads(payload)
    return pickle.dumps(run_chunk(chunk))
