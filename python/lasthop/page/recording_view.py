"""A recording that is looked at: who and what there is in it, and its tiles as the browser gets them."""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ..data.quantities import FLOW
from ..data.recording import FOLDER, Recordings
from ..data.result import Result
from .air import Air
from .backoffs import Backoffs
from .curves import curves_of, described, is_exact, tile
from .library import Unknown
from .recorded import KINDS, LOSSES, Recorded

# Bytes of tiles that are kept of a recording.
TILES_KEPT = 64 << 20


class Opened:
    """A recording that is being looked at, with the tiles that were asked for."""

    def __init__(self, recorded: Recorded, summary: dict[str, Any]) -> None:
        self.recorded = recorded
        self.summary = summary
        self._tiles = Tiles()

    def forget(self) -> None:
        """Lets go what was read, as nobody looks at it any more."""
        self._tiles = Tiles()
        self.recorded.forget()

    @classmethod
    def of(cls, result: Result, seed: int, recordings: Recordings, key: str | None = None) -> Opened:
        """The recording of one seed of a result, which the page knows by `key`."""
        return cls(Recorded(result, seed, recordings), summary_of(result, seed, key))

    @property
    def air(self) -> Air:
        """The PPDUs, read at the first look."""
        return self.recorded.kept(("air",), lambda: Air(self.recorded))

    def described(self) -> dict[str, Any]:
        """Returns the nodes, flows and tables as JSON."""
        recorded = self.recorded
        return {
            **self.summary,
            "duration_ns": recorded.duration_ns,
            "warmup_ns": recorded.warmup_ns,
            "nodes": [node._asdict() for node in recorded.nodes],
            "flows": [flow._asdict() for flow in recorded.flows],
            "tables": recorded.tables,
            "charts": described(),
            "kinds": KINDS,
            "losses": LOSSES,
            "groups": self.air.groups if recorded.has("ppdu") else 0,
            "senders": self.air.senders() if recorded.has("ppdu") else [],
            "span_ns": self.air.span() if recorded.has("ppdu") else None,
            "ppdus": len(self.air) if recorded.has("ppdu") else 0,
        }

    def air_tile(self, group: int, level: int, index: int) -> bytes:
        """PPDUs of a group of nodes, or bins of them. Raises `Unknown` for a group that is none."""
        if not 0 <= group < self.air.groups:
            raise Unknown(f"group {group}: there are {self.air.groups}")

        def make() -> bytes:
            begin, end = index << level, (index + 1) << level
            if self.air.is_exact(begin, end, group):
                return encoded(self.air.exact(begin, end, group), exact=True)
            return encoded(self.air.bins(begin, level, group), exact=False)

        return self._tiles.get(("air", group, level, index), make)

    def backoff_tile(self, level: int, index: int) -> bytes:
        """Backoffs, or none where they are too many. Raises `Unknown` where none were recorded."""
        if not self.recorded.has("backoff"):
            raise Unknown("backoffs: were not recorded")
        backoffs = self.recorded.kept(("backoffs",), lambda: Backoffs(self.recorded, self.air))
        columns = backoffs.within(index << level, (index + 1) << level)
        return encoded(columns or {}, exact=columns is not None)

    def curve_tile(self, chart: str, entity: int, level: int, index: int) -> bytes:
        """The curves of a chart. Raises `LookupError` for one that there is not, or that was not recorded."""

        def make() -> bytes:
            curves = curves_of(self.recorded, chart, entity)
            return encoded(tile(curves, index << level, level), exact=is_exact(curves, index << level, level))

        return self._tiles.get((chart, entity, level, index), make)


class Tiles:
    """The tiles that were asked for last, up to so many bytes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: tuple, make: Callable[[], bytes]) -> bytes:
        """The tile of a key, made unless it is there."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._bytes += len(made)
            while self._bytes > TILES_KEPT:
                self._bytes -= len(self._kept.popitem(last=False)[1])
        return made


def encoded(columns: dict[str, np.ndarray], *, exact: bool) -> bytes:
    """Columns as a stream of Arrow; `exact` stands in the metadata of its schema."""
    import pyarrow

    table = pyarrow.table(columns).replace_schema_metadata({"exact": "1" if exact else "0"})
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def recorded_beside(result: Result, seed: int) -> Recordings | None:
    """The recording of a seed that lies beside its result, where one does."""
    beside = result.recordings
    return beside if beside is not None and (seed, "ppdu") in beside.tables() else None


def recorded_in(place: Path, seed: int) -> Recordings | None:
    """The recording of a seed that was put into `place`, where it was."""
    there = Recordings(place / FOLDER)
    return there if (seed, "ppdu") in there.tables() else None


def summary_of(result: Result, seed: int, key: str | None) -> dict[str, Any]:
    """Returns the head of a run's page. Its title is that of the directory or file, as several may have the same
    scenario.
    """
    source = result.source
    title = source and (source.parent.name if source.name == "result.json" else source.stem)
    told = next(told for told in result.runs if told["seed"] == seed)
    return {
        "key": key,
        "name": result.name,
        "title": title or result.name,
        "description": result.scenario.get("description"),
        "seed": seed,
        "seeds": result.seeds,
        "totals": told["totals"],
        "medium": told["medium"],
        "goodput": {flow["id"]: flow[FLOW.goodput_bps] for flow in told["flows"]},
        "warnings": result.warnings,
        "explained": all("account" in one for one in result.runs),
    }
