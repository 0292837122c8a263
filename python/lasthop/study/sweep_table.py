"""The table of a sweep: a pandas data frame that knows which of its columns were varied."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import pandas

from ..data.extras import lacks

if TYPE_CHECKING:
    import xarray


class SweepTable(pandas.DataFrame):  # type: ignore[misc]  # pandas has no types
    """One row for each point and seed; `varied` are the paths of the axes, `groups` the paths that vary together."""

    _metadata: ClassVar[list[str]] = ["varied", "groups"]
    varied: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]

    @classmethod
    def of(
        cls, rows: Sequence[dict[str, Any]], varied: Sequence[str], groups: Sequence[tuple[str, ...]] = ()
    ) -> SweepTable:
        """The table of these rows."""
        table = cls(rows)
        table.varied, table.groups = tuple(varied), tuple(groups)
        return table

    @property
    def _constructor(self) -> type[SweepTable]:
        return SweepTable

    def _repr_html_(self) -> str | None:
        """The table for a notebook, with the warnings below it."""
        table = super()._repr_html_()
        notes = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.attrs.get("warnings", ()))
        return None if table is None else table + notes

    def to_xarray(self) -> xarray.Dataset:
        """An `xarray.Dataset`: axes and `seed` are dimensions, metrics are variables; NaN for missing runs.

        Settings that vary together are coordinates along one dimension, `point`; of a second such group `point_2`.
        Raises `ImportError` where xarray is not installed.
        """
        if reason := lacks("xarray"):
            raise ImportError(f"an xarray.Dataset {reason}")
        plain = pandas.DataFrame(self)
        dimensions = list(getattr(self, "varied", ()))
        places = {}
        for number, group in enumerate(getattr(self, "groups", ()), start=1):
            if not set(group) <= set(plain.columns):
                continue
            name = "point" if number == 1 else f"point_{number}"
            of_point = plain.groupby(list(group), sort=False, dropna=False).ngroup()
            values = plain[list(group)].assign(**{name: of_point}).drop_duplicates(name).set_index(name)
            places[name] = values
            plain = plain.drop(columns=list(group)).assign(**{name: of_point})
            dimensions = [path for path in dimensions if path not in group]
            dimensions.append(name)
        dimensions = [name for name in (*dimensions, "seed") if name in plain]
        found: xarray.Dataset = (plain.set_index(dimensions) if dimensions else plain).to_xarray()
        for name, values in places.items():
            ordered = values.loc[found[name].values]
            found = found.assign_coords({path: (name, ordered[path].to_numpy()) for path in ordered})
        return found
