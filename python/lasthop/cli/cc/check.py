"""`lasthop cc check`: a congestion control against what all controllers promise."""

from __future__ import annotations

import argparse

from ... import _core
from ...data.diagnostic import ScenarioError
from .._code import code_of_choice
from .._mistake import Mistake
from .._output import write_data


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop cc check`."""
    parser.epilog = "If CHOICE names a file of code, that code runs with your rights."
    what = 'a name such as cubic, or a table such as \'{ kind = "python", file = "mine.py", class = "Mine" }\''
    parser.add_argument("choice", metavar="CHOICE", help=what)


def execute(arguments: argparse.Namespace) -> int:
    """One line for each promise; 1 if one is not kept."""
    try:
        with code_of_choice(arguments.choice):
            checked = _core.check_cc(arguments.choice)
    except ScenarioError as error:
        raise Mistake(str(error)) from None
    for rule, found in checked:
        write_data(
            "-", [f"{'pass' if found is None else 'fail'}  {rule.replace('_', ' ')}{f': {found}' if found else ''}\n"]
        )
    broken = sum(found is not None for _, found in checked)
    write_data("-", [f"{len(checked) - broken} kept, {broken} broken\n"])
    return 1 if broken else 0
