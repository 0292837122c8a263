"""`lasthop cc replay`: recorded traces of congestion controllers, replayed through the engine's controllers."""

from __future__ import annotations

import argparse

from ... import _core
from ...data.diagnostic import ScenarioError
from .. import _arguments
from .._code import code_of_choice
from .._mistake import Mistake
from .._output import put
from ._evidence import status_of, text_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop cc replay`."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a trace as CSV, gzipped or not")
    _arguments.add_congestion_control(parser, "a controller in place of the recorded one")


def execute(arguments: argparse.Namespace) -> int:
    """One line a file; 1 if one is out of tolerance, 77 if one is skipped and the others are within."""
    verdicts = []
    with code_of_choice(arguments.congestion_control):
        for file in arguments.files:
            try:
                line, verdict = _core.replay_cc(text_of(file, "a trace as CSV"), arguments.congestion_control)
            except ScenarioError as error:
                raise Mistake(f"--congestion-control {error}") from None
            except ValueError as error:
                raise Mistake(f"{file}: {error}") from None
            put(f"{file}: {line}\n")
            verdicts.append(verdict)
    return status_of(verdicts)
