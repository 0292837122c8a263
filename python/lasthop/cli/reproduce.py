"""`lasthop reproduce`: the claims and figures of papers, checked and drawn."""

from __future__ import annotations

import argparse

from . import _arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop reproduce`."""
    parser.add_argument(
        "paper", metavar="PAPER", nargs="?", help="a paper of papers/, or a claim file (default: all papers)"
    )
    parser.add_argument("--claim", metavar="ID", action="append", default=[], help="check only this claim; repeatable")
    parser.add_argument(
        "--figure", metavar="N", action="append", default=[], help="draw only this figure, such as 5a; repeatable"
    )
    parser.add_argument("--quick", action="store_true", help="use short runs and few seeds, for a first look")
    parser.add_argument(
        "--out",
        metavar="DIR",
        default="out/reproduction",
        help="folder for the page, the figures and the runs (default %(default)s)",
    )
    _arguments.add_allow_code(parser, "a claim file")
    parser.add_argument("--json", metavar="FILE", help="write the claims as JSON to FILE, or to standard output with -")
    parser.add_argument("--jobs", metavar="N", type=_arguments.whole, help="threads (default: all cores)")
    parser.add_argument(
        "--record",
        action="store_true",
        help="store the verdicts as those of this release, in verdicts.json beside the claim files",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Checks every claim file, then runs, judges, draws."""
    # Imported here: claims need packages that take longer to load than other commands take.
    from ._reproduction import reproduce

    jobs = _arguments.jobs_of(arguments)
    _arguments.check_file("--json", arguments.json)
    return reproduce(arguments, jobs)
