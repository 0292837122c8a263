"""`lasthop host deploy`: the commands that give hosts a scenario's mechanisms."""

from __future__ import annotations

import argparse
import json
import tomllib

from ...kernel.bpf.deployment import deployment
from .. import _arguments
from .._mistake import Mistake
from .._output import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop host deploy`."""
    parser.add_argument("file", metavar="FILE", help="scenario file (TOML), or a name of `lasthop list scenario`")
    _arguments.add_settings(parser)
    parser.add_argument(
        "--device", metavar="DEVICE", default="wlan0", help="the Wi-Fi device of stations and AP (default wlan0)"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the commands and run nothing; required, as lasthop does not reach the hosts itself",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Prints a line for each command and, after a #, for each remark."""
    if not arguments.dry_run:
        raise Mistake(
            "deploy: cannot reach hosts; give --dry-run to print the commands for each host, and run them there"
        )
    scenario = _arguments.scenario_of(arguments)
    resolved = json.loads(scenario.resolve().to_json())
    lines = deployment(resolved, tomllib.loads(scenario.text), arguments.device)
    for host in dict.fromkeys(line.host for line in lines):
        own = [line.text if line.is_command else f"# {line.text}" for line in lines if line.host == host]
        show("\n".join((f"# {host}", *own, "")))
    return 0
