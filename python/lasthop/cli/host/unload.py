"""`lasthop host unload`: removes a mechanism from this machine's kernel."""

from __future__ import annotations

import argparse

from ...kernel.bpf import unload
from ...kernel.bpf.programs import NAMES
from .._output import note
from ._programs import on_this_host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop host unload`."""
    parser.add_argument("name", metavar="NAME", choices=NAMES, help=", ".join(NAMES))
    parser.add_argument("--device", metavar="DEVICE", help="unload it from this device only (default: from all)")


def execute(arguments: argparse.Namespace) -> int:
    """Unloads it; 77 if this machine cannot load programs."""
    return on_this_host(lambda: _unload(arguments.name, arguments.device))


def _unload(name: str, device: str | None) -> None:
    for one in unload(name, device):
        note(f"{one.name} is unloaded" + (f" from {one.device}" if one.device else ""))
