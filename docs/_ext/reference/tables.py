"""Tables that the site puts into pages from the program: quantities of results, columns of recordings.

A comment in the page, `<!-- quantities: flows -->` or `<!-- recordings -->`, marks the place.
"""

from __future__ import annotations

import re
from typing import Any

from lasthop import _core
from lasthop.data.quantities import Quantity, listed

QUANTITIES = re.compile(r"^<!-- quantities: (\w+) -->$", re.MULTILINE)
RECORDINGS = "<!-- recordings -->"
SERIES = "series"


def filled(text: str) -> str:
    """The page with its tables."""
    text = QUANTITIES.sub(lambda found: quantities(found[1]), text)
    return text.replace(RECORDINGS, recordings())


def insert_tables(_app: Any, _docname: str, content: list[str]) -> None:
    """Fills in the tables of a page before it is parsed."""
    content[0] = filled(content[0])


def quantities(name: str) -> str:
    """The quantities of a table of results, or the time series, a row each; a column that all would leave empty is left out."""
    if name == SERIES:
        rows = [
            (f"`{q}`", f"{q.table[:-1]} ({q.only})" if q.only else q.table[:-1], q) for q in listed() if q.in_series
        ]
    else:
        rows = [(f"`{q}`", q.only or "", q) for q in listed() if q.in_summary and q.table == name]
    cells = [["key", "of", "unit", "kind", "definition"], ["---"] * 5]
    cells += [[key, of, quantity.unit, quantity.kind, _definition(quantity)] for key, of, quantity in rows]
    columns = [column for column in zip(*cells, strict=True) if any(column[2:])]
    return _table(zip(*columns, strict=True))


def recordings() -> str:
    """A row for each column of each table of a recording."""
    rows = [["table", "column", "type", "content"], ["---"] * 4]
    for table, meaning, columns in _core.recording_tables():
        rows.append([f"**`{table}`**", "", "", meaning])
        rows += [["", f"`{name}`", kind, content] for name, kind, content in columns]
    return _table(rows)


def _table(rows: Any) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _definition(quantity: Quantity) -> str:
    """Its meaning, with links to the pages that it names."""
    return re.sub(r"\b([a-z-]+\.md)\b", r"[\1](\1)", quantity.meaning)
