"""A run of a report: its recording, made again if it is missing, its window and its flows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing

from ..data.recording import Recordings
from ..data.result import Result
from ..data.temporary import TemporaryFolder
from ..study.progress import Progress
from .explaining import Slices
from .jobs import Job, Jobs
from .recording_view import RecordingView, recording_in, recording_of_result
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
    """The run of `seed`; its recording exists as long as `stack`.

    `window_s` is the start and the length of the window with every single frame. Raises `ValueError` for an empty
    window, `LookupError` for unknown flows, `RuntimeError` if the run cannot be made again.
    """
    recordings = recording_of_result(result, seed) or _recorded(result, seed, stack, progress)
    opened = RecordingView.of(result, seed, recordings)
    window = window_of(opened, *window_s)
    chosen = chosen_flows(opened, list(flows))
    slices = Slices(result, seed)
    _finish(slices, progress)
    if slices.error:
        tell(f"{result.source or result.name}: the account of its time is left out: {slices.error}")
    return Side(opened, window, chosen, slices)


def _recorded(result: Result, seed: int, stack: ExitStack, progress: Progress) -> Recordings:
    """The recording of a seed without one: the seed runs again."""
    place = stack.enter_context(TemporaryFolder("lasthop-report")).path
    recorder = Recorder(result, seed, place)
    _finish(recorder, progress)
    recordings = recording_in(place, seed)
    if recordings is None:
        raise RuntimeError(f"seed {seed}: {recorder.error}")
    return recordings


def _finish(job: Job, progress: Progress) -> None:
    """Runs a job, and shows its progress."""
    with closing(Jobs()) as jobs:
        jobs.add(job)
        while not job.has_ended:
            progress.update(job.state()["fraction"], 0, 1)
            time.sleep(POLL_S)
