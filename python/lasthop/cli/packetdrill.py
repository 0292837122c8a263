"""`lasthop packetdrill`: packet timelines against the TCP endpoint."""

from __future__ import annotations

import argparse
import contextlib
import io
from collections import Counter
from typing import Any, NamedTuple

from .. import _core
from ._evidence import status_of, text_of
from ._output import write_data

SUMMARY = "run packetdrill scripts against the TCP endpoint under a virtual clock"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `lasthop packetdrill` accepts."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a script in the language of google/packetdrill")
    parser.add_argument(
        "--tolerance_usecs", metavar="US", type=_microseconds, help="how far times may be off, instead of the script's own"
    )


def execute(arguments: argparse.Namespace) -> int:
    """One line for each file, then a count: 0 all pass, 1 one fails, 77 none fails but one is skipped."""
    tolerance = arguments.tolerance_usecs
    options = [] if tolerance is None else [("tolerance_usecs", str(tolerance))]
    counts: Counter[str] = Counter()
    for file in arguments.files:
        verdict = run_script(text_of(file, "a packetdrill script"), options)
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
        """What is printed of it; further lines of a failure are indented."""
        if self.kind == "pass":
            return f"pass  {file}"
        place = f"{file}:{self.line}" if self.line else file
        if self.kind == "skip":
            return f"skip  {place}: skipped because {self.why}"
        return f"fail  {place}: " + self.why.replace("\n", "\n      ")


def run_script(text: str, options: list[tuple[str, str]]) -> Verdict:
    """Runs a script, then the code in it. What fails first in the order of lines is the verdict."""
    kind, line, why, code = _core.packetdrill(text, options)
    wrong = _first_wrong(code)
    if wrong is not None and (kind == "pass" or wrong.line < line):
        return wrong
    return Verdict(kind, line, why)


def _first_wrong(code: list[tuple[int, str, list[tuple[str, int]]]]) -> Verdict | None:
    """The pieces of code are one Python program, as in packetdrill: what one of them defines, the next can use."""
    names: dict[str, Any] = {}
    for line, text, variables in code:
        names.update(variables)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text + "\n", "<script>", "exec"), names)  # noqa: S102 - that is what a script asks for
        except NameError as error:
            return Verdict("skip", line, f"{error.name} has no counterpart")
        except Exception as error:  # noqa: BLE001 - whatever a script raises is its failure
            first = text.strip().splitlines()[0] if text.strip() else ""
            said = f": {error}" if str(error) else ""
            return Verdict("fail", line, f"{type(error).__name__}{said}\nin        {first}")
    return None


def _microseconds(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of microseconds above 0")
    return int(text)
