"""Tests of a testbed as a result, in the tables of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from pathlib import PurePath
from typing import Any

from ... import _core
from ...data.foreign_text import Unreadable
from ...data.nulls import fill
from ...data.origin import Origin, Source
from ...data.quantities import FLOW, TOTALS
from ...data.result import FORMAT, Result
from ...data.tables import Samples
from .files import read_tests
from .model import BULK, PROBABILITIES, QUIC, Flow, Test


def result_of(tests: Sequence[Test]) -> Result:
    """One test, or repetitions of one, which are runs with the seeds 1, 2, …

    Raises `Unreadable` if the flows differ.
    """
    first = tests[0]
    for test in tests[1:]:
        if _shape(test) != _shape(first):
            raise Unreadable(
                f"{test.files[0]}: is not a repetition of the test in {first.files[0]}, whose flows are {_said(first)}; here they are {_said(test)}"
            )
    files = [file for test in tests for file in test.files]
    name = first.name or stem_of(first)
    scenario = {
        "name": name,
        "description": f"read from {', '.join(files)}",
        "warmup": f"{first.from_s!r} s",
        "duration": f"{first.to_s!r} s",
        "bss": [],
        "station": [],
        "flow": [],
    }
    notes = [note for test in tests for note in test.notes]
    runs = [_run(test, seed) for seed, test in enumerate(tests, 1)]
    head = {"format": FORMAT, "lasthop": _core.__version__, "scenario": scenario, "warnings": notes, "runs": runs}
    text = f"# No scenario: {scenario['description']}.\n"
    result = Result(head, scenario_text=text, origin=Origin(Source.CAPTURE))
    for seed, test in enumerate(tests, 1):
        result.add_series(
            seed,
            [
                Samples(flow.id, metric, *series)
                for flow in test.flows
                for metric, series in flow.series.items()
                if series.values
            ],
        )
    return result


def stem_of(test: Test) -> str:
    """Returns the name of a test, from its first file."""
    name = PurePath(test.files[0]).name
    for ending in (".gz", ".flent", ".json", ".qlog", ".sqlog", ".csv", ".log", ".txt", ".ss"):
        name = name.removesuffix(ending)
    return name


def _shape(test: Test) -> list[tuple[str, str]]:
    return sorted((flow.id, flow.transport) for flow in test.flows)


def _said(test: Test) -> str:
    return ", ".join(flow.id for flow in test.flows)


def _run(test: Test, seed: int) -> dict[str, Any]:
    stations = list(dict.fromkeys(flow.station for flow in test.flows))
    run = {
        "seed": seed,
        "flows": [_row(flow) for flow in test.flows],
        "totals": _totals([flow for flow in test.flows if flow.traffic in (BULK, QUIC)]),
        "nodes": [{"name": station} for station in stations],
        "links": [],
        "medium": {},
        "queues": [],
        "wires": [],
        "quantile_probabilities": list(PROBABILITIES),
        "simulator": {},
        "capture": {
            "from_s": test.from_s,
            "to_s": test.to_s,
            "files": test.files,
            "tool": test.tool,
            "version": test.version,
            "began_s": test.began_s,
            "missed": None,
            "air": None,
            "links": [],
            "flows": [_ends(flow) for flow in test.flows],
        },
    }
    fill(run)
    return run


def _ends(flow: Flow) -> dict[str, Any]:
    """The hosts of a flow, with ports if a file has them."""
    sender, receiver = flow.ends or (None, None)
    ends = {"id": flow.id, "server": flow.server, "sender": sender, "receiver": receiver}
    return ends | {"reported_mean": _finite(flow.reported_mean)}


def _row(flow: Flow) -> dict[str, Any]:
    return {
        "id": flow.id,
        "station": flow.station,
        "direction": flow.direction,
        "transport": flow.transport,
        "traffic": flow.traffic,
        "dscp": flow.dscp,
        "congestion_control": flow.congestion_control if flow.transport == "tcp" else None,
        "congestion_control_validation": None,
        **{quantity: _finite(value) for quantity, value in flow.values.items()},
    }


def _finite(value: Any) -> Any:
    """A number that a damaged file makes infinite counts as absent."""
    return None if isinstance(value, float) and not isfinite(value) else value


def _totals(flows: Sequence[Flow]) -> dict[str, Any]:
    if not flows:
        return {}
    ways = {
        way: [_finite(flow.values.get(FLOW.goodput_bps)) for flow in flows if way in (flow.direction, None)]
        for way in (None, "up", "down")
    }
    return {
        TOTALS.goodput_bps: _sum(ways[None]),
        TOTALS.goodput_up_bps: _sum(ways["up"]),
        TOTALS.goodput_down_bps: _sum(ways["down"]),
        TOTALS.jain_index: _jain(ways[None]),
        TOTALS.jain_index_up: _jain(ways["up"]),
        TOTALS.jain_index_down: _jain(ways["down"]),
    }


def _sum(goodputs: Iterable[float | None]) -> float | None:
    known = _known(goodputs)
    return None if known is None else sum(known, 0.0)


def _known(goodputs: Iterable[float | None]) -> list[float] | None:
    """The goodputs, if there are any and each is known."""
    every = list(goodputs)
    known = [goodput for goodput in every if goodput is not None]
    return known if known and len(known) == len(every) else None


def _jain(goodputs: Sequence[float | None]) -> float | None:
    """[Jain, Chiu, Hawe 1984]"""
    known = _known(goodputs)
    if known is None or not any(known):
        return None
    squares = sum(value**2 for value in known)
    return sum(known) ** 2 / (len(known) * squares) if squares > 0 else None


def read(
    files: Sequence[str | os.PathLike[str]], repeats: bool = False, show: Callable[[float], None] | None = None
) -> dict[str, Result]:
    """The results of files of test tools, by name: one for each test, whose files belong together.

    With `repeats` the tests are repetitions of one, and the single result has a run for each, with the seeds 1, 2, … `show` receives
    the progress, from 0 to 1. Raises `Unreadable`, a `ValueError`, with a sentence; `OSError` if a file cannot be read.
    """
    tests = read_tests([os.fspath(file) for file in files], show)
    if repeats:
        return {stem_of(tests[0]): result_of(tests)}
    found: dict[str, Result] = {}
    for test in tests:
        stem, number = stem_of(test), 2
        name = stem
        while name in found:
            name, number = f"{stem}-{number}", number + 1
        found[name] = result_of([test])
    return found
