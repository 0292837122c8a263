"""`lasthop analyze` with files of test tools."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..data.plain_number import plain
from ..data.result import Result
from ..foreign.testbed import kind_of, read
from ..study.progress import Progress
from . import _arguments
from ._mistake import Mistake
from ._output import note, show, summary_text, write_data


def of_testbed(paths: Sequence[str]) -> bool:
    """Whether all files are of test tools; false if all are captures. Raises `Mistake` for a mixture."""
    kinds = {path: _kind(path) for path in paths}
    captures = [path for path, kind in kinds.items() if kind is None]
    others = [path for path, kind in kinds.items() if kind is not None]
    if captures and others:
        raise Mistake(
            f"{captures[0]}: is not a file of {kinds[others[0]]}, as {others[0]} is; analyze captures apart, and set both side by side with "
            "`lasthop compare`"
        )
    return bool(others)


def _kind(path: str) -> str | None:
    try:
        return kind_of(path)
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}") from None


def execute_testbed(arguments: argparse.Namespace) -> int:
    """Reads, writes, shows."""
    for option, given in (("--from", arguments.begin), ("--to", arguments.to), ("--interval", arguments.interval)):
        if given is not None:
            raise Mistake(
                f"{option}: only for captures; the times in these files were set by the program that measured"
            )
    for option, given in (
        ("--record", arguments.record),
        ("--qlog", arguments.qlog),
        ("--perfetto", arguments.perfetto),
    ):
        if given is not None:
            raise Mistake(f"{option}: only for captures; these files do not contain single segments")
    _arguments.check_file("--json", arguments.json)
    results = _read(arguments)
    if arguments.json is not None and len(results) > 1:
        raise Mistake(
            f"--json: the files hold {len(results)} tests ({', '.join(results)}); give --out DIR, which gets a folder for each, "
            "or --repeats if they are repetitions of one"
        )
    for name, result in results.items():
        if arguments.out is not None:
            directory = arguments.out if len(results) == 1 else str(Path(arguments.out) / name)
            _arguments.check_directory("--out", directory)
            result.save(directory)
        if arguments.json is not None:
            write_data(arguments.json, result.json_pieces())
    show("\n".join(map(_text, results.values())), beside_data=arguments.json == "-")
    for warning in dict.fromkeys(warning for result in results.values() for warning in result.warnings):
        note(f"warning: {warning}")
    return 0


def _read(arguments: argparse.Namespace) -> dict[str, Result]:
    with Progress.fitting(Path(arguments.captures[0]).stem, "files") as progress:
        count = len(arguments.captures)
        try:
            return read(arguments.captures, arguments.repeats, lambda part: progress.update(part, 0, count))
        except ValueError as error:
            raise Mistake(str(error)) from None
        except OSError as error:
            raise Mistake(f"{error.filename}: {error.strerror}") from None


def _text(result: Result) -> str:
    first = result.runs[0]["capture"]
    length_s = first["to_s"] - first["from_s"]
    files = ", ".join(file for run in result.runs for file in run["capture"]["files"])
    return f"{first['version']}, {plain(length_s, 3)} s: {files}\n{summary_text(result)}"
