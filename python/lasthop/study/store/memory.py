"""A store in memory, without DuckDB, for a sweep whose runs are not kept.

There are no time series and no questions in SQL; `Store.in_memory` has those.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .finished import Finished, Held, whole
from .identity import Identified, Job

# A document of 20 kB shrinks to a sixth with this, in a fraction of a millisecond.
COMPRESSION = 1


class Memory(Identified):
    """The runs of one campaign, for as long as this object lasts."""

    path = None
    waiting = 0
    """The writer is the object itself: runs never wait to be written."""

    def __init__(self) -> None:
        super().__init__()
        self._documents: dict[str, bytes] = {}
        self._failures: dict[str, str] = {}

    def held(self, keys: Sequence[str]) -> Held:
        """Returns which of these runs are there."""
        runs = {key: frozenset[str]() for key in keys if key in self._documents}
        return Held(runs, {key: self._failures[key] for key in keys if key in self._failures})

    def each(self, jobs: Iterable[Job], take: Callable[[dict[str, Any]], Any] = whole) -> Iterator[Any]:
        """The document of each run, or the part that `take` selects; None for a missing run."""
        for job in jobs:
            document = self._documents.get(self.key(job))
            yield None if document is None else take(json.loads(zlib.decompress(document)))

    @contextmanager
    def writer(self, _give_up: Callable[[], bool] = lambda: False) -> Iterator[Memory]:
        """Takes runs as they come in."""
        yield self

    def add(self, run: Finished) -> None:
        """Takes a run that has ended."""
        if run.document is None:
            self._failures[run.key] = run.error or ""
        else:
            self._documents[run.key] = zlib.compress(run.document.encode(), COMPRESSION)

    def write(self, *, now: bool = False) -> None:
        """No run waits."""
