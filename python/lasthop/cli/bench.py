"""`lasthop bench`: speed on this machine. The measuring itself is benches/run.py of the source tree."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from ._mistake import Mistake

SUMMARY = "measure speed on this machine (in the source tree)"
SCRIPT = Path("benches") / "run.py"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Everything goes on to the script."""
    parser.add_argument("rest", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="passed on to benches/run.py")


def execute(arguments: argparse.Namespace) -> int:
    """Runs the script that belongs to this source tree."""
    # This package lies in python/lasthop of the tree when it was installed for development.
    roots = (Path.cwd(), Path(__file__).resolve().parents[3])
    script = next((root / SCRIPT for root in roots if (root / SCRIPT).is_file()), None)
    if script is None:
        raise Mistake(f"bench: there is no {SCRIPT} here; run it in the source tree of lasthop")
    return subprocess.run([sys.executable, script, *arguments.rest], check=False).returncode
