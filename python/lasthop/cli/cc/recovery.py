"""`lasthop cc recovery`: recordings of loss recovery, replayed in closed loop against the TCP endpoint."""

from __future__ import annotations

import argparse

from ... import _core
from .._mistake import Mistake
from .._output import put
from ._evidence import status_of, text_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop cc recovery`."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a recording as JSON, gzipped or not")
    parser.add_argument("--verbose", action="store_true", help="show both lists of events side by side")


def execute(arguments: argparse.Namespace) -> int:
    """One line a file; 1 if one fails, 77 if one is skipped and the others pass."""
    verdicts = []
    for file in arguments.files:
        try:
            name, line, verdict, side_by_side = _core.replay_recovery(text_of(file, "a recording as JSON"))
        except ValueError as error:
            raise Mistake(f"{file}: {error}") from None
        if arguments.verbose:
            put(f"{name}: row, recorded, here\n{side_by_side}")
        put(f"{file}: {line}\n")
        verdicts.append(verdict)
    return status_of(verdicts)
