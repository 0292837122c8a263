"""`lasthop cc header`: the C header for congestion controls of one's own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HEADER = Path(__file__).parents[2] / "include" / "lasthop_cc.h"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop cc header`."""
    parser.add_argument(
        "--path",
        action="store_true",
        help='print the folder of the header, for the compiler: cc -I"$(lasthop cc header --path)" …',
    )


def execute(arguments: argparse.Namespace) -> int:
    """Prints the header, or its folder."""
    sys.stdout.write(f"{HEADER.parent}\n" if arguments.path else HEADER.read_text(encoding="utf-8"))
    return 0
