"""A store in memory, without DuckDB, for a sweep whose runs are not kept.

There are no questions in SQL; `Store.in_memory` answers those.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...data.runs import Run
from .finished import Blocks, Finished, Form, Held, arrays_of, whole
from .identity import Identified, Job

if TYPE_CHECKING:
    import numpy

# A document of 20 kB shrinks to a sixth with this, in a fraction of a millisecond.
COMPRESSION = 1


class Memory(Identified):
    """The runs of one campaign, for as long as this object lasts."""

    path = None
    waiting = 0
    """The writer is the object itself: runs never wait to be written."""

    def __init__(self, *, forgets: bool = False) -> None:
        """`forgets`: keeps no run, for a caller that takes what it wants as runs come in."""
        super().__init__()
        self._forgets = forgets
        self._documents: dict[str, bytes] = {}
        self._series: dict[str, Blocks] = {}
        self._kept: dict[str, frozenset[str]] = {}
        self._failures: dict[str, str] = {}

    @property
    def takes(self) -> Form:
        """The form in which many short runs may come."""
        return "nothing" if self._forgets else "documents"

    def held(self, keys: Sequence[str]) -> Held:
        """Returns which of these runs are there."""
        runs = {key: self._kept.get(key, frozenset()) for key in keys if key in self._documents}
        return Held(runs, {key: self._failures[key] for key in keys if key in self._failures})

    def each(self, jobs: Iterable[Job], take: Callable[[Run], Any] = whole) -> Iterator[Any]:
        """Each run, or the part that `take` selects; None for a missing run."""
        for job in jobs:
            document = self._documents.get(self.key(job))
            yield None if document is None else take(Run.parse(zlib.decompress(document).decode()))

    def arrays(self, job: Job) -> dict[str, dict[str, numpy.ndarray]] | None:
        """The time series of a run by metric and entity; None unless all that the job names are there."""
        key = self.key(job)
        if not self._kept.get(key, frozenset()).issuperset(job.series):
            return None
        return {block.metric: arrays_of(block) for block in self._series[key] if block.metric in job.series}

    def failure(self, job: Job) -> str | None:
        """The reason for which a run has failed; None if it has not."""
        return self._failures.get(self.key(job))

    @contextmanager
    def writer(self, _give_up: Callable[[], bool] = lambda: False) -> Iterator[Memory]:
        """Takes runs as they come in."""
        yield self

    def add(self, run: Finished) -> None:
        """Takes a run that has ended."""
        if run.run is None:
            self._failures[run.key] = run.error or ""
        elif not self._forgets:
            self._kept[run.key] = frozenset(run.job.series)
            self._series[run.key] = run.series or []
            self._documents[run.key] = zlib.compress(run.run.json().encode(), COMPRESSION)

    def write(self, *, now: bool = False) -> None:
        """No run waits."""
