"""`lasthop export perfetto`: a recorded result as a trace for Perfetto, as `lasthop run --perfetto` writes it."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...views.export import perfetto
from .. import _arguments
from .._exports import check_trace, write_perfetto
from .._output import note
from ._recorded import add_result, recorded_seeds

FILE = "trace.pftrace"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop export perfetto`."""
    add_result(parser, "air,queue,tcp")
    parser.add_argument(
        "--out",
        metavar="FILE",
        default=FILE,
        help="file to write (default %(default)s); several seeds have one file each: NAME-seed-K.EXT",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Checks, then writes."""
    result = _arguments.result_of(arguments.result)
    seeds = recorded_seeds(result, perfetto.TABLES, arguments.seed)
    check_trace("--out", arguments.out)
    for file in write_perfetto(result, seeds, Path(arguments.out), are_several=len(seeds) > 1):
        note(str(file))
    return 0
