"""`lasthop theory`: closed forms for a scenario next to its simulation."""

from __future__ import annotations

import argparse
import json
from typing import Any

from .. import _core
from ..data.confidence import Estimate, estimate
from ..data.result import Result
from ..study.headline import mean_and_interval, number
from ..study.progress import Progress
from ..study.scenario import Scenario
from ..study.simulation import simulate
from . import _arguments
from ._mistake import Mistake
from ._output import note, show, write_data
from ._table import table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop theory`."""
    _arguments.add_scenario(parser)
    _arguments.add_seeds(parser)
    parser.add_argument("--json", metavar="FILE", help="write the rows as JSON to FILE, or to standard output with -")


def execute(arguments: argparse.Namespace) -> int:
    """Asks for the closed forms first, so that a scenario without any fails before it runs."""
    seeds, jobs = _arguments.seeds_of(arguments), _arguments.jobs_of(arguments)
    scenario = _arguments.scenario_of(arguments)
    resolved = scenario.resolve()
    rows = json.loads(_core.theory_json(resolved))["rows"]
    _arguments.check_file("--json", arguments.json)
    if not any(row["closed_form"] is not None for row in rows):
        raise Mistake(f"{arguments.file}: no closed form holds for this scenario; `lasthop run` simulates it")
    if resolved.code():
        note("closed forms alone: the scenario brings code, which `lasthop theory` does not load; `lasthop run` does")
        result = None
    else:
        result = _simulate(scenario, seeds, jobs)
    compared = [(row, None if result is None else _simulated(row, result)) for row in rows]
    if arguments.json is not None:
        document = {"rows": [{**row, "simulated": found and found._asdict()} for row, found in compared]}
        write_data(arguments.json, [json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False), "\n"])
    show(_table(compared), beside_data=arguments.json == "-")
    return 1 if result is not None and result.failures else 0


def _simulate(scenario: Scenario, seeds: list[int], jobs: int) -> Result:
    with Progress.fitting("simulating") as progress:
        result = simulate(scenario, seeds, jobs, None, progress)
    for failure in result.failures:
        note(failure["error"])
    if result.interrupted:
        raise KeyboardInterrupt
    return result


def _simulated(row: dict[str, Any], result: Result) -> Estimate | None:
    return estimate(list(result.metrics.get(row.get("simulated_metric") or "", {}).values()))


def _table(compared: list[tuple[dict[str, Any], Estimate | None]]) -> str:
    lines: list[list[str]] = []
    notes: dict[str, int] = {}
    for row, simulated in compared:
        scale, unit, decimals = _shown_in(row["unit"])
        closed_form = row["closed_form"]
        quantity = f"{row['quantity']} ({unit})" if unit else row["quantity"]
        if row.get("note"):
            quantity += f" [{notes.setdefault(row['note'], len(notes) + 1)}]"
        lines.append(
            [
                quantity,
                "-" if closed_form is None else number(closed_form * scale, decimals),
                mean_and_interval(simulated and simulated.scaled(scale), decimals),
                _departure(closed_form, simulated),
                row.get("source") or "",
            ]
        )
    head = ["", "closed form", "simulated ± 95 % CI", "difference", "source"]
    remarks = "".join(f"[{number}] {text}\n" for text, number in notes.items())
    return table(head, lines) + (f"\n{remarks}" if remarks else "")


def _shown_in(unit: str) -> tuple[float, str, int]:
    return {"bit/s": (1e-6, "Mbit/s", 3), "s": (1e3, "ms", 4)}.get(unit, (1.0, unit, 5))


def _departure(closed_form: float | None, simulated: Estimate | None) -> str:
    if not closed_form or simulated is None:
        return "-"
    return f"{100 * (simulated.mean / closed_form - 1):+.1f} %"
