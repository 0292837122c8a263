"""A recorded result, and the seeds of it to export."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ...data.result import Result
from .. import _arguments
from .._mistake import Mistake


def add_result(parser: argparse.ArgumentParser, tables: str) -> None:
    """RESULT and --seed."""
    parser.add_argument("result", metavar="RESULT", help=f"directory of `lasthop run --record {tables} --out DIR`")
    parser.add_argument(
        "--seed", metavar="K", type=_arguments.whole, help="export this seed only (default: all recorded seeds)"
    )


def recorded_seeds(result: Result, tables: Sequence[str], seed: int | None) -> list[int]:
    """The seeds with a recording of one of these tables, or the chosen one of them. Raises `Mistake` without one."""
    there = sorted({of for of, table in _recorded_tables(result) if table in tables and of in result.seeds})
    chosen = [] if seed is not None and seed not in there else there if seed is None else [seed]
    if not chosen:
        try:
            result.recorded(tables, seed)
        except LookupError as error:
            raise Mistake(str(error.args[0])) from None
    return chosen


def _recorded_tables(result: Result) -> set[tuple[int, str]]:
    return set() if result.recordings is None else result.recordings.tables()
