"""Output: results to standard output, messages to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from math import inf
from typing import Any

from ..data.files import write_whole
from ..data.queue_report import bottleneck_text
from ..data.result import Result
from ..data.terminal import printable
from ..study.overview import flow_table, heading, headline_table, roam_table
from ..study.sequential import percent
from ._pager import show_paged
from ._table import table

WIDTHS_SHOWN = 4


def show(text: str, *, beside_data: bool = False) -> None:
    """Writes a result as text to standard output, or to standard error if data goes to standard output (`--json -`).

    Messages about it on the other stream come after it.
    """
    if not beside_data:
        show_paged(text)
        return
    sys.stderr.write(printable(text))
    sys.stderr.flush()


def put(text: str) -> None:
    """Writes text to standard output as it is there, without a pager."""
    sys.stdout.write(printable(text))


def note(message: str) -> None:
    """A message to the user, who may have closed the stream: that stops no work."""
    with suppress(BrokenPipeError):
        sys.stderr.write(printable(f"lasthop: {message}\n"))


def note_few(seeds: int) -> None:
    """Warns of intervals from few seeds: the half-width has the factor t / sqrt(n), 9.0 for 2, 2.5 for 3, 1.2 for 5."""
    if seeds == 2:
        note(
            "with 2 seeds an interval rests on one difference (t = 12.7); with 3 it is some 4 times narrower, with 5 some 7"
        )


def write_data(target: str, pieces: Iterable[str | bytes]) -> None:
    """Writes text, or its UTF-8, to a file, or to standard output for `-`."""
    if target == "-":
        texts = (piece if isinstance(piece, str) else piece.decode() for piece in pieces)
        sys.stdout.writelines(map(printable, texts) if sys.stdout.isatty() else texts)
    else:
        write_whole(target, pieces)


def summary_text(result: Result, patterns: Iterable[str] = ()) -> str:
    """The headline numbers of a result, or those that match `patterns`, then its first flows."""
    numbers, flows = headline_table(result, patterns), flow_table(result)
    # A test of pings alone has no totals.
    totals = table(*numbers) if numbers[1] else ""
    whole = f"{heading(result)}\n\n{totals}{bottleneck_text(result.told_runs)}\n"
    roams = roam_table(result)
    changes = "" if roams is None else f"\n{table(*roams, left=1)}"
    if flows is None:
        return whole + changes
    rest = f"{flows.more_text}; --json or --out has them all\n" if flows.more else ""
    return f"{whole}{table(flows.heads, flows.rows, left=2)}{rest}{changes}"


def until_text(until: dict[str, Any]) -> str:
    """How adding seeds ended: each metric's half-width, and whether all are within the target."""
    target = percent(until["target"])
    widest = sorted(until["half_widths"].items(), key=lambda item: inf if item[1] is None else item[1], reverse=True)
    widths = [f"{name} {'without a width' if width is None else f'± {percent(width)}'}" for name, width in widest]
    more = [f"and {len(widths) - WIDTHS_SHOWN} narrower"] if len(widths) > WIDTHS_SHOWN else []
    what = f"{', '.join([*widths[:WIDTHS_SHOWN], *more]) or 'no interval'} after {until['n']} seeds"
    return f"{what}: within ± {target}" if until["reached"] else f"{what}: not within ± {target}"
