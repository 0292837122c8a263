"""`lasthop sweep`: every combination of some settings, or those that are paired or drawn, each for the same seeds."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from ..data.arguments import on_command_line
from ..data.confidence import estimate
from ..data.diagnostic import ScenarioError
from ..data.metric import UnknownMetric, matching, shown
from ..data.quantities import MEDIUM, TOTALS
from ..study.axis import axis_values, short_names, split
from ..study.design import Design, Sample, drawn_cells, drawn_words, no_sample, wanted
from ..study.executor import ExecutorError
from ..study.executor.dask import Dask
from ..study.executor.local import Threads
from ..study.headline import label, mean_and_interval
from ..study.progress import Progress
from ..study.ranges import DESIGNS, is_range
from ..study.scenario import Scenario
from ..study.simulation import HeldInterrupt
from ..study.store import Memory, Store
from ..study.sweep import SHOWN, Point, Swept, grid, run_points
from . import _arguments, _rows
from ._code import load_code
from ._mistake import Mistake
from ._output import note, note_few, show
from ._table import table

WARNINGS_SHOWN = 10
ELSEWHERE = {
    "--resume": "a store goes on by itself; `lasthop sweep FILE … --store runs.duckdb`, given again, runs what the store lacks"
}
COLUMNS = (TOTALS.goodput_bps, TOTALS.jain_index, MEDIUM.collision_probability)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop sweep`."""
    _arguments.add_scenario(parser)
    parser.add_argument(
        "--over",
        metavar="PATH=V1,V2,...",
        action="append",
        default=[],
        help="setting to vary and its values; repeatable (default: the file's [sweep] table); commas inside brackets do not separate values; "
        "PATH=LOW..HIGH is a range for --sample",
    )
    parser.add_argument(
        "--zip",
        metavar="PATH=V1,V2,...",
        action="append",
        default=[],
        help="what varies in step: all --zip form one group, the first value of each, then the second; 'A=1,2; B=3,4' is a "
        "group of its own. Groups multiply with one another and with --over",
    )
    parser.add_argument(
        "--sample",
        metavar="N",
        type=_arguments.whole,
        help="draw N points in the ranges of --over: --over 'wired.delay=1 ms..100 ms'",
    )
    parser.add_argument(
        "--design", choices=DESIGNS, help="how --sample draws: a Latin hypercube (default), or at random"
    )
    parser.add_argument(
        "--design-seed", metavar="K", type=_arguments.whole, help="the seed of the draws of --sample (default 1)"
    )
    _arguments.add_seeds(parser)
    _arguments.add_until(parser)
    parser.add_argument(
        "--store", metavar="FILE", help="store every run in FILE (DuckDB) and run only those that are missing"
    )
    parser.add_argument(
        "--executor",
        choices=("local", "dask"),
        default="local",
        help="run on threads of this machine (default) or on a Dask cluster",
    )
    parser.add_argument("--address", metavar="A", help="address of the Dask scheduler, e.g. tcp://10.0.0.1:8786")
    _rows.add_output(parser, "one row for each point and seed")


def execute(arguments: argparse.Namespace) -> int:
    """Checks every point, then runs those that the store lacks."""
    rule, seeds = _arguments.until_of(arguments), _arguments.seeds_of(arguments)
    scenario = _arguments.scenario_of(arguments)
    design = _design(arguments, scenario)
    points = _points(arguments, scenario, design)
    load_code(point.scenario.resolve() for point in points)
    executor = _executor(arguments)
    _rows.check_output(arguments)
    if arguments.store == "":
        raise Mistake("--store: the name of a file is needed")
    _arguments.check_name("--store", arguments.store or "")
    store = Memory(forgets=True) if arguments.store is None else Store.open(arguments.store)
    # Runs that are finished are shown and written, whatever comes in between.
    with HeldInterrupt() as held:
        try:
            with Progress.fitting("sweep", "runs") as progress:
                swept = run_points(
                    points,
                    rule or seeds,
                    store,
                    metrics=arguments.metric,
                    executor=executor,
                    progress=progress,
                    held=held,
                    shown=SHOWN if arguments.csv or arguments.parquet else [each.path for each in COLUMNS],
                )
        except ExecutorError as error:
            raise Mistake(f"--executor dask: {error}") from None
        except UnknownMetric as unknown:
            raise Mistake(f"--metric {unknown}") from None
        _show(arguments, swept, design, stopped=rule is not None)
    return _report(arguments, swept, design)


def _design(arguments: argparse.Namespace, scenario: Scenario) -> Design:
    over = _axes("--over", arguments.over)
    for path, values in over.items():
        over[path] = values[0] if len(values) == 1 and is_range(values[0]) else values
    sample = None
    if arguments.sample is not None:
        sample = Sample(
            arguments.sample,
            arguments.design or DESIGNS[0],
            1 if arguments.design_seed is None else arguments.design_seed,
        )
    elif arguments.design is not None or arguments.design_seed is not None:
        raise Mistake(on_command_line(no_sample()))
    try:
        return wanted(scenario, over, _groups(arguments.zip), sample)
    except ValueError as error:
        raise Mistake(on_command_line(error)) from None


