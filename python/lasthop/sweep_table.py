"""The table of a sweep: a pandas data frame that knows which of its columns were varied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas

from .layers import lacks

if TYPE_CHECKING:
    import xarray


class SweepTable(pandas.DataFrame):
    """One row for each point and seed; `varied` are the paths of the axes."""

    _metadata = ["varied"]
    varied: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[dict], varied: Sequence[str]) -> SweepTable:
        """The table of these rows."""
        table = cls(rows)
        table.varied = tuple(varied)
        return table

    @property
    def _constructor(self) -> type[SweepTable]:
        return SweepTable

    def to_xarray(self) -> xarray.Dataset:
        """An `xarray.Dataset`: axes and `seed` are dimensions, metrics are variables; NaN where there is no run.

        Raises `ImportError` where xarray is not installed.
        """
        if reason := lacks("xarray"):
            raise ImportError(f"an xarray.Dataset {reason}")
        dimensions = [name for name in (*getattr(self, "varied", ()), "seed") if name in self]
        plain = pandas.DataFrame(self)
        return (plain.set_index(dimensions) if dimensions else plain).to_xarray()
