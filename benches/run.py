"""Speed of lasthop on this machine, beside ns-2 and ns-3 where they are installed; prints Markdown.

`lasthop bench` runs this. How it is measured, and why so: README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path

import report
from cases import CASES
from checks import checks
from child import Failed, note
from endpoint import endpoint_checks
from simulators import Lasthop, peers
from table import Table


def main() -> int:
    """Measures everything and writes it down."""
    arguments = _arguments()
    started = time.monotonic()
    others = [] if arguments.quick else peers()
    table = Table([Lasthop(), *others])
    measured = []
    try:
        for check in checks(1 if arguments.quick else arguments.rounds):
            note(check.what)
            measured.append(check)
        note("a segment and its ACK at two endpoints")
        measured.extend(endpoint_checks())
        for seed in range(1, arguments.rounds + 1):
            for case in CASES:
                note(f"round {seed} of {arguments.rounds}: {case.title}")
                table.measure(case, seed)
    except Failed as failure:
        note(str(failure))
        return 1
    wall_s = time.monotonic() - started
    print(report.markdown(table, measured, wall_s))
    if arguments.json:
        document = report.document(table, measured, wall_s) | {"machine": machine()}
        Path(arguments.json).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


def machine() -> dict[str, str | int | None]:
    """In general words, where this ran."""
    return {"architecture": platform.machine(), "system": platform.system(), "cores": os.cpu_count()}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
