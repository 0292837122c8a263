"""`lasthop compare`: two results, or two scenarios that are run first, and how sure their difference is."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..data.metric import UnknownMetric, check_names
from ..data.quantities import FLOW
from ..data.result import Result
from ..study.comparison import Comparison, compare, compare_until, comparison_table, how_compared
from ..study.overview import FLOWS_SHOWN
from ..study.pairing import Pairing, paired
from ..study.progress import Progress
from ..study.scenario import Scenario
from ..study.sequential import Until
from ..study.simulation import seed_list, simulate
from ..views.explain import Difference, difference_of, explanation_of, to_be_run, with_account
from ..views.explain.text import difference_document, difference_text
from . import _arguments
from ._code import load_code_of
from ._mistake import Mistake
from ._output import note, note_few, show, until_text, write_data
from ._table import table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop compare`."""
    what = "directory or JSON file of `lasthop run`, a scenario file to run now, or a capture"
    parser.add_argument("a", metavar="A", help=what)
    parser.add_argument("b", metavar="B", help=what)
    _arguments.add_settings_of_sides(parser)
    _arguments.add_seeds(parser)
    _arguments.add_until(parser)
    parser.add_argument(
        "--explain", action="store_true", help="also say why they differ, in the terms of `lasthop explain`"
    )
    _arguments.add_flow(parser, "(with --explain)")
    _arguments.add_allow_code(parser)
    parser.add_argument("--json", metavar="FILE", help="write the rows as JSON to FILE, or to standard output with -")


def execute(arguments: argparse.Namespace) -> int:
    """Reads or runs both sides, then prints the table."""
    until, jobs = _arguments.until_of(arguments), _arguments.jobs_of(arguments)
    seeds = seed_list(until.most) if until else _arguments.seeds_of(arguments)
    _arguments.check_file("--json", arguments.json)
    if arguments.flow and not arguments.explain:
        raise Mistake("--flow: selects flows for --explain; give that too, or --metric flows.ID.KEY")
    # Both are read and checked before either runs.
    sides = [_side(arguments, side) for side in "ab"]
    scenarios = to_be_run(sides) if arguments.explain else (side for side in sides if not isinstance(side, Result))
    load_code_of(scenarios)
    results = _until(arguments, sides, seeds, jobs, until) if until else _results(arguments, sides, seeds, jobs)
    *results, pairing = paired(*results)
    _check_metrics(arguments.metric, results)
    rows = compare(results[0], results[1], arguments.metric)
    if not arguments.metric and pairing is not None:
        rows += compare(results[0], results[1], _of_flows(results))
    why = _explained(arguments, results, jobs) if arguments.explain else None
    if arguments.json is not None:
        write_data(arguments.json, [_json(arguments, rows, pairing, results[0].until if until else None, why)])
    a, b = _names(arguments)
    text = comparison_text(a, b, rows)
    if pairing is not None:
        text += "\n".join(["", *pairing.sentences(FLOWS_SHOWN)]) + "\n"
    if why is not None:
        text += f"\n{difference_text(why, table)}"
    show(text, beside_data=arguments.json == "-")
    note_few(max((row.difference.estimate.n for row in rows if row.difference), default=0))
    if until and results[0].until:
        note(f"B - A, relative to A: {until_text(results[0].until)}")
    failures = [failure for result in results for failure in result.failures]
    for failure in failures:
        note(failure["error"])
    return 1 if failures else 0


def _side(arguments: argparse.Namespace, side: str) -> Result | Scenario:
    """Side `a` or `b` with its settings."""
    path = getattr(arguments, side)
    read = _arguments.laid_over(
        _arguments.result_or_scenario(path, allow_code=arguments.allow_code), path, arguments.settings
    )
    return _arguments.laid_over(read, path, getattr(arguments, f"settings_{side}"), f"--set-{side}")


def _names(arguments: argparse.Namespace) -> list[str]:
    """The file of each side, and how it was changed."""
    changed = {side: [*arguments.settings, *getattr(arguments, f"settings_{side}")] for side in "ab"}
    return [", ".join([getattr(arguments, side), *map("=".join, changed[side])]) for side in "ab"]


