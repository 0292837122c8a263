"""Workers of a Dask cluster: for who outgrows one machine, on SLURM, Kubernetes or SSH by Dask's own deployments.

A worker runs one run at a time for each of its threads. If it dies, the scheduler gives its runs to others.
"""

from __future__ import annotations

import errno
import logging
import queue
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..scenario import Scenario, toml_value
from ..store import Job, engine_identity
from . import ExecutorError, Outcome, Task, repeating_command, with_command

CONNECT_S = 10.0
# The scheduler is asked this often how many threads there are, and given up after so long a silence.
ASK_S = 2.0
SILENCE_S = 10.0
TRANSFER_S = 60.0


class Dask:
    """Runs tasks on the cluster whose scheduler is at `address`, such as `tcp://10.0.0.1:8786`.

    Raises `ExecutorError` where none answers, and where a worker's lasthop is not this one; `OSError` where the
    scheduler goes away.
    """

    def __init__(self, address: str, *, connect_s: float = CONNECT_S) -> None:
        self._address = address
        self._connect_s = connect_s
        self._in_flight: dict[Any, Task] = {}
        self._homeless: list[Task] = []
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads, self._asked_at = 0, -ASK_S
        self._heard_at = time.monotonic()

    def __enter__(self) -> Dask:
        # What distributed logs of lost connections stands in the error that is raised.
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

    def room(self) -> int:
        """Enough that no worker waits, and that a cluster which grows by demand sees some."""
        if time.monotonic() > self._asked_at + ASK_S and self._client.status == "running":
            self._threads, self._asked_at = sum(self._client.nthreads().values()), time.monotonic()
        return max(64, 4 * self._threads) - len(self._in_flight)

    def submit(self, task: Task) -> None:
        """Takes a task."""
        scenario, seed, series = task.job
        payload = (scenario.text, scenario.file_name, scenario.settings, seed, series, task.identity.files)
        future = self._client.submit(_remote(), payload, engine_identity(), key=f"lasthop-{task.key}", pure=False)
        self._await(future, task)

    def finished(self, wait_s: float) -> list[Outcome]:
        """Outcomes since the last call; waits for the first."""
        futures = []
        try:
            futures.append(self._done.get(timeout=wait_s))
            while True:
                futures.append(self._done.get_nowait())
        except queue.Empty:
            pass
        self._check_scheduler()
        while self._homeless and self._client.status == "running":
            self.submit(self._homeless.pop())
        outcomes = [self._outcome(future) for future in futures if future in self._in_flight]
        return [outcome for outcome in outcomes if outcome is not None]

    def fraction(self) -> float:
        """Nothing is known of a run before it is done."""
        return 0.0

    def cancel(self) -> None:
        """Asks the scheduler to forget what it has not finished."""
        if self._in_flight and self._client.status == "running":
            self._client.cancel(list(self._in_flight), force=True)
        self._in_flight.clear()

    def _connected(self) -> Any:
        try:
            import distributed
        except ImportError:
            raise ExecutorError("running on Dask needs the package distributed: pip install 'lasthop[dask]'") from None
        try:
            # A client that is given what is no address hangs for 20 s when it is dropped, and shows a traceback.
            if self._address.partition("://")[0] in ("tcp", "tls", self._address):
                distributed.comm.get_address_host_port(self._address)
            return distributed.Client(self._address, timeout=self._connect_s, set_as_default=False)
        except (OSError, TimeoutError):
            raise ExecutorError(
                f"{self._address}: no Dask scheduler answers there; is it running, and the port open?"
            ) from None
        except (ValueError, ImportError) as error:
            raise ExecutorError(f"{self._address}: is no address of a Dask scheduler: {error}") from None

    def _check_workers(self) -> None:
        for worker, engine in self._client.run(_engine_there()).items():
            _check_engine(worker, engine)

    def _check_scheduler(self) -> None:
        if self._client.status == "running":
            self._heard_at = time.monotonic()
        elif self._client.status in ("closing", "closed") or time.monotonic() > self._heard_at + SILENCE_S:
            raise OSError(errno.ECONNRESET, "the Dask scheduler has gone; what was finished is kept", self._address)

    def _outcome(self, future: Any) -> Outcome | None:
        task = self._in_flight.pop(future)
        if future.status == "pending":
            # The worker that held the outcome has gone, and the scheduler has the run run again.
            self._await(future, task)
            return None
        try:
            worker, engine, done = future.result(timeout=TRANSFER_S)
        except Exception as error:  # noqa: BLE001  whatever the cluster did to it
            if future.status in ("pending", "cancelled", "lost") or isinstance(error, TimeoutError):
                self._homeless.append(task)
                return None
            return Outcome(task.key, error=_sentence(error, task.job), is_lost=True)
        _check_engine(worker, engine)
        document, series, error = done
        return Outcome(task.key, document, series, error and with_command(error, task.job))

    def _await(self, future: Any, task: Task) -> None:
        self._in_flight[future] = task
        future.add_done_callback(self._done.put)


def _sentence(error: Exception, job: Job) -> str:
    what = f"the worker failed with {type(error).__name__}: {error}"
    if type(error).__name__ == "KilledWorker":
        what = "every worker that was given it died, perhaps for want of memory"
    return f"{what}; `{repeating_command(job.scenario, job.seed)}` repeats it"


def _check_engine(worker: str, engine: str | None) -> None:
    if engine is None:
        raise ExecutorError(
            f"{worker}: this worker has no lasthop; install it there as it is here ({engine_identity()})"
        )
    if engine != engine_identity():
        raise ExecutorError(
            f"{worker}: this worker has lasthop {engine}, and here it is {engine_identity()}; install one build on both"
        )


# The two functions that a worker is sent are made inside others: such functions travel whole, so that a worker without
# lasthop, or with another, can still say so.


def _engine_there() -> Callable[[], str | None]:
    def engine() -> str | None:
        try:
            from lasthop.store import engine_identity
        except ImportError:
            return None
        return engine_identity()

    return engine


def _remote() -> Callable[..., tuple[str, str | None, Any]]:
    def run(payload: Any, wanted: str) -> tuple[str, str | None, Any]:
        from distributed import get_worker

        address = get_worker().address
        try:
            from lasthop.executor.dask import run_payload
            from lasthop.store import engine_identity
        except ImportError:
            return address, None, None
        engine = engine_identity()
        return address, engine, run_payload(*payload) if engine == wanted else None

    return run


def run_payload(
    text: str,
    file_name: str,
    settings: tuple[tuple[str, str], ...],
    seed: int,
    series: tuple[str, ...],
    files: dict[str, bytes],
) -> Any:
    """What a worker runs: document, time series and error of one seed. The scenario's files travel with it."""
    scenario = Scenario(text, file_name, settings)
    with tempfile.TemporaryDirectory(prefix="lasthop-") as folder:
        for number, (path, content) in enumerate(files.items()):
            file = Path(folder) / str(number)
            file.write_bytes(content)
            scenario = scenario.set(path, toml_value(str(file)))
        resolved = scenario.resolve()
    return run_once(resolved, Job(scenario, seed, series))
