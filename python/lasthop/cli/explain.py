"""`lasthop explain`: the use of time by each flow and channel, or the causes of a difference."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..data.result import Result
from ..study.progress import Progress
from ..study.scenario import Scenario
from ..study.simulation import simulate
from ..views import plot
from ..views.explain import (
    Explanation,
    captured_text,
    difference_of,
    explanation_of,
    is_captured,
    to_be_run,
    with_account,
)
from ..views.explain.text import difference_document, difference_text, explanation_document, explanation_text
from . import _arguments
from ._code import load_code_of
from ._explain_chart import chart_of
from ._mistake import Mistake
from ._output import note, note_few, show, write_data
from ._table import table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop explain`."""
    what = "directory or JSON file of `lasthop run`, or a scenario file to run now"
    parser.add_argument("result", metavar="RESULT", help=what)
    parser.add_argument("other", metavar="B", nargs="?", help="a second result or scenario: explain the difference")
    _arguments.add_settings(parser)
    _arguments.add_seeds(parser)
    _arguments.add_flow(parser, "(default: of many flows those that suffer most of each kind of traffic)")
    _arguments.add_allow_code(parser)
    parser.add_argument(
        "--json", metavar="FILE", help="write the explanation as JSON to FILE, or to standard output with -"
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="draw stacked bars to FILE (.png, .pdf or .svg) or write their data (.csv)"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Reads or runs, then prints the explanation."""
    seeds, jobs = _arguments.seeds_of(arguments), _arguments.jobs_of(arguments)
    _arguments.check_file("--json", arguments.json)
    _check_plot(arguments.plot)
    paths = [path for path in (arguments.result, arguments.other) if path is not None]
    # All are read and checked before one runs.
    read = [_arguments.result_or_scenario(path, allow_code=arguments.allow_code) for path in paths]
    sides = [_arguments.laid_over(side, path, arguments.settings) for side, path in zip(read, paths, strict=True)]
    if len(sides) == 1 and isinstance(sides[0], Result) and is_captured(sides[0]):
        return _show_captured(sides[0], arguments)
    load_code_of(to_be_run(sides))
    results = [_accounted(side, path, seeds, jobs) for path, side in zip(paths, sides, strict=True)]
    for path, result in zip(paths, results, strict=True):
        for warning in result.warnings:
            note(f"warning: {path}: {warning}")
    explanations = [_arguments.of_flows(explanation_of(result), arguments) for result in results if result.runs]
    if len(explanations) == len(paths):
        _show(arguments, paths, explanations)
        note_few(min(len(explanation.seeds) for explanation in explanations))
    failures = [failure for result in results for failure in result.failures]
    for failure in failures:
        note(failure["error"])
    return 1 if failures else 0


def _show_captured(result: Result, arguments: argparse.Namespace) -> int:
    for option in ("json", "plot"):
        if getattr(arguments, option) is not None:
            what = "is read from captures, which hold no account of all time"
            raise Mistake(f"--{option}: {arguments.result} {what}; leave it out to see what they tell")
    try:
        show(captured_text(result, arguments.flow))
    except LookupError as error:
        raise Mistake(f"--flow: {error.args[0]}") from None
    return 0


def _check_plot(file: str | None) -> None:
    _arguments.check_file("--plot", file)
    try:
        if file is not None:
            plot.file_format(file)
    except ValueError as error:
        raise Mistake(f"--plot {error}") from None


def _accounted(side: Result | Scenario, path: str, seeds: list[int], jobs: int) -> Result:
    with Progress.fitting(path) as progress:
        if isinstance(side, Result):
            return with_account(side, jobs=jobs, progress=progress)
        result = simulate(side, seeds, jobs, None, progress, account=True)
    if result.interrupted:
        raise KeyboardInterrupt
    return result


def _show(arguments: argparse.Namespace, paths: list[str], explanations: list[Explanation]) -> None:
    if len(explanations) == 1:
        text, document = explanation_text(explanations[0], table), explanation_document(explanations[0])
    else:
        difference = difference_of(*explanations)
        names = "".join(f"{label}: {Path(path)}\n" for label, path in zip("AB", paths, strict=True))
        text, document = f"{names}\n{difference_text(difference, table)}", difference_document(difference)
    if arguments.json is not None:
        write_data(arguments.json, [_json_text(document)])
    if arguments.plot is not None:
        plot.write(chart_of(explanations), arguments.plot)
    show(text, beside_data=arguments.json == "-")


def _json_text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
