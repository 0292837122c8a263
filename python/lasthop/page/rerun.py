"""Seeds that are run again, for what was not kept of them: a run depends on its scenario and seed alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import _core
from ..data.recording import NewRecordings, Request, put_into
from ..data.result import Result
from ..study.simulation import Runs
from ..views.explain.rerun import check_alike, check_simulated, scenario_of
from .jobs import Job, JobProgress

# The tables of a run that the page uses.
TABLES = ("air", "tcp", "queue", "backoff", "waits", "rate")
STOPPED = "it was stopped"


class Again(Job):
    """A seed of a result that is run again; `resolved` is its scenario, where that is known."""

    def __init__(self, result: Result, seed: int, resolved: _core.ResolvedScenario | None = None) -> None:
        super().__init__(f"{result.name}, seed {seed}", 1, "seeds")
        self.result = result
        self.seed = seed
        self.resolved = resolved or scenario_of(result).resolve()

    @property
    def progress(self) -> float:
        """How much of it is done, from 0 to 1."""
        return self.told()["fraction"]

    @property
    def error(self) -> str | None:
        """Why there is nothing, once that is known."""
        return self.told()["error"]

    @property
    def run(self) -> dict[str, Any]:
        """The run of the seed, as the result has it."""
        return next(run for run in self.result.runs if run["seed"] == self.seed)


class Recorder(Again):
    """A seed that is run again with a recording, which comes to lie in `place`."""

    def __init__(self, result: Result, seed: int, place: Path, resolved: _core.ResolvedScenario | None = None) -> None:
        super().__init__(result, seed, resolved)
        self._place = place

    def work(self) -> None:
        """Runs it. Raises `ScenarioError` where it gives other numbers than before."""
        check_simulated(self.result)
        with NewRecordings() as new:
            result = self._recorded(new)
            if result.failures:
                self.tell(state="failed", error=result.failures[0]["error"])
            elif result.interrupted:
                self.tell(state="stopped", error=STOPPED)
            else:
                check_alike(self.result, result.seeds, result.runs)
                put_into(self._place, new)
                self.tell(state="done")
        new.discard()

    def _recorded(self, new: NewRecordings) -> Result:
        progress = JobProgress(self)
        recording = (new.directory, Request(TABLES))
        runs = Runs(scenario_of(self.result), 1, None, recording=recording, resolved=self.resolved)
        runs.extend([self.seed], self.requests, lambda fraction, finished: progress.update(fraction, finished, 1))
        return runs.result
