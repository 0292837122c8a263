"""`lasthop check`: whether scenario files are right, without running any."""

from __future__ import annotations

import argparse

from .._core import ScenarioError
from . import _arguments
from ._mistake import Mistake
from ._output import note


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop check`."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="scenario files (TOML)")
    _arguments.add_settings(parser)
    parser.add_argument("--strict", action="store_true", help="treat warnings as errors")


def execute(arguments: argparse.Namespace) -> int:
    """Prints one sentence for each mistake and warning of each file; status 2 after a mistake."""
    results = [_check(file, arguments) for file in arguments.files]
    return 0 if all(results) else 2


def _check(file: str, arguments: argparse.Namespace) -> bool:
    try:
        warnings = _arguments.resolved_file(file, arguments.settings)[1].warnings()
    except (Mistake, ScenarioError) as mistake:
        note(str(mistake))
        return False
    for warning in warnings:
        note(warning if warning.startswith(file) else f"{file}: {warning}")
    return not (arguments.strict and warnings)
