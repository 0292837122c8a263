"""`lasthop self bench`: speed on this machine. The measuring itself is benches/run.py."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from ...data.ready import DATA
from .. import _arguments
from .._mistake import Mistake

SCRIPT = Path("benches") / "run.py"
MAX_ROUNDS = 100
MARK = "<!-- bench: "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop self bench`."""
    parser.add_argument("--quick", action="store_true", help="measure lasthop only, without ns-2 and ns-3")
    parser.add_argument(
        "--rounds",
        metavar="N",
        type=_arguments.whole,
        default=3,
        help="measure everything N times and take medians (default 3)",
    )
    parser.add_argument(
        "--scale",
        action="store_true",
        help="also measure how time and memory grow with stations, BSSs, flows, duration and runs",
    )
    parser.add_argument(
        "--write",
        metavar="FILE",
        action="append",
        default=[],
        help="put the tables between the marks of FILE, such as those in docs/speed.md; repeatable",
    )
    parser.add_argument("--json", metavar="FILE", help="write every number to FILE as well")


def execute(arguments: argparse.Namespace) -> int:
    """Runs the script of the source tree in the current folder, else the package's."""
    if not 1 <= arguments.rounds <= MAX_ROUNDS:
        raise Mistake(f"--rounds {arguments.rounds}: the number of rounds is from 1 to {MAX_ROUNDS}")
    if arguments.json == "-":
        raise Mistake("--json -: standard output has the table; give the name of a file")
    _arguments.check_file("--json", arguments.json)
    for file in arguments.write:
        _check_page(file)
    script = next(root / SCRIPT for root in (Path.cwd(), DATA) if (root / SCRIPT).is_file())
    options = ["--rounds", str(arguments.rounds), *(["--quick"] if arguments.quick else [])]
    options += ["--scale"] if arguments.scale else []
    options += ["--json", arguments.json] if arguments.json else []
    options += [word for file in arguments.write for word in ("--write", file)]
    # A process of its own, small: the peak memory of a child counts what its parent held when it was started.
    return _run([sys.executable, str(script), *options])


def _check_page(file: str) -> None:
    """Refuses, before anything is measured, a page that has no place for the tables."""
    try:
        marked = MARK in Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Mistake(f"--write {file}: cannot be read: {error}") from None
    if not marked:
        raise Mistake(f"--write {file}: has no mark {MARK}NAME -->, which shows where a table goes")


def _run(command: list[str]) -> int:
    """Runs `command` in its own process group, all of which ends with this command."""
    has_groups = hasattr(os, "killpg")
    with subprocess.Popen(command, process_group=0 if has_groups else None) as process:
        try:
            return process.wait()
        except BaseException:
            if has_groups:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            raise
