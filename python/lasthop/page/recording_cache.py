"""Recordings by run and seed: those in results, and new ones of seeds that were not recorded."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import OrderedDict
from pathlib import Path

from ..data.recording import Recordings
from ..data.result import Result
from ..data.temporary import TemporaryFolder
from ..views.explain.rerun import goodputs
from .desk import Desk
from .explaining import Slices
from .jobs import Jobs
from .library import Unknown, digest_of
from .recording_view import RecordingView, recording_in, recording_of_result
from .rerun import Recorder

# Number of recordings kept in memory; one of a minute of a busy network has some 300 MB.
MOST_OPEN = 3
# A run's key, its seed, and its digest.
Key = tuple[str, int, str]


class Missing(LookupError):
    """A seed has no recording."""


class RecordingCache:
    """Recordings by run and seed: those in results, and those made here."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._opened: OrderedDict[Key, RecordingView] = OrderedDict()
        # The digest of a result's run, by its key and the time of its file: another file may replace it.
        self._versions: dict[tuple[str, int, float], str] = {}
        # Separate from the users' runs, so that looking need not wait for these.
        self._again = Jobs()
        self._lock = threading.Lock()
        self._made = TemporaryFolder("lasthop-page")
        self._recorders: dict[Key, Recorder] = {}
        self._slices: dict[Key, Slices] = {}
        desk.at_end.append(self._end)
        desk.expect = self._expect

    def opened(self, run: str, seed: int) -> RecordingView:
        """The recording of a seed. Raises `LookupError` if it has none, and for a seed that was not run."""
        result, key = self._result_of(run, seed)
        with self._lock:
            if key in self._opened:
                self._opened.move_to_end(key)
                return self._opened[key]
            opened = self._opened[key] = RecordingView.of(result, seed, self._recordings(key, result), run)
            while len(self._opened) > MOST_OPEN:
                self._opened.popitem(last=False)[1].forget()
        return opened

    def _result_of(self, run: str, seed: int) -> tuple[Result, Key]:
        """A result, and the key that identifies this seed of it. Raises `Unknown`."""
        result, entry = self._desk.library.result(run), self._desk.library.entry(run)
        if seed not in result.seeds:
            raise Unknown(f"seed {seed}: was not run; the result has {', '.join(map(str, result.seeds[:20]))}")
        written = (run, seed, entry.modified_s)
        if written not in self._versions:
            run_of_seed = next(one for one in result.runs if one["seed"] == seed)
            self._versions[written] = digest_of(json.dumps([result.scenario, goodputs(run_of_seed)]).encode())
        return result, (run, seed, self._versions[written])

    def _expect(self, run: str) -> None:
        threading.Thread(target=self._prepare, args=(run,), daemon=True).start()

    def _prepare(self, run: str) -> None:
        """Reads the data for the first look at a run; a later request reports its errors."""
        with contextlib.suppress(LookupError, ValueError, OSError):
            opened = self.opened(run, self._desk.library.result(run).seeds[0])
            for node in range(len(opened.recorded.nodes)):
                opened.air.sums(node)

    def _recordings(self, key: Key, result: Result) -> Recordings:
        recordings = recording_of_result(result, key[1]) or recording_in(self._place(key), key[1])
        if recordings is None:
            raise Missing(f"seed {key[1]}: was not recorded")
        return recordings

    def _place(self, key: Key) -> Path:
        return self._made.path / "-".join(map(str, key))

    def record(self, run: str, seed: int) -> Recorder:
        """Begins to run a seed again with a recording, unless that is in progress."""
        result, key = self._result_of(run, seed)
        with self._lock:
            recorder = self._recorders.get(key)
            if recorder is None or recorder.error is not None:
                recorder = self._recorders[key] = Recorder(result, seed, self._place(key))
                self._again.add(recorder)
            return recorder

    def recorder(self, run: str, seed: int) -> Recorder | None:
        """The job that records a seed, if requested."""
        return self._recorders.get(self._result_of(run, seed)[1])

    def slices(self, run: str, seed: int) -> Slices:
        """The account of a seed over time; the first call begins to compute it."""
        result, key = self._result_of(run, seed)
        with self._lock:
            if key not in self._slices:
                self._slices[key] = Slices(result, seed)
                self._again.add(self._slices[key])
            return self._slices[key]

    def _end(self) -> None:
        self._again.close()
        self._made.remove()
