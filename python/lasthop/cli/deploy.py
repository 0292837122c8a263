"""`lasthop deploy`: what hosts would run to have a scenario's mechanisms."""

from __future__ import annotations

import argparse
import json
import tomllib

from ..hosts.deployment import deployment
from . import _arguments
from ._output import note, show

SUMMARY = "print the commands that bring a scenario's mechanisms to real hosts"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `lasthop deploy` accepts."""
    parser.add_argument("file", metavar="FILE", help="scenario file (TOML)")
    _arguments.add_settings(parser)
    parser.add_argument("--device", metavar="DEVICE", default="wlan0", help="the Wi-Fi device of stations and AP (default wlan0)")
    parser.add_argument("--dry-run", action="store_true", help="print, and run nothing: all that there is yet")


def execute(arguments: argparse.Namespace) -> int:
    """Prints a line each; what is no command stands behind a #."""
    scenario = _arguments.scenario_of(arguments)
    resolved = json.loads(scenario.resolve().to_json())
    lines = deployment(resolved, tomllib.loads(scenario.text), arguments.device)
    for host in dict.fromkeys(line.host for line in lines):
        own = [line.text if line.is_command else f"# {line.text}" for line in lines if line.host == host]
        show("\n".join((f"# {host}", *own, "")))
    if not arguments.dry_run:
        note("deploy only prints yet: copy the lines to the hosts that they are for")
    return 0
