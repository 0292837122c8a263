"""`lasthop export qlog`: the TCP segments and QUIC packets of a recorded result as qlog files, as `lasthop run --qlog` writes them."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import _arguments
from .._exports import write_qlog
from .._output import note
from ._recorded import add_result, recorded_seeds

DIRECTORY = "qlog"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop export qlog`."""
    add_result(parser, "tcp,quic")
    parser.add_argument(
        "--out",
        metavar="DIR",
        default=DIRECTORY,
        help="write a file for each end of each TCP and QUIC flow to DIR/seed-K (default %(default)s)",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Checks, then writes."""
    result = _arguments.result_of(arguments.result)
    seeds = recorded_seeds(result, ["segment", "quic"], arguments.seed)
    _arguments.check_directory("--out", arguments.out)
    written = write_qlog(result, seeds, Path(arguments.out))
    note(
        f"{arguments.out}: {written} files"
        if written
        else f"{arguments.result}: no TCP segment and no QUIC packet was recorded"
    )
    return 0
