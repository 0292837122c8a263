"""`lasthop cc packetdrill`: packet timelines against the TCP endpoint."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from ... import _core
from ...data.diagnostic import ScenarioError
from .. import _arguments
from .._code import code_of_choice
from .._mistake import Mistake
from .._output import write_data
from ._evidence import status_of, text_of

# A separate program, independent of this package.
SCRIPT_CODE = Path(__file__).with_name("_script_code.py")
A_DAY_US = 86_400_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop cc packetdrill`."""
    parser.epilog = "A script is a program: its Python code runs with your rights. Read a script before you run it."
    parser.add_argument("files", metavar="FILE", nargs="+", help="a script in the language of google/packetdrill")
    parser.add_argument(
        "--tolerance_usecs",
        metavar="US",
        type=_microseconds,
        help="tolerance of times in microseconds (default: the script's own)",
    )
    _arguments.add_congestion_control(parser, "the congestion control of the endpoint")


def execute(arguments: argparse.Namespace) -> int:
    """One line for each file, then a count: 0 all pass, 1 one fails, 77 one is skipped and the others pass."""
    tolerance = arguments.tolerance_usecs
    options = [] if tolerance is None else [("tolerance_usecs", str(tolerance))]
    counts: Counter[str] = Counter()
    with code_of_choice(arguments.congestion_control):
        for file in arguments.files:
            verdict = run_script(text_of(file, "a packetdrill script"), options, arguments.congestion_control)
            counts[verdict.kind] += 1
            write_data("-", [verdict.as_line(file), "\n"])
    write_data("-", [f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped\n"])
    return status_of(counts)


class Verdict(NamedTuple):
    """How a script ended, and at which of its lines."""

    kind: str
    line: int
    why: str

    def as_line(self, file: str) -> str:
        """Returns the printed text; further lines of a failure are indented."""
        if self.kind == "pass":
            return f"pass  {file}"
        place = f"{file}:{self.line}" if self.line else file
        if self.kind == "skip":
            return f"skip  {place}: skipped because {self.why}"
        return f"fail  {place}: " + self.why.replace("\n", "\n      ")


def run_script(text: str, options: list[tuple[str, str]], control: str | None = None) -> Verdict:
    """Runs a script, then the code in it. The first failure in the order of lines is the verdict."""
    try:
        kind, line, why, code = _core.packetdrill(text, options, control)
    except ScenarioError as error:
        raise Mistake(f"--congestion-control {error}") from None
    except ValueError as error:
        return Verdict("fail", 0, str(error))
    wrong = _first_wrong(code)
    if wrong is not None and (kind == "pass" or wrong.line < line):
        return wrong
    return Verdict(kind, line, why)


def _first_wrong(code: list[tuple[int, str, list[tuple[str, int]]]]) -> Verdict | None:
    """The pieces of code are one Python program, as in packetdrill: what one of them defines, the next can use."""
    if not code:
        return None
    pieces = json.dumps([(line, text, dict(variables)) for line, text, variables in code])
    # -P: a script cannot import the modules of that program's folder.
    program = [sys.executable, "-P", str(SCRIPT_CODE)]
    child = subprocess.run(program, input=pieces, stdout=subprocess.PIPE, text=True, check=False)
    answers = [json.loads(line) for line in child.stdout.splitlines()]
    if answers and answers[-1] is not None:
        kind, why = answers[-1]
        return _verdict(kind, code[len(answers) - 1], why)
    if len(answers) < len(code):
        return _verdict("fail", code[len(answers)], f"the code ended its interpreter, {_how(child.returncode)}")
    return None


def _verdict(kind: str, piece: tuple[int, str, list[tuple[str, int]]], why: str) -> Verdict:
    line, text, _ = piece
    first = text.strip().splitlines()[0] if text.strip() else ""
    return Verdict(kind, line, why if kind == "skip" else f"{why}\nin        {first}")


def _how(status: int) -> str:
    return f"with status {status}" if status >= 0 else f"by {signal.Signals(-status).name}"


def _microseconds(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(A_DAY_US)) else 0
    if not 0 < number <= A_DAY_US:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of microseconds from 1 to {A_DAY_US}, a day")
    return number
