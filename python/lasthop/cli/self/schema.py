"""`lasthop self schema`: the JSON Schema of a scenario file, or of a result."""

from __future__ import annotations

import argparse
import json
import sys

from ... import _core


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop self schema`."""
    parser.add_argument(
        "--result",
        action="store_true",
        help="print the schema of the result file (`--json`), with the meaning of each number",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Prints the schema."""
    text = _core.result_schema_json() if arguments.result else _core.schema_json()
    sys.stdout.write(json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n")
    return 0
