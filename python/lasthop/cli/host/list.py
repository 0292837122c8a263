"""`lasthop host list`: the mechanisms, and where each is loaded."""

from __future__ import annotations

import argparse

from ...kernel.bpf import loaded
from ...kernel.bpf.programs import NAMES
from .._output import show
from .._table import table
from ._programs import PROGRAMS, on_this_host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds no arguments."""


def execute(_arguments: argparse.Namespace) -> int:
    """Prints a row for each mechanism; 77 if this machine cannot load programs."""
    return on_this_host(_list)


def _list() -> None:
    present: dict[str, list[str]] = {}
    for one in loaded():
        where = f" on {one.device}" if one.device else ""
        present.setdefault(one.name, []).append(f"{one.settings}{where}")
    rows = [[name, PROGRAMS[name], "; ".join(present.get(name, ["not loaded"]))] for name in NAMES]
    show(table(["name", "what it does", "loaded"], rows, left=3))
