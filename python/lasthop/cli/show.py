"""`lasthop show`: one thing that can be chosen by name, with its parameters."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from .. import _core
from ..scenario import readable_text

SUMMARY = "show what a name stands for and its parameters"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `lasthop show` accepts."""
    parser.add_argument("name", metavar="NAME", help="e.g. cubic, tcp.profile.ns2, or a section: bss, bss.ap")
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Prints what is known of the name."""
    entry = json.loads(_core.show_json(readable_text(arguments.name)))
    sys.stdout.write(json.dumps(entry, indent=2, ensure_ascii=False) + "\n" if arguments.json else _text(entry))
    return 0


def _text(entry: dict[str, Any]) -> str:
    head = f"{entry['name']} ({entry['kind']}): {entry['summary']}\n"
    facts = [f"{key}: {entry[key]}\n" for key in ("source", "status") if entry.get(key)]
    parameters = [_parameter(parameter) for parameter in entry.get("parameters", [])]
    return head + "".join(facts) + ("\n" + "".join(parameters) if parameters else "")


def _parameter(parameter: dict[str, Any]) -> str:
    # Without a fixed default the help says what holds instead; few of these must be given.
    default = parameter.get("default")
    facts = [f"default {default}"] if default is not None else []
    facts += [parameter["form"]] if parameter.get("form") else []
    return f"  {parameter['name']} ({'; '.join(facts)})\n      {parameter['help']}\n"
