"""Rows as CSV or Parquet, to files or to standard output."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Sequence
from datetime import date, datetime
from math import isnan
from typing import Any

from ..data.extras import pyarrow_for
from ..data.files import write_whole
from ..study.sweep import BETWEEN_WARNINGS, WARNINGS, Swept
from . import _arguments
from ._mistake import Mistake
from ._output import write_data


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """--csv and --parquet."""
    parser.add_argument("--csv", metavar="FILE", help=f"write {what} as CSV, or to standard output with -")
    parser.add_argument("--parquet", metavar="FILE", help=f"write {what} as Parquet, or to standard output with -")


def check_output(arguments: argparse.Namespace, *options: str) -> None:
    """Makes sure that --csv, --parquet and other `options` can be written."""
    targets = {option: getattr(arguments, option) for option in ("csv", "parquet", *options)}
    for option, target in targets.items():
        _arguments.check_file(f"--{option}", target)
    if list(targets.values()).count("-") > 1:
        raise Mistake("-: only one kind of output can go to standard output")


def write_output(
    arguments: argparse.Namespace, names: Sequence[str], rows: Sequence[Sequence[Any]], swept: Swept | None = None
) -> None:
    """Writes what --csv and --parquet ask for, with the warnings of a sweep: CSV has those about its point in a last column,
    if there are any; Parquet has all of them in its metadata."""
    warnings = swept.warnings if swept else ()
    if arguments.csv is not None:
        write_data(
            arguments.csv, [_csv(*(_with_warnings(names, rows, swept) if swept and warnings else (names, rows)))]
        )
    if arguments.parquet is not None:
        _write_parquet(arguments.parquet, names, rows, warnings)


def _with_warnings(
    names: Sequence[str], rows: Sequence[Sequence[Any]], swept: Swept
) -> tuple[list[str], list[list[Any]]]:
    cells = (BETWEEN_WARNINGS.join(sentences) for sentences in swept.warnings_of_rows)
    return [*names, WARNINGS], [[*row, cell] for row, cell in zip(rows, cells, strict=True)]


def plain(value: Any) -> Any:
    """A value as CSV and JSON have it."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and isnan(value):
        return None
    return value


def _csv(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    value = plain(value)
    return json.dumps(value, default=str) if isinstance(value, dict | list) else value


def _write_parquet(
    target: str, names: Sequence[str], rows: Sequence[Sequence[Any]], warnings: Sequence[str] = ()
) -> None:
    pyarrow = pyarrow_for("--parquet")
    content = io.BytesIO()
    try:
        columns = {
            name: pyarrow.array(_of_one_type([row[number] for row in rows])) for number, name in enumerate(names)
        }
        metadata = {WARNINGS: json.dumps(warnings, ensure_ascii=False)} if warnings else None
        pyarrow.parquet.write_table(pyarrow.table(columns, metadata=metadata), content)
    except (pyarrow.ArrowException, OverflowError) as error:
        said = str(error).partition("\n")[0]
        raise Mistake(f"--parquet {target}: cannot hold this type of value ({said}); select it as VARCHAR") from None
    if target == "-":
        sys.stdout.buffer.write(content.getbuffer())
    else:
        write_whole(target, [content.getvalue()])


def _of_one_type(values: list[Any]) -> list[Any]:
    """The values as they are if they have one type, else all as text."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or kinds == {int, float}:
        return values
    return [value if value is None else str(value) for value in values]
