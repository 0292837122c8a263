"""Emulated runs of one scenario: a process for each seed; results arrive as from the engine's threads."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ... import _core
from ...data.temporary import TemporaryFolder
from ...study.scenario import Scenario, setting_of
from ...study.simulation import Kept
from .error import EmulationError
from .job import GuestJob
from .machines import Place, Running

WORKER = Path(__file__).with_name("worker.py")


class Emulations:
    """Seeds that are emulated, with the interface of the engine's `Campaign`."""

    def __init__(
        self,
        scenario: Scenario,
        duration_s: float,
        seeds: Sequence[int],
        place: Place,
        kept: Kept,
        *,
        jobs: int = 1,
        ends_with: str | None = None,
    ) -> None:
        self._scenario = scenario
        self._duration_s = duration_s
        self._waiting = list(seeds)
        self._place = place
        self._kept = kept
        self._at_once = max(1, min(jobs, place.at_once))
        self._folder = TemporaryFolder("lasthop-emulate")
        self._directory = self._folder.path
        self._ends_with = ends_with
        self._running: dict[int, Running] = {}
        self._began: dict[int, float] = {}
        self._of = len(seeds)
        self._ended = 0
        self._cancelled = False

    def progress(self) -> float:
        """Returns the finished fraction over all seeds, 0 to 1."""
        times = (self._job(seed).virtual_time_s() or 0.0 for seed in self._running)
        under_way = sum(min(time / self._duration_s, 1.0) for time in times)
        return (self._ended + under_way) / self._of

    def cancel(self) -> None:
        """Ends what runs; seeds that are finished stay."""
        self._cancelled = True
        self._waiting.clear()
        for running in self._running.values():
            running.end()

    def is_done(self) -> bool:
        """Whether all runs have ended. Starts those that may start."""
        while self._waiting and len(self._running) < self._at_once:
            self._start(self._waiting.pop(0))
        return not self._running

    def take_finished(self) -> list[_core.RunOutcome]:
        """Returns the seeds finished since the last call."""
        return list(self._finished())

    def outputs(self, seed: int) -> list[Path]:
        """The output files of a run's programs: `FLOW.client.out`, `FLOW.client.err`, and those of servers."""
        folder = self._job(seed).directory
        return sorted(file for file in folder.glob("*.*.*") if file.suffix in (".out", ".err"))

    def close(self) -> None:
        """Removes what emulators have written; they must have ended."""
        self._folder.remove()

    def _finished(self) -> Iterator[_core.RunOutcome]:
        for seed, running in list(self._running.items()):
            folder = self._job(seed).directory
            try:
                status = running.poll()
            except EmulationError as error:
                running.end()
                (folder / "error").write_text(str(error), encoding="utf-8")
                status = 1
            if status is None:
                continue
            del self._running[seed]
            if self._cancelled:
                continue
            self._ended += 1
            # A guest switches itself off although its emulator has died.
            if not any((folder / name).exists() for name in ("error", "run.json")):
                words = running.last_words()
                sentence = f"seed {seed}: the emulator has ended with status {status} and without a result"
                (folder / "error").write_text(f"{sentence}\n{words}" if words else sentence, encoding="utf-8")
            yield _core.RunOutcome.read(seed, folder, time.monotonic() - self._began[seed])

    def _job(self, seed: int) -> GuestJob:
        folder = self._directory / f"seed-{seed}"
        file = folder / "job.json"
        return GuestJob((sys.executable, "-I", "-S", "-B", str(WORKER), str(file)), folder)

    def _start(self, seed: int) -> None:
        job = self._job(seed)
        job.directory.mkdir()
        # Elsewhere the current directory is another.
        code = [(setting_of(path), str(Path(file).resolve())) for _, path, _, file in self._scenario.resolve().code()]
        order = {
            "engine": _core.__file__,
            "parent": os.getpid(),
            "directory": str(job.directory),
            "text": self._scenario.text,
            "file_name": str(Path(self._scenario.file_name).resolve()),
            "settings": [*self._scenario.settings, *((path, json.dumps(file)) for path, file in code)],
            "code": bool(code),
            "seed": seed,
            "ends_with": self._ends_with,
            **self._place.told(),
            **self._kept.told(),
        }
        (job.directory / "job.json").write_text(json.dumps(order), encoding="utf-8")
        self._began[seed] = time.monotonic()
        self._running[seed] = self._place.start(job, seed)
