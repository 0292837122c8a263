"""Runs a seed again for data that was not kept: a run depends on its scenario and seed alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..data.recording import NewRecordings, Request, put_into
from ..data.result import Result
from ..study.simulation import Runs
from ..views.explain.rerun import check_alike, check_simulated, scenario_of
from .jobs import Job, JobProgress

# The tables of a run that the page uses.
TABLES = ("air", "tcp", "queue", "backoff", "waits", "rate")
STOPPED = "it was stopped"


class Rerun(Job):
    """A seed of a result that runs again. Raises `ScenarioError` if the result may not."""

    def __init__(self, result: Result, seed: int) -> None:
        super().__init__(f"{result.name}, seed {seed}", 1, "seeds")
        self.result = result
        self.seed = seed
        self.resolved = scenario_of(result).resolve()

    @property
    def progress(self) -> float:
        """The finished share of it, from 0 to 1."""
        return float(self.state()["fraction"])

    @property
    def error(self) -> str | None:
        """The reason for a missing result; None while there is none."""
        error: str | None = self.state()["error"]
        return error

    @property
    def run(self) -> dict[str, Any]:
        """The run of the seed in the result."""
        return next(run for run in self.result.runs if run["seed"] == self.seed)


class Recorder(Rerun):
    """A seed that runs again with a recording, which ends up in `place`."""

    def __init__(self, result: Result, seed: int, place: Path) -> None:
        super().__init__(result, seed)
        self._place = place

    def work(self) -> None:
        """Runs it. Raises `ScenarioError` if it gives other numbers than before."""
        check_simulated(self.result)
        with NewRecordings() as new:
            result = self._recorded(new)
            if result.failures:
                self.report(state="failed", error=result.failures[0]["error"])
            elif result.interrupted:
                self.report(state="stopped", error=STOPPED)
            else:
                check_alike(self.result, result.seeds, result.runs)
                put_into(self._place, new)
                self.report(state="done")
        new.discard()

    def _recorded(self, new: NewRecordings) -> Result:
        progress = JobProgress(self)
        recording = (new.directory, Request(TABLES))
        runs = Runs(scenario_of(self.result), 1, None, recording=recording, resolved=self.resolved)
        runs.extend([self.seed], self.requests, lambda fraction, finished: progress.update(fraction, finished, 1))
        return runs.result
