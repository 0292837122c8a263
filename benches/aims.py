"""What is aimed at, each with its measured value: ratios to the other simulators, growth, and what whole commands cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import costs
from child import note
from endpoint import ack_path_ns, has_source
from engines import Engine
from table import Table

OFFICE, ONE_BSS, NEAR, APART = "office-11ax", "bss-1", "bss-20-near", "bss-20-apart"
SHORT_RUNS, QUICK_SHORT_RUNS = 10_000, 500
DASK_RUNS, QUICK_DASK_RUNS = 1000, 200


class Aim(NamedTuple):
    """A bound, and what was measured for each engine; `least` is what would do where the bound itself is not met."""

    what: str
    bound: float
    unit: str
    measured: Mapping[str, float | None]
    at_least: bool = False
    least: float | None = None

    def met(self, key: str) -> bool | None:
        """Whether the engine keeps to it; None where that was not measured."""
        value = self.measured.get(key)
        if value is None:
            return None
        bound = self.bound if self.least is None else self.least
        return value >= bound if self.at_least else value <= bound


def aims(table: Table, engines: list[Engine], rounds: int, *, quick: bool) -> list[Aim]:
    """All of them: those of the table, then those of whole commands, which are measured here."""
    return [*table_aims(table, [engine.key for engine in engines]), *_command_aims(engines, rounds, quick=quick)]


def table_aims(table: Table, keys: list[str]) -> Iterator[Aim]:
    """Those that follow from the cost of a simulated second."""

    def over(case: str, peer: str) -> dict[str, float | None]:
        return {key: table.ratio(case, peer, key) for key in keys}

    def of(case: str, number: str) -> dict[str, float | None]:
        return {key: getattr(table, number)(case, key) for key in keys}

    yield Aim("ten NewReno uploads, 802.11b: ns-2.35's CPU time over ours", 20, "", over("uplink-11b", "ns2"), True, 18)
    yield Aim("ten NewReno uploads, 802.11g at 54 Mbit/s: ns-2.35's over ours", 18, "", over("uplink-11g", "ns2"), True)
    yield Aim("saturated 802.11a, 100 stations: ns-3.44's over ours", 6000, "", over("saturation-100", "ns3"), True)
    yield Aim("802.11n downloads, two stations: ns-3.44's over ours", 160, "", over("download-11n", "ns3"), True)
    delivery = {key: 1e9 * seconds for key, seconds in of("download-11n", "seconds_per_delivery").items()}
    yield Aim("802.11n downloads, two stations: a segment", 400, "ns", delivery)
    pace = {key: 1 / table.cost(OFFICE, key) for key in keys}
    yield Aim("office-11ax: times faster than real time", 40, "", pace, True)
    one = of(ONE_BSS, "seconds_per_attempt")
    for case, apart, bound in ((NEAR, "1 m", 2), (APART, "30 m", 5)):
        yield Aim(f"20 BSSs of six nodes, {apart} apart: events a frame", 6, "", of(case, "events_per_attempt"))
        growth = {key: seconds / one[key] for key, seconds in of(case, "seconds_per_attempt").items()}
        yield Aim(f"20 BSSs of six nodes, {apart} apart: CPU time a frame over that of one BSS", bound, "", growth)


def _command_aims(engines: list[Engine], rounds: int, *, quick: bool) -> Iterator[Aim]:
    def of_each(what: str, measure) -> dict[str, object]:
        note(what)
        return {engine.key: measure(engine) for engine in engines}

    def part(found: dict, place: int, scale: float = 1) -> dict[str, float | None]:
        return {key: None if pair is None else pair[place] * scale for key, pair in found.items()}

    counted = of_each("instructions of a delivered segment", costs.instructions)
    yield Aim("ten NewReno uploads, 802.11b: instructions a delivered segment", 5500, "", part(counted, 0))
    yield Aim("the same with an account of time (--explain) over without, instructions", 1.3, "", part(counted, 1))
    note("the ACK path of two endpoints")
    if has_source():
        yield Aim(
            "ACK path: a segment and its ACK, `linux` and `cubic`, both ends",
            150,
            "ns",
            {engines[-1].key: ack_path_ns()},
        )
    start = of_each("start of 5000 stations", lambda engine: costs.start_of_many(engine, rounds))
    yield Aim("start of 5000 stations: the whole command with --json, less that of one", 0.2, "s", part(start, 0))
    yield Aim("the same: memory at most", 80, "MB", part(start, 1, 1 / costs.MEGABYTE))
    files = of_each("what --out takes", lambda engine: costs.files(engine, rounds))
    yield Aim("--out over without: CPU time", 0.1, "s", part(files, 0))
    yield Aim("--out over without: memory", 30, "MB", part(files, 1, 1 / costs.MEGABYTE))
    runs = QUICK_SHORT_RUNS if quick else SHORT_RUNS
    sweep = of_each(f"a sweep of {runs} short runs", lambda engine: 1e3 * costs.Sweep(engine).seconds_per_run(runs))
    yield Aim(f"a run in a sweep of {runs:,} short ones, with a store", 1.5, "ms", sweep)
    runs = QUICK_DASK_RUNS if quick else DASK_RUNS
    dask = of_each(f"a sweep of {runs} short runs on Dask", lambda engine: costs.dask_above_threads(engine, runs))
    yield Aim("Dask above threads, a run", 1, "ms", {key: None if s is None else 1e3 * s for key, s in dask.items()})
