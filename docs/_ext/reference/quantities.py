"""A page for each part of a result, with every number that stands there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lasthop import _core

from .markup import inline, title

ABOUT = {
    "flows": "A row for each flow of a run.",
    "totals": "One row for a run: all flows together.",
    "nodes": "A row for each station and access point.",
    "links": "A row for each pair of stations, in each direction, that sent to one another.",
    "medium": "A row for each channel.",
    "wires": "A row for each direction of the wired link.",
    "queues": "A row for each queue, in time series.",
    "simulator": "What the run cost.",
}
IN = {"summary": "the result", "series": "time series"}


def pages() -> Iterator[tuple[str, str]]:
    """Names and texts of the pages, the list of tables first."""
    tables = by_table()
    rows = "".join(f"* :doc:`{name}`: {inline(ABOUT.get(name, ''))}\n" for name in tables)
    tree = ".. toctree::\n   :hidden:\n\n" + "".join(f"   {name}\n" for name in tables)
    told = "Every number of a result by its name, as ``lasthop list quantity`` has it. :doc:`/model/metrics` says how they are measured, :doc:`/formats` where they stand in files."
    yield "index", f"{title('Quantities')}\n{told}\n\n{rows}\n{tree}"
    for name, entries in tables.items():
        yield name, "\n".join([title(name), inline(ABOUT.get(name, "")) + "\n", *map(_entry, entries)])


def by_table() -> dict[str, list[dict[str, Any]]]:
    """The quantities of each table of a result."""
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in json.loads(_core.list_json("quantity")):
        found.setdefault(entry["table"], []).append(entry)
    return found


def _entry(entry: dict[str, Any]) -> str:
    facts = [entry["label"], f"in {entry['unit']}" if entry["unit"] else "", entry["type"]]
    facts += [f"of {entry['only']}" if entry["only"] else "", "in " + " and ".join(IN[place] for place in entry["in"])]
    return f".. quantity:: {entry['name']}\n\n   {inline(entry['meaning'])}\n\n   *{inline(', '.join(filter(None, facts)))}*\n"
