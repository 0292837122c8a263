"""Runs a scenario from the page.

`POST /api/runs`: begins or queues it. `GET /api/jobs`, `/api/jobs/ID`, `/api/jobs/ID/events` (server-sent events): its
progress. `DELETE /api/jobs/ID`: stops it; finished seeds are kept.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from .. import _core
from ..data.quantities import TOTALS
from ..data.recording import Request as Recorded
from ..data.result import Result, ResultDirectory
from ..study.scenario import Scenario
from ..study.simulation import Runs, core_count, seed_list
from .bodies import json_body, text_of
from .checking import scenario_in
from .desk import Desk
from .editing import folder_of
from .jobs import Job, JobProgress
from .library import Library, key_of
from .rerun import TABLES

if TYPE_CHECKING:
    from ..study.simulation import AnyOutcome

# With more seeds only the first is recorded: one recording takes as much room as all other numbers of fifty.
RECORDED = 5
MOST_SEEDS = 1000
LOOK_S = 0.1
# A line now and then, to notice a lost connection.
ALIVE_S = 15.0
UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def routes(desk: Desk) -> list[Route]:
    """Returns the routes of this part of the page."""
    jobs = desk.jobs

    async def begin(request: Request) -> JSONResponse:
        body = await json_body(request)
        job = await run_in_threadpool(_job_of, body, desk.library)
        jobs.add(job)
        return JSONResponse(job.state(), 201)

    async def all_jobs(_request: Request) -> JSONResponse:
        return JSONResponse({"jobs": jobs.all()})

    async def one(request: Request) -> JSONResponse:
        return JSONResponse(jobs.get(request.path_params["job"]).state())

    async def stop(request: Request) -> JSONResponse:
        job = jobs.get(request.path_params["job"])
        jobs.stop(job)
        return JSONResponse(job.state())

    async def events(request: Request) -> StreamingResponse:
        job = jobs.get(request.path_params["job"])
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(_events(job, desk.is_ending), media_type="text/event-stream", headers=headers)

    return [
        Route("/api/runs", begin, methods=["POST"]),
        Route("/api/jobs", all_jobs),
        Route("/api/jobs/{job}", one, methods=["GET"]),
        Route("/api/jobs/{job}", stop, methods=["DELETE"]),
        Route("/api/jobs/{job}/events", events),
    ]


async def _events(job: Job, is_ending: Callable[[], bool]) -> AsyncIterator[str]:
    """Yields the state of a job at each change, until the job or the server ends."""
    version, silent_s = -1, 0.0
    while not is_ending():
        state = job.state()
        if state["version"] != version:
            version, silent_s = state["version"], 0.0
            yield f"data: {json.dumps(state)}\n\n"
            if job.has_ended:
                return
        elif silent_s >= ALIVE_S:
            silent_s = 0.0
            yield ": still there\n\n"
        await anyio.sleep(LOOK_S)
        silent_s += LOOK_S


def _job_of(body: dict[str, Any], library: Library) -> SimulationJob:
    """The job of a request, checked. Raises `ScenarioError` and `ValueError`."""
    text, folder = text_of(body, "text"), folder_of(body, library)
    scenario = scenario_in(text, folder, library)
    resolved = scenario.resolve()
    resolved.check_simulable()  # the page does not emulate
    seeds = _seeds_of(body.get("seeds", 1))
    name = text_of(body, "name", "") or json.loads(resolved.to_json()).get("name") or "run"
    return SimulationJob(name, scenario, resolved, seeds, library, records=body.get("record", True) is True)


def _seeds_of(wanted: Any) -> list[int]:
    """Seeds 1 to N, or a list of seeds. Raises `ValueError`."""
    whole = wanted if isinstance(wanted, list) else [wanted]
    if not whole or any(isinstance(seed, bool) or not isinstance(seed, int) for seed in whole):
        raise ValueError("seeds: a whole number, or a list of them, is needed")
    if len(whole) > MOST_SEEDS or (not isinstance(wanted, list) and not 1 <= wanted <= MOST_SEEDS):
        raise ValueError(f"seeds: from 1 to {MOST_SEEDS}; for more use `lasthop run` or `lasthop sweep`")
    return seed_list(wanted)


class SimulationJob(Job):
    """Runs a scenario for some seeds, and saves them as `lasthop run --explain --record … --out` does."""

    def __init__(
        self,
        name: str,
        scenario: Scenario,
        resolved: _core.ResolvedScenario,
        seeds: list[int],
        library: Library,
        *,
        records: bool,
    ) -> None:
        super().__init__(name, len(seeds), "seeds")
        self._scenario = scenario
        self._resolved = resolved
        self._seeds = seeds
        self._library = library
        self._records = records

    def work(self) -> None:
        """Runs the seeds, and saves the finished ones."""
        place = new_directory(self._library.directory(), self.name)
        is_saved = False
        try:
            with ResultDirectory(place) as directory:
                result = self._run(directory)
                if result.told_runs:
                    directory.commit(result)
                    is_saved = True
        finally:
            if not is_saved:
                shutil.rmtree(place, ignore_errors=True)
        self._tell_end(result, place if is_saved else None)

    def _run(self, directory: ResultDirectory) -> Result:
        """Runs the seeds: all recorded at once if they are few, else the first recorded and then the rest."""
        parts = [self._seeds] if len(self._seeds) <= RECORDED else [self._seeds[:1], self._seeds[1:]]
        recorded = Recorded(TABLES) if self._records else None
        progress = JobProgress(self)
        runs: Runs | None = None
        done = 0
        for part in parts:
            recording = (directory.new_recordings().directory, recorded) if recorded and runs is None else None
            new = self._runs(directory, recording, runs)
            before, share = done / len(self._seeds), len(part) / len(self._seeds)

            def show(
                fraction: float, finished: int, before: float = before, share: float = share, done: int = done
            ) -> None:
                progress.update(before + share * fraction, done + finished, len(self._seeds))

            runs = new
            new.extend(part, self.requests, show)
            done += len(part)
            if self.requests.count:
                break
        assert runs is not None, "there is at least one part"
        result = runs.judged()
        result.interrupted = self.requests.count > 0 and len(result.told_runs) + len(result.failures) < len(self._seeds)
        return result

    def _runs(self, directory: ResultDirectory, recording: tuple[Path, Recorded] | None, before: Runs | None) -> Runs:
        """Returns the object that runs further seeds into the result of the earlier ones."""

        def keep_series(seed: int, blocks: Iterable[_core.SeriesBlock]) -> None:
            directory.add_series(seed, blocks)

        runs = _Watched(
            self._scenario,
            core_count(),
            1.0,
            account=True,
            recording=recording,
            on_series=keep_series,
            resolved=self._resolved,
        )
        runs.job = self
        if before is not None:
            runs.result = before.result
        return runs

    def tell_headline(self, result: Result) -> None:
        """Reports the mean goodput of the finished seeds."""
        goodputs = [run["totals"][TOTALS.goodput_bps] for run in result.told_runs]
        estimate = result.estimate(goodputs)
        self.report(headline=estimate and {"metric": TOTALS.goodput_bps.label, "unit": "bit/s", **estimate._asdict()})

    def _tell_end(self, result: Result, place: Path | None) -> None:
        if place is None:
            why = result.failures[0]["error"] if result.failures else "it was stopped before a seed was finished"
            self.report(state="failed" if result.failures else "stopped", error=why)
            return
        error = result.failures[0]["error"] if result.failures else None
        count = len(result.told_runs)
        state = "stopped" if result.interrupted else "done"
        if self._library.is_temporary(place):
            error = (
                f"{error}; " if error else ""
            ) + "no directory of the page is writable: this run is deleted when the page closes"
        self.report(state=state, key=key_of(place), error=error, finished=count, warnings=result.warnings)


class _Watched(Runs):
    """Runs that report each seed to a job."""

    job: SimulationJob

    def deliver(self, outcome: AnyOutcome) -> None:
        """Takes a finished seed, and reports the headline."""
        super().deliver(outcome)
        self.job.tell_headline(self.result)


def new_directory(folder: Path, name: str) -> Path:
    """Makes a new directory: the name with the next free number."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = UNFIT.sub("-", name).strip("-.")[:60] or "run"
    number = 1
    while True:
        place = folder / f"{stem}-{number}"
        try:
            place.mkdir()
        except FileExistsError:
            number += 1
            continue
        return place
