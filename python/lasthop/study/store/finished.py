"""Runs on their way between a campaign and a store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from .identity import Identity, Job

if TYPE_CHECKING:
    import pyarrow


class Finished(NamedTuple):
    """A run to be stored: its document, or the reason of its failure."""

    key: str
    job: Job
    identity: Identity
    document: str | None = None
    series: pyarrow.Table | None = None
    error: str | None = None


class Held(NamedTuple):
    """The contents of a store for some runs, by key."""

    runs: dict[str, frozenset[str]]
    """the metrics whose time series are kept, for each run that is there"""
    failures: dict[str, str]

    def answers(self, key: str, series: Iterable[str]) -> bool:
        """Whether the store has this run with these series."""
        return key in self.failures or (key in self.runs and self.runs[key].issuperset(series))


def whole(document: dict[str, Any]) -> dict[str, Any]:
    """All of a run's document."""
    return document
