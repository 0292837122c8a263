"""`lasthop sweep`: every combination of some settings, each for the same seeds."""

from __future__ import annotations

import argparse
import csv
import io
from itertools import groupby
from typing import Any

from ..confidence import estimate
from ..headline import mean_and_interval
from ..progress import Progress
from ..simulation import RunFailed
from ..sweep import grid, sweep_rows
from . import _arguments
from ._mistake import Mistake
from ._output import aside, note, table, write_data

SUMMARY = "run every combination of some settings"
NOT_YET = {"store": "a store of sweeps", "executor": "running on other machines", "until": "choosing the number of seeds"}
COLUMNS = (
    ("goodput (Mbit/s)", "totals.goodput_bps", 1e-6, 3),
    ("Jain's index", "totals.jain_index", 1, 4),
    ("collision probability", "medium.collision_probability", 1, 4),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `lasthop sweep` accepts."""
    _arguments.add_scenario(parser)
    parser.add_argument(
        "--over",
        metavar="PATH=V1,V2,...",
        action="append",
        default=[],
        help="what to vary, repeatable (default: the file's [sweep] table)",
    )
    _arguments.add_seeds(parser)
    parser.add_argument("--csv", metavar="FILE", help="write one row for each point and seed, or to standard output with -")
    for option, what in NOT_YET.items():
        parser.add_argument(f"--{option}", metavar="X", help=f"not there yet: {what}")


def execute(arguments: argparse.Namespace) -> int:
    """Checks every point, then runs them one after another."""
    for option, what in NOT_YET.items():
        if getattr(arguments, option) is not None:
            raise Mistake(f"--{option}: {what} is not there yet")
    seeds, jobs = _arguments.seeds_of(arguments), _arguments.jobs_of(arguments)
    over = dict(_axis(text) for text in arguments.over)
    try:
        points = grid(_arguments.scenario_of(arguments), over)
    except ValueError as error:
        raise Mistake(str(error).replace("over={path: values}", "--over PATH=V1,V2,...")) from None
    _arguments.check_file("--csv", arguments.csv)
    try:
        rows, interrupted = sweep_rows(points, seeds, jobs, Progress.fitting)
    except RunFailed as failure:
        note(str(failure))
        return 1
    if rows and arguments.csv is not None:
        write_data(arguments.csv, [_csv(rows)])
    if rows:
        aside(data_on_stdout=arguments.csv == "-").write(_table(rows, list(points[0][0])))
    if interrupted:
        note("interrupted; what was finished is kept")
        return 130
    return 0


def _axis(text: str) -> tuple[str, list[str]]:
    path, equals, values = text.partition("=")
    if not equals or not path.strip() or not all(value.strip() for value in values.split(",")):
        raise Mistake(f"--over {text!r}: is not of the form PATH=V1,V2,..., e.g. station.0.count=1,2,4")
    return path.strip(), [value.strip() for value in values.split(",")]


def _csv(rows: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _table(rows: list[dict[str, Any]], paths: list[str]) -> str:
    lines = []
    for point, group in groupby(rows, key=lambda row: [str(row[path]) for path in paths]):
        runs = list(group)
        cells = []
        for _, metric, scale, decimals in COLUMNS:
            values = [row[metric] * scale for row in runs if metric in row]
            cells.append(mean_and_interval(estimate(values), decimals))
        lines.append([*point, *cells])
    return table([*paths, *(column[0] for column in COLUMNS)], lines, left=len(paths))
