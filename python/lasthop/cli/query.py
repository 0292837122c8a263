"""`lasthop query`: the answer of a store to an SQL statement."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..data.quantities import TOTALS
from ..study.scenario import readable_text
from ..study.store import Store, StoreError
from . import _rows
from ._mistake import Mistake
from ._output import note, write_data
from ._pager import show_paged
from ._table import table

ROWS_SHOWN = 500
CELL_WIDTH = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop query`."""
    parser.add_argument("store", metavar="STORE", help="file that `lasthop sweep --store` or `lasthop reproduce` made")
    parser.add_argument(
        "sql",
        metavar="SQL",
        nargs="?",
        default="SHOW TABLES",
        help=f'e.g. "SELECT name, seed, {TOTALS.goodput_bps} FROM runs"; without it, the names of the tables',
    )
    _rows.add_output(parser, "the answer")
    parser.add_argument(
        "--json", metavar="FILE", help="write the answer as a JSON list of objects, or to standard output with -"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Asks, and shows or writes the answer."""
    _rows.check_output(arguments, "json")
    store = Store.existing(arguments.store)
    try:
        answer = store.query_arrow(readable_text(arguments.sql))
    except StoreError:
        raise
    except ValueError as error:
        raise Mistake(f"{error}; docs/campaigns.md lists the tables") from None
    names = answer.column_names
    columns = [_values(name, column) for name, column in zip(names, answer.columns, strict=True)]
    rows = list(zip(*columns, strict=True))
    _rows.write_output(arguments, names, rows)
    if arguments.json is not None:
        write_data(arguments.json, [_json(names, rows)])
    if (arguments.csv, arguments.parquet, arguments.json) == (None, None, None):
        _show(names, rows)
    return 0


def _values(name: str, column: Any) -> list[Any]:
    import pyarrow

    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):  # such as infinity, or a year beyond 9999
        raise Mistake(f"SQL: column {name} has a time outside the calendar; select {name}::VARCHAR") from None
    if pyarrow.types.is_map(column.type):
        return [value and dict(value) for value in values]
    return values


def _json(names: list[str], rows: list[tuple[Any, ...]]) -> str:
    objects = [dict(zip(names, map(_rows.plain, row), strict=True)) for row in rows]
    return json.dumps(objects, indent=2, ensure_ascii=False, default=str) + "\n"


def _show(names: list[str], rows: list[tuple[Any, ...]]) -> None:
    if not names:
        return
    lines = [[_text(value) for value in row] for row in rows[:ROWS_SHOWN]]
    numbers = [all(isinstance(row[column], int | float | None) for row in rows) for column in range(len(names))]
    left = numbers.index(True) if True in numbers else len(names)
    show_paged(table(names, lines, left=left))
    if len(rows) > ROWS_SHOWN:
        note(f"the first {ROWS_SHOWN} of {len(rows)} rows; --csv has all")


def _text(value: Any) -> str:
    value = _rows.plain(value)
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e6 and value != round(value) else f"{value:.0f}"
    if isinstance(value, dict):
        value = ", ".join(f"{key}={item}" for key, item in value.items())
    text = " ".join(str(value).split())
    return text if len(text) <= CELL_WIDTH else text[: CELL_WIDTH - 1] + "…"
