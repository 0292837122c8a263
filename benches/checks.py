"""What else is promised of speed: memory, time to the first event, what a second core brings."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cases import CASES, FIXED_11B, SATURATION, UPLINK, Case, Lengths
from simulators import lasthop_run

MEGABYTE = 1_000_000
NO_LENGTHS = Lengths(0, 0, 0)
MEMORY_SCENARIOS = ((SATURATION, "saturated 802.11a", ()), (UPLINK, "TCP uploads over 802.11b", (FIXED_11B,)))
MANY_STATIONS, MANY_SECONDS = 1000, 200
PARALLEL_SEEDS, PARALLEL_SECONDS = 8, 1200


class Check(NamedTuple):
    """A measured number and its bound; `at_least` says on which side of the bound it should lie."""

    what: str
    measured: float
    bound: float
    unit: str
    at_least: bool = False

    @property
    def kept(self) -> bool:
        """Whether the number is on the right side."""
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound


def checks(rounds: int) -> Iterator[Check]:
    """Measures all of them, one after the other."""
    for scenario, title, settings in MEMORY_SCENARIOS:
        for kept in (False, True):
            yield _memory(scenario, title, settings, with_files=kept)
    yield _first_event(rounds)
    yield _two_cores(rounds)


def _memory(scenario: str, title: str, settings: tuple[str, ...], *, with_files: bool) -> Check:
    few, many = (
        _peak_bytes(Case("memory", title, scenario, stations, NO_LENGTHS, 0, settings=settings), duration_s, with_files)
        for stations, duration_s in ((1, 1), (MANY_STATIONS, MANY_SECONDS))
    )
    files = "with --out" if with_files else "without --out"
    what = f"memory: {MANY_STATIONS} stations and {MANY_SECONDS} s over 1 station and 1 s, {title}, {files}"
    return Check(what, (many - few) / MEGABYTE, 60, "MB")


def _peak_bytes(case: Case, duration_s: float, with_files: bool) -> int:
    with TemporaryDirectory() as directory:
        out = ["--out", directory] if with_files else []
        return lasthop_run(case, duration_s, 0, ["--seed", "1", "--jobs", "1", *out]).peak_bytes


def _first_event(rounds: int) -> Check:
    # A run of a millisecond, from the start of the process to its end: the first event comes before that.
    runs = [lasthop_run(CASES[0], 0.001, 0, ["--seed", "1"]).wall_s for _ in range(max(rounds, 3))]
    return Check("time from the command to the end of a run of 1 ms", median(runs), 0.5, "s")


def _two_cores(rounds: int) -> Check:
    case = CASES[0]

    def wall_s(jobs: int) -> float:
        options = ["--seeds", str(PARALLEL_SEEDS), "--jobs", str(jobs)]
        return lasthop_run(case, PARALLEL_SECONDS, case.lengths.warmup_s, options).wall_s

    # The shortest of each: other work of the machine only adds to time on the clock.
    two, one = zip(*((wall_s(2), wall_s(1)) for _ in range(rounds)), strict=True)
    return Check(f"{PARALLEL_SEEDS} seeds on two cores over the same on one", min(two) / min(one), 0.6, "")
