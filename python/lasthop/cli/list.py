"""`lasthop list`: what can be chosen by name."""

from __future__ import annotations

import argparse
import json
import sys

from .. import _core
from ..scenario import readable_text
from ._output import table

SUMMARY = "list what can be chosen by name"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `lasthop list` accepts."""
    parser.add_argument("kind", metavar="KIND", nargs="?", help="only this kind, e.g. congestion_control")
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Prints the list."""
    entries = json.loads(_core.list_json(arguments.kind and readable_text(arguments.kind)))
    if arguments.json:
        sys.stdout.write(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")
        return 0
    head = ["kind", "name", "summary", "source", "status"]
    sys.stdout.write(table(head, [[str(entry.get(key) or "") for key in head] for entry in entries], left=len(head)))
    return 0
