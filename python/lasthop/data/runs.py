"""Runs of a result: tables of the engine, whichever version of lasthop or which other tool made them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .._core import Run
from .confidence import is_value
from .quantities import SIMULATOR, quantity_of

__all__ = ["NOT_SUMMARISED", "Run", "is_number", "metric_names", "run_of"]

# Wall-clock time is the only value that may differ between runs of the same seed: it has no mean.
NOT_SUMMARISED = {"seed", SIMULATOR.wall_s.path}
# Keys of names, which may be null.
NO_NUMBERS = ("congestion_control", "congestion_control_validation", "limit", "kind")


def run_of(run: Run | Mapping[str, Any]) -> Run:
    """Returns a run as tables; raises `ValueError` for a document that JSON cannot hold."""
    return run if isinstance(run, Run) else Run.parse(json.dumps(run, ensure_ascii=False, allow_nan=False))


def metric_names(run: Run) -> list[str]:
    """Returns the names of the numbers of `run`, with those that have no value in this run."""
    return [name for name in run.names() if _may_be_number(name)]


def is_number(value: Any) -> bool:
    """Returns whether a value of a run is a metric's."""
    return isinstance(value, int | float) and not isinstance(value, bool) and is_value(value)


def _may_be_number(name: str) -> bool:
    """Whether what is null there may be a number: neither a name nor a list."""
    key = name.rpartition(".")[2]
    quantity = quantity_of(name)
    return key not in NO_NUMBERS and (quantity is None or quantity.kind != "list")
