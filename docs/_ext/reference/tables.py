"""Tables that the site puts into pages: quantities of results and columns of recordings from the program, measurements from files.

A comment in the page, `<!-- quantities: flows -->` or `<!-- recordings -->`, marks the place. A measured table is a paragraph
that is only a link to its file, `[every case](recorded/peers-held.tsv)`: the site has the table there, other readers the link.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lasthop import _core
from lasthop.data.quantities import Quantity, listed

QUANTITIES = re.compile(r"^<!-- quantities: (\w+) -->$", re.MULTILINE)
RECORDINGS = "<!-- recordings -->"
MEASURED = re.compile(r"^\[[^\]]+\]\(((?:\.\./)*recorded/[\w-]+\.tsv)\)$", re.MULTILINE)
NUMBER = re.compile(r"[-+±]? ?[\d.,]+\b.*|")
SERIES = "series"


def filled(text: str) -> str:
    """The page with its tables."""
    text = QUANTITIES.sub(lambda found: quantities(found[1]), text)
    return text.replace(RECORDINGS, recordings())


def insert_tables(app: Any, docname: str, content: list[str]) -> None:
    """Fills in the tables of a page before it is parsed."""
    page = Path(app.env.doc2path(docname))

    def table(found: re.Match[str]) -> str:
        file = page.parent / found[1]
        app.env.note_dependency(str(file))
        return measured(file.read_text(encoding="utf-8"))

    content[0] = MEASURED.sub(table, filled(content[0]))


def measured(text: str) -> str:
    """A table of tab-separated values; columns of numbers are aligned to the right."""
    head, *rows = ([cell.replace("|", "\\|") for cell in line.split("\t")] for line in text.splitlines())
    columns = list(zip(*rows, strict=True))
    rules = ["--:" if all(map(NUMBER.fullmatch, column)) else "---" for column in columns]
    return _table([head, rules, *rows])


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
