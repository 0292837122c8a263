"""An open recording: its nodes, flows and tables, and its tiles in the browser's format."""

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

# Bytes of tiles kept for a recording.
TILE_BYTES = 64 << 20


class RecordingView:
    """An open recording, with the tiles that were requested."""

    def __init__(self, recorded: Recorded, summary: dict[str, Any]) -> None:
        self.recorded = recorded
        self.summary = summary
        self._tiles = Tiles()

    def forget(self) -> None:
        """Drops all data read so far, as no page shows it any more."""
        self._tiles = Tiles()
        self.recorded.forget()

    @classmethod
    def of(cls, result: Result, seed: int, recordings: Recordings, key: str | None = None) -> RecordingView:
        """The recording of one seed of a result, which the page knows by `key`."""
        return cls(Recorded(result, seed, recordings), summary_of(result, seed, key))

    @property
    def air(self) -> Air:
        """The PPDUs, read at the first look."""
        return self.recorded.cached(("air",), lambda: Air(self.recorded))

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
        """PPDUs of a group of nodes, or bins of them. Raises `Unknown` for an unknown group."""
        if not 0 <= group < self.air.groups:
            raise Unknown(f"group {group}: there are {self.air.groups}")

        def make() -> bytes:
            begin, end = index << level, (index + 1) << level
            if self.air.is_exact(begin, end, group):
                return encoded(self.air.exact(begin, end, group), exact=True)
            return encoded(self.air.bins(begin, level, group), exact=False)

        return self._tiles.get(("air", group, level, index), make)

    def backoff_tile(self, level: int, index: int) -> bytes:
        """Backoffs, or none if there are too many. Raises `Unknown` if backoffs were not recorded."""
        if not self.recorded.has("backoff"):
            raise Unknown("backoffs: were not recorded")
        backoffs = self.recorded.cached(("backoffs",), lambda: Backoffs(self.recorded, self.air))
        columns = backoffs.within(index << level, (index + 1) << level)
        return encoded(columns or {}, exact=columns is not None)

    def curve_tile(self, chart: str, entity: int, level: int, index: int) -> bytes:
        """The curves of a chart. Raises `LookupError` if it is unknown or was not recorded."""

        def make() -> bytes:
            curves = curves_of(self.recorded, chart, entity)
            return encoded(tile(curves, index << level, level), exact=is_exact(curves, index << level, level))

        return self._tiles.get((chart, entity, level, index), make)


class Tiles:
    """The tiles requested last, up to a number of bytes."""

    def __init__(self) -> None:
        self._tiles_by_key: OrderedDict[tuple[Any, ...], bytes] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: tuple[Any, ...], make: Callable[[], bytes]) -> bytes:
        """The tile of a key, made if it is not here."""
        with self._lock:
            if key in self._tiles_by_key:
                self._tiles_by_key.move_to_end(key)
                return self._tiles_by_key[key]
        made = make()
        with self._lock:
            if key not in self._tiles_by_key:
                self._tiles_by_key[key] = made
                self._bytes += len(made)
            while self._bytes > TILE_BYTES:
                self._bytes -= len(self._tiles_by_key.popitem(last=False)[1])
        return made


def encoded(columns: dict[str, np.ndarray], *, exact: bool) -> bytes:
    """Columns as a stream of Arrow, with `exact` in the metadata of its schema."""
    import pyarrow

    table = pyarrow.table(columns).replace_schema_metadata({"exact": "1" if exact else "0"})
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def recording_of_result(result: Result, seed: int) -> Recordings | None:
    """The recording of a seed in its result's directory, if it has one."""
    recordings = result.recordings
    return recordings if recordings is not None and (seed, "ppdu") in recordings.tables() else None


def recording_in(place: Path, seed: int) -> Recordings | None:
    """The recording of a seed in `place`, if it has one."""
    recordings = Recordings(place / FOLDER)
    return recordings if (seed, "ppdu") in recordings.tables() else None


def summary_of(result: Result, seed: int, key: str | None) -> dict[str, Any]:
    """Returns the head of a run's page. Its title is the name of the directory or file, as several may have the same
    scenario.
    """
    source = result.source
    title = source and (source.parent.name if source.name == "result.json" else source.stem)
    run = next(run for run in result.runs if run["seed"] == seed)
    return {
        "key": key,
        "name": result.name,
        "title": title or result.name,
        "description": result.scenario.get("description"),
        "seed": seed,
        "seeds": result.seeds,
        "totals": run["totals"],
        "medium": run["medium"],
        "goodput": {flow["id"]: flow[FLOW.goodput_bps] for flow in run["flows"]},
        "warnings": result.warnings,
        "explained": all("account" in one for one in result.runs),
    }
