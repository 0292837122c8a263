"""`lasthop schema`: the JSON Schema of a scenario file."""

from __future__ import annotations

import argparse
import json
import sys

from .. import _core

SUMMARY = "print the JSON Schema of a scenario file, for editors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def execute(_arguments: argparse.Namespace) -> int:
    """Prints the schema."""
    sys.stdout.write(json.dumps(json.loads(_core.schema_json()), indent=2, ensure_ascii=False) + "\n")
    return 0
