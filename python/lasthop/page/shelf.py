"""Recordings by run and seed: those beside results, and those of seeds that are run again because they were not recorded."""

from __future__ import annotations

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
from .library import Unknown
from .opened import Opened, recorded_beside
from .scenario_text import run_again

if TYPE_CHECKING:
    from .app import Desk
    from .explaining import Slices

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
        self._opened: OrderedDict[tuple[str, int, float], Opened] = OrderedDict()
        self._lock = threading.Lock()
        self._made = TemporaryDirectory(prefix="lasthop-page-")
        self._making: dict[tuple[str, int], Making] = {}
        self._slices: dict[tuple[str, int], Slices] = {}
        desk.at_end.append(self._end)

    def opened(self, run: str, seed: int) -> Opened:
        """The recording of a seed. Raises `LookupError` where there is none, and for a seed that was not run."""
        result, entry = self._desk.library.result(run), self._desk.library.entry(run)
        key = (run, seed, entry.modified_s)
        with self._lock:
            if key in self._opened:
                self._opened.move_to_end(key)
                return self._opened[key]
        opened = Opened.of(result, seed, self._recordings(run, seed, result), run)
        with self._lock:
            self._opened[key] = opened
            while len(self._opened) > KEPT:
                self._opened.popitem(last=False)
        return opened

    def _recordings(self, run: str, seed: int, result: Result) -> Recordings:
        if seed not in result.seeds:
            raise Unknown(f"seed {seed}: was not run; there are {', '.join(map(str, result.seeds))}")
        beside = recorded_beside(result, seed)
        if beside is not None:
            return beside
        made = Recordings(self._place(run))
        if (seed, "ppdu") in made.tables():
            return made
        raise Missing(f"seed {seed}: was not recorded")

    def _place(self, run: str) -> Path:
        return Path(self._made.name) / run

    def record(self, run: str, seed: int) -> Making:
        """Begins to run a seed again with a recording, unless that is under way."""
        result = self._desk.library.result(run)
        with self._lock:
            making = self._making.get((run, seed))
            if making is None or making.error is not None:
                making = self._making[run, seed] = Making(result, seed, self._place(run), run_again(self._desk.library, result))
            return making

    def making(self, run: str, seed: int) -> Making | None:
        """The recording that is being made of a seed, if one is."""
        return self._making.get((run, seed))

    def slices(self, run: str, seed: int) -> Slices:
        """The account of a seed over time, which begins to be made at the first call."""
        from .explaining import Slices

        result = self._desk.library.result(run)
        if seed not in result.seeds:
            raise Unknown(f"seed {seed}: was not run; there are {', '.join(map(str, result.seeds))}")
        with self._lock:
            if (run, seed) not in self._slices:
                self._slices[run, seed] = Slices(result, seed, run_again(self._desk.library, result))
            return self._slices[run, seed]

    def _end(self) -> None:
        for slices in self._slices.values():
            slices.close()
        for making in self._making.values():
            making.close()
        self._made.cleanup()


class Making:
    """A seed that is run again with a recording, on a thread of its own."""

    def __init__(
        self, result: Result, seed: int, place: Path, resolved: _core.ResolvedScenario | None = None
    ) -> None:
        from ..explain.rerun import scenario_of

        self.error: str | None = None
        self.done = False
        self._wanted = next(run for run in result.runs if run["seed"] == seed)["totals"]
        self._place = place
        self._seed = seed
        self._new = NewRecordings()
        recording = Wanted(TABLES).into(self._new.directory)
        self._campaign = _core.Campaign(resolved or scenario_of(result).resolve(), [seed], 1, None, False, recording)
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    @property
    def progress(self) -> float:
        """How much of it is done, from 0 to 1."""
        return 1.0 if self.done else self._campaign.progress()

    def close(self) -> None:
        """Gives up what is not done."""
        self._campaign.cancel()
        self._thread.join(10)
        self._new.discard()

    def _wait(self) -> None:
        while not self._campaign.is_done():
            time.sleep(POLL_S)
        outcomes = self._campaign.take_finished()
        if not outcomes or outcomes[0].run is None:
            self.error = (outcomes and outcomes[0].error) or "it was stopped"
        elif outcomes[0].run["totals"] != self._wanted:
            self.error = f"lasthop {_core.__version__} gives other numbers than the version that made this result; run it anew"
        else:
            self._place.mkdir(parents=True, exist_ok=True)
            (self._new.directory / f"seed-{self._seed}").rename(self._place / f"seed-{self._seed}")
            self.done = True
        self._new.discard()
