"""`lasthop list`: names that scenarios can choose, ready scenarios and quantities."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib

from .. import _core
from ..data.ready import scenarios
from ..study.scenario import readable_text
from ._pager import show_paged
from ._table import table

QUANTITY, SCENARIO = "quantity", "scenario"
HEAD = ["kind", "name", "summary", "source", "status"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop list`."""
    parser.add_argument(
        "kind",
        metavar="KIND",
        nargs="?",
        help="list only this kind, e.g. congestion_control, quantity (all that is measured) or scenario (ready ones)",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Prints the list."""
    if arguments.kind == SCENARIO:
        return _scenarios(arguments.json)
    head = ["name", "unit", "type", "only", "summary"] if arguments.kind == QUANTITY else HEAD
    if arguments.kind and sys.stdout.isatty():
        head = [key for key in head if key != "kind"]  # the reader has just named it
    entries = json.loads(_core.list_json(arguments.kind and readable_text(arguments.kind)))
    if arguments.json:
        sys.stdout.write(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")
        return 0
    show_paged(table(head, [[str(entry.get(key) or "") for key in head] for entry in entries], left=len(head)))
    return 0


def _scenarios(as_json: bool) -> int:
    """The ready scenarios with their descriptions."""
    texts = ((name, tomllib.loads(file.read_text(encoding="utf-8"))) for name, file in scenarios().items())
    entries = [{"name": name, "summary": str(text.get("description", ""))} for name, text in texts]
    if as_json:
        sys.stdout.write(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")
    else:
        show_paged(table(["name", "summary"], [list(entry.values()) for entry in entries], left=2))
    return 0
