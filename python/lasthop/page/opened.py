"""A recording that is looked at: who and what there is in it, and its tiles as the browser gets them."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..quantities import FLOW
from ..recording import Recordings
from ..result import Result
from .library import Unknown

if TYPE_CHECKING:
    from .air import Air
    from .recorded import Recorded

TILES_KEPT = 2000


class Opened:
    """A recording that is being looked at, with the tiles that were asked for."""

    def __init__(self, recorded: Recorded, summary: dict[str, Any]) -> None:
        self.recorded = recorded
        self.summary = summary
        self.air_tile = lru_cache(TILES_KEPT)(self._air_tile)
        self.backoff_tile = lru_cache(TILES_KEPT)(self._backoff_tile)
        self.curve_tile = lru_cache(TILES_KEPT)(self._curve_tile)

    @classmethod
    def of(cls, result: Result, seed: int, recordings: Recordings, key: str | None = None) -> Opened:
        """The recording of one seed of a result, which the page knows by `key`."""
        from .recorded import Recorded

        return cls(Recorded(result, seed, recordings), summary_of(result, seed, key))

    @property
    def air(self) -> Air:
        """The PPDUs, read at the first look."""
        from .air import Air

        return self.recorded.kept(("air",), lambda: Air(self.recorded))

    def described(self) -> dict[str, Any]:
        """Who and what there is, as JSON."""
        from .curves import described
        from .recorded import KINDS, LOSSES

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
            "ppdus": len(self.air) if recorded.has("ppdu") else 0,
        }

    def _air_tile(self, group: int, level: int, index: int) -> bytes:
        air = self.air
        if not 0 <= group < air.groups:
            raise Unknown(f"group {group}: there are {air.groups}")
        begin = index << level
        if air.is_exact(begin, begin + (1 << level), group):
            return encoded(air.exact(begin, begin + (1 << level), group), exact=True)
        return encoded(air.bins(begin, level, group), exact=False)

    def _backoff_tile(self, level: int, index: int) -> bytes:
        from .backoffs import Backoffs

        if not self.recorded.has("backoff"):
            raise Unknown("backoffs: were not recorded")
        backoffs = self.recorded.kept(("backoffs",), lambda: Backoffs(self.recorded, self.air))
        columns = backoffs.within(index << level, (index + 1) << level)
        return encoded(columns or {}, exact=columns is not None)

    def _curve_tile(self, chart: str, entity: int, level: int, index: int) -> bytes:
        from .curves import curves_of, is_exact, tile

        curves = curves_of(self.recorded, chart, entity)
        begin = index << level
        return encoded(tile(curves, begin, level), exact=is_exact(curves, begin, level))


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
    beside = result._stored_recordings()
    return beside if beside is not None and (seed, "ppdu") in beside.tables() else None


def summary_of(result: Result, seed: int, key: str | None) -> dict[str, Any]:
    """What the page says at the head of a run."""
    told = next(told for told in result.runs if told["seed"] == seed)
    return {
        "key": key,
        "name": result.name,
        "description": result.scenario.get("description"),
        "seed": seed,
        "seeds": result.seeds,
        "totals": told["totals"],
        "medium": told["medium"],
        "goodput": {flow["id"]: flow[FLOW.goodput_bps] for flow in told["flows"]},
        "warnings": result.warnings,
        "explained": all("account" in one for one in result.runs),
    }