def _groups(texts: Sequence[str]) -> list[dict[str, list[Any]]]:
    """Returns the groups: one for each --zip with semicolons, and one for all the others together."""
    together, groups = [], []
    for text in texts:
        try:
            parts = [part for part in split(text, ";") if part.strip()]
        except ValueError as error:
            raise Mistake(f"--zip {text!r}: {error}") from None
        if len(parts) > 1:
            groups.append(_axes("--zip", parts))
        else:
            together += parts or [text]
    return ([_axes("--zip", together)] if together else []) + groups


def _points(arguments: argparse.Namespace, scenario: Scenario, design: Design) -> list[Point]:
    try:
        return grid(scenario, design)
    except ScenarioError as error:
        # A point is a scenario with settings; here they are from options or from the file.
        sentences = (mistake.sentence(partial(_option_of, arguments, design)) for mistake in error.diagnostics)
        raise Mistake("\n".join(sentences)) from None


def _option_of(arguments: argparse.Namespace, design: Design, path: str) -> str:
    """The option that has the setting of `path`."""
    if path not in design.paths:
        return "--set"
    options = {"--over": arguments.over, "--zip": arguments.zip}
    return next((option for option, texts in options.items() if any(path in text for text in texts)), "[sweep]")


def _axes(option: str, texts: Iterable[str]) -> dict[str, list[Any]]:
    axes: dict[str, list[Any]] = {}
    for text in texts:
        path, values = _axis(option, text)
        if path in axes:
            raise Mistake(f"{option} {path}: is given twice; write all its values after one")
        axes[path] = values
    return axes


def _axis(option: str, text: str) -> tuple[str, list[Any]]:
    path, equals, values = text.partition("=")
    if not equals or not path.strip():
        raise Mistake(f"{option} {text!r}: is not of the form PATH=V1,V2,..., e.g. station.0.count=1,2,4")
    try:
        return path.strip(), axis_values(values)
    except ValueError as error:
        raise Mistake(f"{option} {text!r}: {error}") from None


def _executor(arguments: argparse.Namespace) -> Any:
    jobs = _arguments.jobs_of(arguments)
    if arguments.executor == "local":
        if arguments.address is not None:
            raise Mistake("--address: has no effect without --executor dask")
        return Threads(jobs)
    if arguments.address is None:
        raise Mistake("--executor dask: needs --address, the address of the scheduler, e.g. tcp://10.0.0.1:8786")
    if arguments.jobs is not None:
        raise Mistake("--jobs: has no effect with --executor dask, whose workers set their own number of threads")
    return Dask(arguments.address)


def _show(arguments: argparse.Namespace, swept: Swept, design: Design, *, stopped: bool) -> None:
    if not swept.rows:
        return
    paths = list(design.paths)
    names = list(dict.fromkeys(name for row in swept.rows for name in row))
    if arguments.csv is not None or arguments.parquet is not None:
        # Drawn points record how they were drawn, whatever their table is used for.
        drawn = {} if design.drawn is None else drawn_cells(design.drawn)
        rows = [[*(row.get(name) for name in names), *drawn.values()] for row in swept.rows]
        _rows.write_output(arguments, [*names, *drawn], rows, swept)
    chosen = [name for pattern in arguments.metric for name in matching(pattern, names)]
    columns = [_column(name) for name in dict.fromkeys(chosen)]
    columns = columns or [(each.axis, each.path, each.shown.scale, each.shown.decimals) for each in COLUMNS]
    text = _table(swept.rows, paths, columns, stopped=stopped)
    show(text, beside_data="-" in (arguments.csv, arguments.parquet))
    note_few(max(Counter(tuple(row[path] for path in paths) for row in swept.rows).values()))


def _column(name: str) -> tuple[str, str, float, int]:
    """A column for any metric."""
    unit, scale, decimals = shown(name)
    return label(name, unit), name, scale, decimals


def _report(arguments: argparse.Namespace, swept: Swept, design: Design) -> int:
    counts = swept.counts
    if design.drawn is not None:
        note(drawn_words(design.drawn))
    for failure in counts.failures:
        note(failure)
    for warning in swept.warnings[:WARNINGS_SHOWN]:
        note(f"warning: {warning}")
    if (more := len(swept.warnings) - WARNINGS_SHOWN) > 0:
        note(f"and {more} more warnings")
    if arguments.store is not None:
        note(f"{arguments.store}: {counts.found} runs found, {counts.run} run")
    if counts.interrupted:
        kept = f"in {arguments.store}, and the same command goes on" if arguments.store else "above; --store keeps it"
        note(f"interrupted; what was finished is {kept}")
        return 130
    return 1 if counts.failures else 0


def _table(
    rows: Iterable[dict[str, Any]], paths: list[str], columns: Sequence[tuple[str, str, float, int]], *, stopped: bool
) -> str:
    names = {path: short_names(row[path] for row in rows) for path in paths}
    lines = []
    for point, group in groupby(rows, key=lambda row: [names[path][row[path]] for path in paths]):
        runs = list(group)
        interval = partial(estimate, stopped=stopped)
        cells = [str(len(runs))]
        for _, metric, scale, decimals in columns:
            values = [row[metric] * scale for row in runs if metric in row]
            cells.append(mean_and_interval(interval(values), decimals))
        lines.append([*point, *cells])
    return table([*paths, "seeds", *(column[0] for column in columns)], lines, left=len(paths))
