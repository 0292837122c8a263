"""`lasthop list`: what can be chosen by name, and what is measured."""

from __future__ import annotations

import argparse
import json
import sys

from .. import _core
from ..scenario import readable_text
from ._table import table

SUMMARY = "list what can be chosen by name, and what is measured"
QUANTITY = "quantity"
HEAD = ["kind", "name", "summary", "source", "status"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `lasthop list` accepts."""
    parser.add_argument("kind", metavar="KIND", nargs="?", help="only this kind, e.g. congestion_control; or quantity: what is measured")
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Prints the list."""
    head = ["name", "unit", "type", "only", "summary"] if arguments.kind == QUANTITY else HEAD
    entries = json.loads(_core.list_json(arguments.kind and readable_text(arguments.kind)))
    if arguments.json:
        sys.stdout.write(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")
        return 0
    sys.stdout.write(table(head, [[str(entry.get(key) or "") for key in head] for entry in entries], left=len(head)))
    return 0
