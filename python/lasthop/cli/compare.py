"""`lasthop compare`: two results, or two scenarios that are run first, and how sure their difference is."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..comparison import Comparison, compare
from ..explain import Difference, difference_of, explanation_of, with_account
from ..explain.text import difference_document, difference_text
from ..headline import mean_and_interval
from ..progress import Progress
from ..result import Result
from ..simulation import simulate
from . import _arguments
from ._mistake import Mistake
from ._output import aside, note, table, write_data

SUMMARY = "compare two results or scenarios, with the confidence interval of their difference"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `lasthop compare` accepts."""
    what = "directory or JSON file of `lasthop run`, or a scenario file to run now"
    parser.add_argument("a", metavar="A", help=what)
    parser.add_argument("b", metavar="B", help=what)
    _arguments.add_seeds(parser)
    parser.add_argument(
        "--metric",
        metavar="GLOB",
        action="append",
        default=[],
        help='metrics by their dotted names instead of the usual ones, e.g. --metric "flows.*.goodput_bps"; repeatable',
    )
    parser.add_argument(
        "--explain", action="store_true", help="also say why they differ, in the terms of `lasthop explain`"
    )
    parser.add_argument("--json", metavar="FILE", help="write the rows as JSON to FILE, or to standard output with -")


def execute(arguments: argparse.Namespace) -> int:
    """Reads or runs both sides, then prints the table."""
    seeds, jobs = _arguments.seeds_of(arguments), _arguments.jobs_of(arguments)
    _arguments.check_file("--json", arguments.json)
    # Both are read and checked before either runs.
    sides = [_arguments.result_or_scenario(path) for path in (arguments.a, arguments.b)]
    results = []
    for path, side in zip((arguments.a, arguments.b), sides, strict=True):
        if not isinstance(side, Result):
            with Progress.fitting(path) as progress:
                side = simulate(side, seeds, jobs, None, progress, account=arguments.explain)
            if side.interrupted:
                raise KeyboardInterrupt
        results.append(side)
    rows, difference = compare(*results, arguments.metric), _explained(arguments, results, jobs)
    if not rows:
        raise Mistake(f"--metric {' '.join(arguments.metric)}: matches nothing in either result")
    if arguments.json is not None:
        write_data(arguments.json, [_json(arguments, rows, difference)])
    out = aside(data_on_stdout=arguments.json == "-")
    out.write(comparison_text(arguments.a, arguments.b, rows))
    if difference is not None:
        out.write(f"\n{difference_text(difference, table)}")
    failures = [failure for result in results for failure in result.failures]
    for failure in failures:
        note(failure["error"])
    return 1 if failures else 0


def _explained(arguments: argparse.Namespace, results: list[Result], jobs: int) -> Difference | None:
    """Why they differ, if that is asked for."""
    if not arguments.explain:
        return None
    explained = []
    for path, result in zip((arguments.a, arguments.b), results, strict=True):
        with Progress.fitting(path) as progress:
            explained.append(explanation_of(with_account(result, jobs=jobs, progress=progress)))
    return difference_of(*explained)


def comparison_text(a: str, b: str, rows: list[Comparison]) -> str:
    """The comparison as a table; A and B are named above it."""
    lines = [
        [
            f"{row.label} ({row.unit})" if row.unit else row.label,
            mean_and_interval(row.a, row.decimals),
            mean_and_interval(row.b, row.decimals),
            "-" if row.difference is None else mean_and_interval(row.difference.estimate, row.decimals),
            _share(row),
        ]
        for row in rows
    ]
    paired = any(row.difference is not None and row.difference.paired for row in rows)
    how = "seed by seed" if paired else "of independent means (the seeds differ)"
    head = ["", "A", "B", "B - A", "B / A - 1"]
    return f"A: {a}\nB: {b}\n\n{table(head, lines)}\nMeans ± 95 % CI; differences are taken {how}.\n"


def _share(row: Comparison) -> str:
    if row.a is None or row.b is None or row.a.mean == 0:
        return "-"
    return f"{100 * (row.b.mean / row.a.mean - 1):+.1f} %"


def _json(arguments: argparse.Namespace, rows: list[Comparison], difference: Difference | None) -> str:
    document = {"a": arguments.a, "b": arguments.b, "rows": [_json_row(row) for row in rows]}
    if difference is not None:
        document["explanation"] = difference_document(difference)
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _json_row(row: Comparison) -> dict[str, Any]:
    difference = row.difference and {**row.difference.estimate._asdict(), "paired": row.difference.paired}
    sides = {"a": row.a and row.a._asdict(), "b": row.b and row.b._asdict()}
    return {"metric": row.label, "unit": row.unit, **sides, "difference": difference}
