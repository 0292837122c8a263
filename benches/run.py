"""Speed of lasthop on this machine, with ns-2 and ns-3 where they are installed, and with the last run here; prints Markdown.

`lasthop self bench` runs this. How it is measured, and why so: README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path

import history
import report
import scale
from aims import Aim, aims
from cases import CASES
from checks import Check, checks
from child import Failed, note
from endpoint import endpoint_checks
from engines import engines, facts
from simulators import Lasthop, peers
from table import Table

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "scale.svg"


def main() -> int:
    """Measures everything and writes it down."""
    arguments = _arguments()
    started = time.monotonic()
    found = engines()
    table = Table([*map(Lasthop, found), *([] if arguments.quick else peers())])
    try:
        held, aimed = _measure(table, arguments)
        grown = scale.growths(found[0], quick=arguments.quick) if arguments.scale or arguments.write else []
    except Failed as failure:
        note(str(failure))
        return 1
    wall_s = time.monotonic() - started
    written = report.tables(table, aimed, held, grown, found)
    print(report.markdown(written, wall_s))
    costs, before = table.costs(), history.last()
    if before is not None:
        print("\n" + report.changes(history.changes(costs, before["costs"]), before))
    history.keep(costs, (facts(found[0]) or ("unknown", False))[0])
    for page in arguments.write:
        report.write(Path(page), written)
    if arguments.write:
        scale.draw(grown, PICTURE)
    if arguments.json:
        document = report.document(table, aimed, held, grown, wall_s) | {"machine": machine()}
        Path(arguments.json).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


def _measure(table: Table, arguments: argparse.Namespace) -> tuple[list[Check], list[Aim]]:
    """What is held in any case, and what is aimed at; the engines and their peers take turns."""
    held = []
    for check in checks(1 if arguments.quick else arguments.rounds):
        note(check.what)
        held.append(check)
    note("a segment and its ACK at two endpoints")
    held.extend(endpoint_checks())
    for seed in range(1, arguments.rounds + 1):
        for case in CASES:
            note(f"round {seed} of {arguments.rounds}: {case.title}")
            table.measure(case, seed)
    aimed = aims(table, engines(), arguments.rounds, quick=arguments.quick)
    return [*table.targets(), *held], aimed


def machine() -> dict[str, str | int | None]:
    """In general words, where this ran."""
    return {"architecture": platform.machine(), "system": platform.system(), "cores": os.cpu_count()}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--scale", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--write", metavar="FILE", action="append", default=[])
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
