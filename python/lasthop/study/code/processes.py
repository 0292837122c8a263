"""Runs whose code is in Python, each in a process of its own: interpreters do not wait for one another, and no run sees what
another has left in a module.

Each process reads its run from `job.json`, executes it by `worker.py` and writes the outcome to the same folder.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
import time
import weakref
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import _core
from ...data.diagnostic import refused
from ...data.origin import ADDRESS
from ...data.temporary import TemporaryFolder
from ...data.terminal import printable
from .watching import patience_s

if TYPE_CHECKING:
    from ..scenario import Scenario
    from ..simulation import Kept

WORKER = Path(__file__).with_name("worker.py")
POLL_S = 0.01
# Interval between checks for code of a run that does not return.
LOOK_S = 0.5
# The same name as in `worker.py`.
STUCK = "stuck"


def needs_processes(resolved: _core.ResolvedScenario) -> bool:
    """Whether a scenario brings code that an interpreter runs. Raises `ScenarioError` if it also names an address, as another
    process has no library there, or if the environment sets the time for a call wrongly."""
    code = resolved.code()
    needed = any(language in ("python", "onnx") for language, *_ in code)
    for _, path, name, _ in code:
        if needed and name.startswith(ADDRESS):
            raise refused(
                f"{name} is in this process, and runs with code in Python have their own",
                "name a file",
                kind="code",
                key=path,
            )
    if needed:
        patience_s()
    return needed


class Order(NamedTuple):
    """A requested run: `duration_s` is its length in simulated seconds, `kept` selects its outputs.

    `code` has the content of its files of code, by the places of their keys: all runs of a scenario have the same, whatever
    becomes of the files meanwhile.
    """

    scenario: Scenario
    duration_s: float
    seed: int
    kept: Kept
    code: Sequence[tuple[str, bytes]]


class _Run:
    """A process and the folder that it shares with this one."""

    def __init__(self, order: Order, folder: Path) -> None:
        folder.mkdir()
        self._order = order
        self._is_told = False
        self._folder = folder
        scenario = order.scenario
        job = {
            "path": sys.path,
            "directory": str(folder),
            "text": scenario.text,
            "file_name": scenario.file_name,
            "settings": list(scenario.settings),
            "seed": order.seed,
            # Bytes as the characters of their numbers.
            "code": {path: content.decode("latin-1") for path, content in order.code},
            **order.kept.told(),
        }
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        import subprocess

        command = [sys.executable, "-P", str(WORKER), str(folder / "job.json")]
        # The code's output goes to standard error: standard output may be for the result. The pipe tells the process
        # that this one has gone. Ctrl-C at a terminal reaches this process only.
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=2, start_new_session=True)

    def stuck(self) -> str | None:
        """The place at which its code is stuck; None otherwise."""
        try:
            return (self._folder / STUCK).read_text(encoding="utf-8") or None
        except OSError:
            return None

    def tell_if_stuck(self) -> None:
        """Names once on standard error the function that does not return."""
        if not self._is_told and (where := self.stuck()) is not None:
            self._is_told = True
            print(
                printable(f"lasthop: warning: seed {self._order.seed}: {where}; Ctrl-C ends it"),
                file=sys.stderr,
                flush=True,
            )

    def outcome(self) -> _core.RunOutcome | None:
        """Returns its outcome; None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        self._close()
        if status != 0 and not (self._folder / "error").exists():
            how = f"by {signal.Signals(-status).name}" if -status in set(signal.Signals) else f"with status {status}"
            sentence = (
                f"seed {self._order.seed}: its process, which runs code in Python, was ended {how} and without a result"
            )
            (self._folder / "error").write_text(sentence, encoding="utf-8")
        outcome = _core.RunOutcome.read(self._order.seed, self._folder)
        shutil.rmtree(self._folder, ignore_errors=True)
        return outcome

    @property
    def seed(self) -> int:
        """Which seed it is."""
        return self._order.seed

    def fraction(self) -> float:
        """Fraction done, 0 to 1."""
        try:
            last = (self._folder / "virtual-time").read_text().split()[-1:]
        except OSError:
            return 0.0
        return min(1.0, float(last[0]) / self._order.duration_s) if last else 0.0

    def end(self) -> None:
        """Ends it, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()


class ProcessPool:
    """Runs of any scenarios, `jobs` processes at a time, each with a ticket; what still runs ends with the pool."""

    def __init__(self, jobs: int) -> None:
        self._jobs = max(1, jobs)
        self._waiting: deque[tuple[Any, Order]] = deque()
        self._running: dict[Any, _Run] = {}
        self._folder = TemporaryFolder("lasthop-code")
        self._directory = self._folder.path
        self._begun = 0
        self._looks_at = 0.0
        self._finalizer = weakref.finalize(self, _end_all, self._running, self._folder)

    def submit(self, ticket: Any, order: Order) -> None:
        """Takes a run."""
        self._waiting.append((ticket, order))

    def take_finished(self, longest_s: float = 0.0) -> list[tuple[Any, _core.RunOutcome]]:
        """Tickets and outcomes of runs finished since the last call; waits up to `longest_s` for the first."""
        until = time.monotonic() + longest_s
        while True:
            self._start()
            outcomes = [(ticket, run.outcome()) for ticket, run in self._running.items()]
            if time.monotonic() > self._looks_at:
                self._looks_at = time.monotonic() + LOOK_S
                for run in self._running.values():
                    run.tell_if_stuck()
            finished = [(ticket, outcome) for ticket, outcome in outcomes if outcome is not None]
            for ticket, _ in finished:
                del self._running[ticket]
            if finished or not self._running or time.monotonic() >= until:
                self._start()
                return finished
            time.sleep(POLL_S)

    def is_idle(self) -> bool:
        """Whether no run is in progress or waiting."""
        return not self._running and not self._waiting

    def fraction(self) -> float:
        """How much of the runs under way is done, as a number of runs."""
        return sum(run.fraction() for run in self._running.values())

    def cancel(self) -> None:
        """Forgets what waits, and ends what runs."""
        self._waiting.clear()
        for run in self._running.values():
            if (where := run.stuck()) is not None:
                print(printable(f"lasthop: seed {run.seed} was ended: {where}"), file=sys.stderr, flush=True)
            run.end()
        self._running.clear()

    def close(self) -> None:
        """Ends everything, and removes its files."""
        self._waiting.clear()
        self._finalizer()

    def _start(self) -> None:
        while self._waiting and len(self._running) < self._jobs:
            ticket, order = self._waiting.popleft()
            self._begun += 1
            self._running[ticket] = _Run(order, self._directory / str(self._begun))


def _end_all(running: dict[Any, _Run], folder: TemporaryFolder) -> None:
    for run in running.values():
        run.end()
    running.clear()
    folder.remove()


class Processes:
    """Seeds of one scenario, with the interface of the engine's `Campaign`."""

    def __init__(self, orders: Sequence[Order], jobs: int) -> None:
        self._pool = ProcessPool(jobs)
        self._of = len(orders)
        self._ended = 0
        self._finished: list[_core.RunOutcome] = []
        for order in orders:
            self._pool.submit(order.seed, order)

    def progress(self) -> float:
        """Returns the finished fraction over all seeds, 0 to 1."""
        return (self._ended + self._pool.fraction()) / self._of

    def cancel(self) -> None:
        """Ends what runs; seeds that are finished stay."""
        self._pool.cancel()

    def is_done(self) -> bool:
        """Whether all runs have ended. Starts those that may start."""
        new = [outcome for _, outcome in self._pool.take_finished()]
        self._ended += len(new)
        self._finished.extend(new)
        return self._pool.is_idle()

    def take_finished(self) -> list[_core.RunOutcome]:
        """Returns the seeds finished since the last call."""
        finished, self._finished = self._finished, []
        return finished