def _of_flows(results: list[Result]) -> list[str]:
    """The goodput and RTT of each of the first flows: a sum hides a flow that is far off."""
    known = {name for result in results for name, values in result.metrics.items() if values}
    flows = list(
        dict.fromkeys(
            flow for result in results for run in result.told_runs for flow in run.columns("flows", ["id"])[0]
        )
    )
    if len(flows) > FLOWS_SHOWN:
        note(f"{FLOWS_SHOWN} of {len(flows)} flows are shown; --metric '{FLOW.goodput_bps.path_of('*')}' shows all")
    names = [f"flows.{flow}.{key}" for flow in flows[:FLOWS_SHOWN] for key in (FLOW.goodput_bps, FLOW.rtt_mean_s)]
    return [name for name in names if name in known]


def _check_metrics(patterns: list[str], results: list[Result]) -> None:
    """Each name is of one of both at least: what one of them lacks is a difference too."""
    try:
        check_names(patterns, list(dict.fromkeys(name for result in results for name in result.metric_names)))
    except UnknownMetric as unknown:
        raise Mistake(f"--metric {unknown}") from None


def _results(
    arguments: argparse.Namespace, sides: list[Result | Scenario], seeds: list[int], jobs: int
) -> list[Result]:
    results = []
    for path, side in zip(_names(arguments), sides, strict=True):
        if not isinstance(side, Result):
            with Progress.fitting(path) as progress:
                side = simulate(side, seeds, jobs, None, progress, account=arguments.explain)
            if side.interrupted:
                raise KeyboardInterrupt
            _warn(path, side)
        else:
            for warning in side.moved:
                note(f"warning: {path}: {warning}")
        results.append(side)
    return results


def _until(
    arguments: argparse.Namespace, sides: list[Result | Scenario], seeds: list[int], jobs: int, until: Until
) -> list[Result]:
    scenarios = [side for side in sides if isinstance(side, Scenario)]
    if len(scenarios) < len(sides):
        raise Mistake("--until: adds seeds to scenarios; a result cannot get more")
    try:
        with Progress.fitting("comparing") as progress:
            results = compare_until(scenarios, seeds, jobs, until, progress)
    except UnknownMetric as unknown:
        raise Mistake(f"--metric {unknown}") from None
    if any(result.interrupted for result in results):
        raise KeyboardInterrupt
    for path, result in zip(_names(arguments), results, strict=True):
        _warn(path, result)
    return results


def _explained(arguments: argparse.Namespace, results: list[Result], jobs: int) -> Difference:
    """Why they differ; a side without an account is run again."""
    explained = []
    for path, result in zip(_names(arguments), results, strict=True):
        with Progress.fitting(path) as progress:
            explanation = explanation_of(with_account(result, jobs=jobs, progress=progress))
        explained.append(_arguments.of_flows(explanation, arguments))
    return difference_of(*explained)


def _warn(path: str, result: Result) -> None:
    for warning in result.warnings:
        note(f"warning: {path}: {warning}")


def comparison_text(a: str, b: str, rows: list[Comparison]) -> str:
    """The comparison as a table; A and B are named above it."""
    return f"A: {a}\nB: {b}\n\n{table(*comparison_table(rows))}{how_compared(rows)}\n"


def _json(
    arguments: argparse.Namespace,
    rows: list[Comparison],
    pairing: Pairing | None,
    until: dict[str, Any] | None,
    why: Difference | None,
) -> str:
    how = {} if until is None else {"until": until}
    a, b = _names(arguments)
    document = {"a": a, "b": b, **how, "rows": [_json_row(row) for row in rows]}
    if pairing is not None:
        document["flows"] = pairing.document()
    if why is not None:
        document["explanation"] = difference_document(why)
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _json_row(row: Comparison) -> dict[str, Any]:
    found = row.difference
    difference = found and {**found.estimate._asdict(), "paired": found.paired, "narrowing": found.narrowing}
    sides = {"a": row.a and row.a._asdict(), "b": row.b and row.b._asdict()}
    unit = row.unit if row.stored_unit is None else row.stored_unit
    return {"metric": row.label, "unit": unit, **sides, "difference": difference}
