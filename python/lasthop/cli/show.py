"""`lasthop show`: one thing that can be chosen by name with its parameters, or a metric with its unit."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from .. import ScenarioError, _core
from ..metric import METRICS, Metric, metric_of
from ..scenario import readable_text
from .list import metric_entry

SUMMARY = "show what a name stands for and its parameters"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `lasthop show` accepts."""
    parser.add_argument(
        "name", metavar="NAME", help="e.g. cubic, tcp.profile.ns2, a section: bss, bss.ap, or a metric: goodput_bps"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Prints what is known of the name."""
    name = readable_text(arguments.name)
    try:
        entry = json.loads(_core.show_json(name))
    except ScenarioError:
        # Nothing in a scenario file; a number of a result, perhaps.
        if not (metrics := _metrics(name)):
            raise
        entries = [metric_entry(metric) for metric in metrics]
        sys.stdout.write(_json(entries) if arguments.json else "".join(map(_metric_text, entries)))
        return 0
    sys.stdout.write(_json(entry) if arguments.json else _text(entry))
    return 0


def _metrics(name: str) -> list[Metric]:
    """A metric by its dotted name, or all of a key."""
    if (metric := metric_of(name)) is not None:
        return [metric]
    return [metric for metric in METRICS if metric.key == name]


def _json(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _metric_text(entry: dict[str, Any]) -> str:
    unit = f" in {entry['unit']}" if entry["unit"] else ""
    return f"{entry['name']} (metric{unit}): {entry['summary']}\n"


def _text(entry: dict[str, Any]) -> str:
    head = f"{entry['name']} ({entry['kind']}): {entry['summary']}\n"
    facts = [f"{key}: {entry[key]}\n" for key in ("source", "status") if entry.get(key)]
    parameters = [_parameter(parameter) for parameter in entry.get("parameters", [])]
    return head + "".join(facts) + ("\n" + "".join(parameters) if parameters else "")


def _parameter(parameter: dict[str, Any]) -> str:
    # Without a fixed default the help says what holds instead; few of these must be given.
    default = parameter.get("default")
    facts = [f"default {default}"] if default is not None else []
    others = parameter.get("default_with_profile", {})
    facts += [f"with profile {profile}: {value}" for profile, value in others.items()]
    facts += [parameter["form"]] if parameter.get("form") else []
    return f"  {parameter['name']} ({'; '.join(facts)})\n      {parameter['help']}\n"
