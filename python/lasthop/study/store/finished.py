"""Runs on their way between a campaign and a store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ..._core import SeriesBlock
from ...data.runs import Run
from .identity import Identity, Job

if TYPE_CHECKING:
    import numpy

#: Time series of a run.
Blocks = list[SeriesBlock]


class Finished(NamedTuple):
    """A run to be stored: its tables, or the reason of its failure."""

    key: str
    job: Job
    identity: Identity
    run: Run | None = None
    series: Blocks | None = None
    error: str | None = None


class Held(NamedTuple):
    """The contents of a store for some runs, by key."""

    runs: dict[str, frozenset[str]]
    """the metrics whose time series are kept, for each run that is there"""
    failures: dict[str, str]

    def answers(self, key: str, series: Iterable[str]) -> bool:
        """Whether the store has this run with these series."""
        return key in self.failures or (key in self.runs and self.runs[key].issuperset(series))


def whole(run: Run) -> Run:
    """All of a run."""
    return run


def arrays_of(block: SeriesBlock) -> dict[str, numpy.ndarray]:
    """The values of one metric by entity."""
    import numpy

    values = numpy.frombuffer(block.values).reshape(block.times, len(block.entities))
    return {entity: values[:, place] for place, entity in enumerate(block.entities)}
