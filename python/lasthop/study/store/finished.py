"""Runs on their way between a campaign and a store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..._core import SeriesBlock
from ...data.foreign_text import parsed_json
from ...data.runs import Run
from .identity import Identity, Job

if TYPE_CHECKING:
    import numpy

#: Time series of a run.
Blocks = list[SeriesBlock]
#: The form in which a store takes many short runs: each as its document, all in one shard, or not at all.
Form = Literal["documents", "shards", "nothing"]


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


def packed(head: Mapping[str, Any], run: bytes, series: Iterable[SeriesBlock]) -> bytes:
    """A finished run as bytes: a line of JSON, the run, and the values of its time series."""
    parts = [block.__reduce__()[1] for block in series]
    line = {**head, "run": len(run), "series": [[words, len(values)] for words, values in parts]}
    return b"".join([json.dumps(line).encode(), b"\n", run, *(values for _, values in parts)])


def head_of(record: bytes) -> dict[str, Any]:
    """The line of JSON of `packed`."""
    head: dict[str, Any] = parsed_json("a run that was kept", record[: record.index(b"\n")].decode())
    return head


def unpacked(record: bytes) -> tuple[dict[str, Any], bytes, Blocks]:
    """Undoes `packed`: the line of JSON, the run, and its time series."""
    head, at = head_of(record), record.index(b"\n") + 1
    run = record[at : at + head["run"]]
    at += head["run"]
    series = []
    for words, length in head["series"]:
        series.append(SeriesBlock.of_parts(words, record[at : at + length]))
        at += length
    return head, run, series
