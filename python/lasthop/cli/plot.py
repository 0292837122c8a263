"""`lasthop plot`: a picture of one result or of several together."""

from __future__ import annotations

import argparse
import io
import sys

from .. import plot
from . import _arguments
from ._mistake import Mistake
from ._output import note

SUMMARY = "draw one result or several together"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `lasthop plot` accepts."""
    parser.add_argument("results", metavar="RESULT", nargs="+", help="directory or JSON file of `lasthop run`")
    parser.add_argument(
        "--kind",
        choices=plot.kinds(),
        default="goodput_over_time",
        help=f"one of: {', '.join(plot.kinds())} (default goodput_over_time)",
        metavar="KIND",
    )
    parser.add_argument("--out", metavar="FILE", help="PNG, PDF or SVG by its ending, or - (default KIND.png)")


def execute(arguments: argparse.Namespace) -> int:
    """Reads the results, draws, writes."""
    out = arguments.out or f"{arguments.kind}.png"
    if out != "-":
        _file_format(out)
    _arguments.check_file("--out", out)
    results = [_arguments.result_of(path) for path in arguments.results]
    try:
        figure = plot.draw(arguments.kind, results, out=None if out == "-" else out)
    except LookupError as error:
        raise Mistake(str(error)) from None
    if out == "-":
        picture = io.BytesIO()
        figure.savefig(picture, format="png")
        sys.stdout.buffer.write(picture.getvalue())
    else:
        note(f"wrote {out}")
    return 0


def _file_format(out: str) -> None:
    try:
        plot.file_format(out)
    except ValueError as error:
        raise Mistake(f"--out {error}") from None
