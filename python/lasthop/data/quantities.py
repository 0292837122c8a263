"""The quantities that runs measure, from the engine's list: `FLOW.goodput_bps` is a key of results that knows its unit and
its label.

A quantity is a `str`, the key that it has in results, so it reads a row: `row[FLOW.goodput_bps]`. No other file of this
package writes the name of a quantity as text. The list is read when a quantity is first asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from .. import _core


class Shown(NamedTuple):
    """How a number is shown: the unit, the factor from the stored number, and decimals."""

    unit: str
    scale: float
    decimals: int


class Quantity(str):
    """A key of results, with its entry of the list."""

    table: str
    """where results have it: `flows`, `totals`, …"""
    entity: str | None
    """its prefix in a dotted name, such as `ID`; None if the table is a single row"""
    kind: str
    """`rate`, `count`, `mean`, `fraction`, …"""
    unit: str
    """in which it is stored"""
    label: str
    """its name in tables and on axes"""
    shown: Shown
    bound: float | None
    """the greatest possible value, as stored"""
    in_summary: bool
    in_series: bool
    is_rare: bool
    """whether its time series is left out if it has no events"""
    only: str | None
    """what alone has it, such as `voip`"""
    meaning: str

    @classmethod
    def of(cls, entry: dict[str, Any]) -> Quantity:
        """The quantity of an entry of `lasthop list quantity --json`."""
        found = cls(entry["key"])
        found.kind = entry["type"]
        found.shown = Shown(**entry["shown"])
        found.in_summary, found.in_series = ("summary" in entry["in"]), ("series" in entry["in"])
        found.is_rare = entry["rare"]
        for name in ("table", "entity", "unit", "label", "bound", "only", "meaning"):
            setattr(found, name, entry[name])
        return found

    @property
    def path(self) -> str:
        """Its dotted name, with a word in place of the entity: `flows.ID.goodput_bps`."""
        return self.path_of(self.entity)

    def path_of(self, entity: str | None) -> str:
        """Its dotted name for this entity, or glob of entities."""
        return ".".join(part for part in (self.table, entity, str(self)) if part)

    @property
    def axis(self) -> str:
        """`label (unit)`."""
        return f"{self.label} ({self.shown.unit})" if self.shown.unit else self.label

    @property
    def most(self) -> float | None:
        """The greatest possible value in the unit that is shown."""
        return None if self.bound is None else self.bound * self.shown.scale


class Quantities:
    """The quantities of one table, or the time series, as attributes."""

    def __init__(self, table: str | None) -> None:
        self._table = table

    def __getattr__(self, key: str) -> Quantity:
        found = _by_place().get((self._table, key))
        if found is None or key.startswith("__"):
            from difflib import get_close_matches

            near = get_close_matches(key, [str(quantity) for quantity in self], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise AttributeError(f"there is no quantity {key} of {self._table or 'time series'}{hint}")
        return found

    def __iter__(self) -> Iterator[Quantity]:
        return (quantity for (table, _), quantity in _by_place().items() if table == self._table)


TOTALS, MEDIUM, FLOW, NODE, LINK, QUEUE, WIRE, SIMULATOR = map(
    Quantities, ("totals", "medium", "flows", "nodes", "links", "queues", "wires", "simulator")
)
# Time series; each key has one kind of entity.
SERIES = Quantities(None)


@cache
def listed() -> tuple[Quantity, ...]:
    """Every quantity, in the order of the list."""
    return tuple(map(Quantity.of, json.loads(_core.list_json("quantity"))))


@cache
def _by_place() -> dict[tuple[str | None, str], Quantity]:
    """By table and key; time series under None."""
    places: dict[tuple[str | None, str], Quantity] = {}
    for quantity in listed():
        if quantity.in_summary:
            places[quantity.table, str(quantity)] = quantity
        if quantity.in_series:
            places[None, str(quantity)] = quantity
    return places


def numbers() -> tuple[Quantity, ...]:
    """The quantities of summaries that are single numbers and the same in every run of a seed."""
    return tuple(q for q in listed() if q.in_summary and q.kind != "list" and q is not SIMULATOR.wall_s)


def quantity_of(name: str) -> Quantity | None:
    """The quantity of a dotted name, with its entity or a glob in its place; of a key alone the first that there is."""
    table, dot, rest = name.partition(".")
    if dot:
        return _by_place().get((table, rest.rpartition(".")[2]))
    return next((quantity for quantity in listed() if quantity == name), None)
