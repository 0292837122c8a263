"""The tables of docs/model/metrics.md, from the list of quantities: `python tests/python/metrics_page.py --write`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from lasthop.data.quantities import Quantity, listed

PAGE = Path(__file__).parents[2] / "docs" / "model" / "metrics.md"
PLACE = re.compile(r"(<!-- quantities: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SERIES = "series"


def page(text: str) -> str:
    """The page with its tables made again; the prose between them stays."""
    return PLACE.sub(lambda found: f"{found[1]}\n{table(found[2])}\n{found[3]}", text)


def table(name: str) -> str:
    """The quantities of a table of results, or the time series, a row each; a column that all would leave empty is left out."""
    if name == SERIES:
        rows = [
            (f"`{q}`", f"{q.table[:-1]} ({q.only})" if q.only else q.table[:-1], q) for q in listed() if q.in_series
        ]
    else:
        rows = [(f"`{q}`", q.only or "", q) for q in listed() if q.in_summary and q.table == name]
    cells = [["key", "of", "unit", "kind", "definition"], ["---"] * 5]
    cells += [[key, of, quantity.unit, quantity.kind, definition(quantity)] for key, of, quantity in rows]
    columns = [column for column in zip(*cells, strict=True) if any(column[2:])]
    return "".join(
        f"| {' | '.join(row)} |\n".replace("|  |", "| |").replace("|  |", "| |") for row in zip(*columns, strict=True)
    )


def definition(quantity: Quantity) -> str:
    """Its meaning, with links to the pages that it names."""
    return re.sub(r"\b([a-z-]+\.md)\b", r"[\1](\1)", quantity.meaning)


if __name__ == "__main__":
    made = page(PAGE.read_text(encoding="utf-8"))
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(made, encoding="utf-8")
    else:
        sys.stdout.write(made)
