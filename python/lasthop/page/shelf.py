"""Recordings by run and seed: those beside results, and those of seeds that are run again because they were not recorded."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import OrderedDict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from .. import _core
from ..recording import NewRecordings, Recordings
from ..recording import Request as Wanted
from ..result import Result
from ..runs import document_of
from .library import Unknown, digest_of
from ..explain.rerun import goodputs, scenario_of
from .opened import Opened, recorded_beside
from .scenario_text import run_again

from .explaining import OTHER_NUMBERS, Slices

if TYPE_CHECKING:
    from .app import Desk

# What a seed is run again with.
TABLES = ("air", "tcp", "queue", "backoff", "waits", "rate")
# So many recordings are kept in memory; one of a minute of a busy network has some 300 MB.
KEPT = 3
POLL_S = 0.05


class Missing(LookupError):
    """A seed has no recording."""


class Shelf:
    """Recordings by run and seed: those beside results, and those that were made here."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._opened: OrderedDict[tuple[str, int, str], Opened] = OrderedDict()
        # What a run of a result is, by its key and when its file was written: another may come to lie in the same place.
        self._versions: dict[tuple[str, int, float], str] = {}
        # One seed is run again at a time.
        self._turn = threading.Semaphore()
        self._lock = threading.Lock()
        self._made = TemporaryDirectory(prefix="lasthop-page-")
        self._making: dict[tuple[str, int, str], Making] = {}
        self._slices: dict[tuple[str, int, str], Slices] = {}
        desk.at_end.append(self._end)
        desk.expect = self._expect

    def opened(self, run: str, seed: int) -> Opened:
        """The recording of a seed. Raises `LookupError` where there is none, and for a seed that was not run."""
        result, key = self._found(run, seed)
        with self._lock:
            if key in self._opened:
                self._opened.move_to_end(key)
                return self._opened[key]
            opened = self._opened[key] = Opened.of(result, seed, self._recordings(key, result), run)
            while len(self._opened) > KEPT:
                self._opened.popitem(last=False)[1].forget()
        return opened

    def _found(self, run: str, seed: int) -> tuple[Result, tuple[str, int, str]]:
        """A result, and what tells this seed of it from any other run. Raises `Unknown`."""
        result, entry = self._desk.library.result(run), self._desk.library.entry(run)
        if seed not in result.seeds:
            raise Unknown(f"seed {seed}: was not run; there are {', '.join(map(str, result.seeds[:20]))}")
        written = (run, seed, entry.modified_s)
        if written not in self._versions:
            told = next(told for told in result.runs if told["seed"] == seed)
            self._versions[written] = digest_of(json.dumps([result.scenario, goodputs(told)]).encode())
        return result, (run, seed, self._versions[written])

    def _expect(self, run: str) -> None:
        threading.Thread(target=self._prepare, args=(run,), daemon=True).start()

    def _prepare(self, run: str) -> None:
        """Reads what the first look at a run needs; what is wrong with it is said when it is asked for."""
        with contextlib.suppress(LookupError, ValueError, OSError):
            opened = self.opened(run, self._desk.library.result(run).seeds[0])
            for node in range(len(opened.recorded.nodes)):
                opened.air.sums(node)

    def _recordings(self, key: tuple[str, int, str], result: Result) -> Recordings:
        seed = key[1]
        beside = recorded_beside(result, seed)
        if beside is not None:
            return beside
        made = Recordings(self._place(key))
        if (seed, "ppdu") in made.tables():
            return made
        raise Missing(f"seed {seed}: was not recorded")

    def _place(self, key: tuple[str, int, str]) -> Path:
        return Path(self._made.name) / f"{key[0]}-{key[2]}"

    def record(self, run: str, seed: int) -> Making:
        """Begins to run a seed again with a recording, unless that is under way."""
        result, key = self._found(run, seed)
        with self._lock:
            making = self._making.get(key)
            if making is None or making.error is not None:
                again = run_again(self._desk.library, result)
                making = self._making[key] = Making(result, seed, self._place(key), again, self._turn)
            return making

    def making(self, run: str, seed: int) -> Making | None:
        """The recording that is being made of a seed, if one is."""
        return self._making.get(self._found(run, seed)[1])

    def slices(self, run: str, seed: int) -> Slices:
        """The account of a seed over time, which begins to be made at the first call."""
        result, key = self._found(run, seed)
        with self._lock:
            if key not in self._slices:
                self._slices[key] = Slices(result, seed, run_again(self._desk.library, result), self._turn)
            return self._slices[key]

    def _end(self) -> None:
        under_way = [*self._slices.values(), *self._making.values()]
        for one in under_way:
            one.stop()
        for one in under_way:
            one.close()
        self._made.cleanup()


class Making:
    """A seed that is run again with a recording, on a thread of its own, when its `turn` comes."""

    def __init__(
        self,
        result: Result,
        seed: int,
        place: Path,
        resolved: _core.ResolvedScenario | None = None,
        turn: threading.Semaphore | None = None,
    ) -> None:
        self.error: str | None = None
        self.done = False
        self._wanted = goodputs(next(run for run in result.runs if run["seed"] == seed))
        self._resolved = resolved or scenario_of(result).resolve()
        self._place = place
        self._seed = seed
        self._turn = turn or threading.Semaphore()
        self._stopped = False
        self._campaign: _core.Campaign | None = None
        self._new = NewRecordings()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def progress(self) -> float:
        """How much of it is done, from 0 to 1."""
        return 1.0 if self.done else self._campaign.progress() if self._campaign else 0.0

    def stop(self) -> None:
        """Gives up what is not done."""
        self._stopped = True
        if self._campaign is not None:
            self._campaign.cancel()

    def close(self) -> None:
        """The same, and waits for that."""
        self.stop()
        self._thread.join(10)
        self._new.discard()

    def _run(self) -> None:
        try:
            with self._turn:
                self.error = self._failure()
        except BaseException as error:  # whatever it is, who waits is told
            self.error = f"{type(error).__name__}: {error}"
        self._new.discard()
        self.done = self.error is None

    def _failure(self) -> str | None:
        """Runs the seed and puts its recording into its place, or says why that cannot be."""
        recording = Wanted(TABLES).into(self._new.directory)
        self._campaign = _core.Campaign(self._resolved, [self._seed], 1, None, False, recording)
        while not self._campaign.is_done():
            if self._stopped:
                self._campaign.cancel()
            time.sleep(POLL_S)
        outcomes = self._campaign.take_finished()
        if not outcomes or outcomes[0].run is None:
            return (outcomes and outcomes[0].error) or "it was stopped"
        if goodputs(document_of(outcomes[0].run)) != self._wanted:
            return OTHER_NUMBERS
        self._place.mkdir(parents=True, exist_ok=True)
        (self._new.directory / f"seed-{self._seed}").rename(self._place / f"seed-{self._seed}")
        return None
