"""A run as a report shows it: its recording, made again if there is none, its window and its flows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

from ..data.recording import Recordings
from ..data.result import Result
from ..study.progress import Progress
from .explaining import Slices
from .jobs import Job, Jobs
from .recording_view import Opened, recorded_beside, recorded_in
from .report import Side, chosen_flows, window_of
from .rerun import Recorder

POLL_S = 0.1


def side_of(
    result: Result,
    seed: int,
    stack: ExitStack,
    progress: Progress,
    *,
    window_s: tuple[float | None, float | None] = (None, None),
    flows: Iterable[str] = (),
    tell: Callable[[str], None] = lambda _: None,
) -> Side:
    """The run of `seed`; what is recorded for it is there as long as `stack`.

    `window_s`: from when on each frame is told, and for how long. Raises `ValueError` for a window with nothing in it,
    `LookupError` for flows that there are not, `RuntimeError` where the run cannot be made again.
    """
    recordings = recorded_beside(result, seed) or _recorded(result, seed, stack, progress)
    opened = Opened.of(result, seed, recordings)
    window = window_of(opened, *window_s)
    chosen = chosen_flows(opened, list(flows))
    slices = Slices(result, seed)
    _finish(slices, progress)
    if slices.error:
        tell(f"{result.source or result.name}: the account of its time is left out: {slices.error}")
    return Side(opened, window, chosen, slices)


def _recorded(result: Result, seed: int, stack: ExitStack, progress: Progress) -> Recordings:
    """The recording of a seed that has none: it is run again."""
    place = Path(stack.enter_context(TemporaryDirectory(prefix="lasthop-report-")))
    recorder = Recorder(result, seed, place)
    _finish(recorder, progress)
    recordings = recorded_in(place, seed)
    if recordings is None:
        raise RuntimeError(f"seed {seed}: {recorder.error}")
    return recordings


def _finish(job: Job, progress: Progress) -> None:
    """Does a job, and shows how far it is."""
    with closing(Jobs()) as jobs:
        jobs.add(job)
        while not job.has_ended:
            progress.update(job.told()["fraction"], 0, 1)
            time.sleep(POLL_S)
