"""Claims of the papers beside a real kernel: their own measures over runs whose TCP is that of Linux.

The claim files say what is measured and of which scenarios; here stand the carriers of the flows that are compared. The
engine runs them by its endpoints, `lasthop emulate` by the sockets of a guest in virtual time. Runs are shorter and
fewer than in the reproductions. `claims.py [ID...] [--keep DIR]` writes the tables of docs/papers to standard output;
with `--keep` finished runs stay in DIR and are not repeated.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import lasthop
import numpy
from lasthop.kernel.emulation import find_kernel
from lasthop.papers.claim_file import read_paper
from lasthop.papers.measure import evaluate
from lasthop.papers.paper import UNITS, Paper, Point
from lasthop.papers.recorded import Recorded
from lasthop.study.scenario import toml_value
from lasthop.study.warmup import seconds

PAPERS = Path(__file__).parents[2] / "papers"
KERNEL = os.environ.get("LASTHOP_KERNEL", "own")
# More than any queue here holds. An unlimited window would grow in a kernel with each segment for the length of a run,
# and a kernel acknowledges at once any segment that makes its window grow.
AMPLE = {"tcp.receive_window": "20000 packets"}
TODAY = {"tcp.profile": "linux", "tcp.congestion_control": "cubic", "tcp.ack": "delayed", **AMPLE}
# Events that a TUN device does not report to its sender.
UNTOLD = {"tcp.small_queue": "off", "tcp.local_drop": "unnoticed"}


@dataclass(frozen=True)
class Carrier:
    """Who carries the flows: the engine's endpoints or a kernel."""

    title: str
    command: str
    """`run` or `emulate`"""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """laid over those of the claim"""


CLAIMED = Carrier("as the claim has it", "run")
SIMULATED = Carrier("`linux`", "run", TODAY)
UNTOLD_LINUX = Carrier("`linux` without small queues", "run", TODAY | UNTOLD)
REAL = Carrier("kernel", "emulate", TODAY)
TOLD = Carrier("kernel, told what the claim has", "emulate")


def with_control(carrier: Carrier, name: str) -> Carrier:
    """The carrier with another congestion control."""
    return Carrier(f"{carrier.title}, {name}", carrier.command, {**carrier.settings, "tcp.congestion_control": name})


@dataclass(frozen=True)
class Measure:
    """A row of a table."""

    sentence: str
    said: str
    """what the paper says"""
    expression: str
    unit: str = ""


@dataclass(frozen=True)
class Comparison:
    """A table: the measures of a claim, a column for each carrier."""

    claim: str
    paper: str
    measures: tuple[Measure, ...]
    carriers: tuple[Carrier, ...]
    seeds: int
    length: Mapping[str, str]
    """duration and warm-up"""


def near(queue: str) -> str:
    """What the near station has with the far one at 6 Mbit/s over that at 300."""
    return f"{goodput('near', queue, 6)} / {goodput('near', queue, 300)}"


def goodput(station: str, queue: str, rate: int) -> str:
    """What a station has with the far one at this rate."""
    return f'total(flows(two, "goodput_bps", "{station}", queue="{queue}", rate={rate}))'


QUEUES = {"fifo": "FIFO", "codel": "CoDel", "sfq": "SFQ", "fq_codel": "FQ-CoDel"}
AIR = 'most(links(two, "delay_{}_s", "up*", "ap", tcp="cubic_today"))'
OVER_TIME = 'steady(two, "goodput_bps", f, tcp="cubic_today")'
SPREAD = f'max([most({OVER_TIME}) - least({OVER_TIME}) for f in ["up1.up", "up2.up"]])'
FIXED, AARF = (f'totals(ten, "goodput_bps", way="up", rate="{rate}")' for rate in ("fixed", "aarf"))
CONTEND = 'medium(ten, "contending_stations_mean", way="up", rate="aarf")'

COMPARISONS = (
    Comparison(
        "K-2",
        "khademi2011",
        (
            Measure("AARF leaves of the goodput", "15 to 20", f"{AARF} / {FIXED}", "%"),
            Measure("goodput at 11 Mbit/s", "", FIXED, "Mbit/s"),
            Measure("goodput with AARF", "", AARF, "Mbit/s"),
            Measure("nodes in contention with AARF", "", CONTEND),
        ),
        (
            CLAIMED,
            TOLD,
            SIMULATED,
            UNTOLD_LINUX,
            REAL,
            *(with_control(carrier, "newreno") for carrier in (UNTOLD_LINUX, REAL)),
        ),
        seeds=3,
        length={"duration": "60 s", "warmup": "20 s"},
    ),
    Comparison(
        "M-1",
        "hashimoto2008",
        (
            Measure("delay on the air, median", "at most 5 (FAST), 2 (CTCP)", AIR.format("p50"), "ms"),
            Measure("its 95th percentile", "at most 10, 5", AIR.format("p95"), "ms"),
            Measure("largest less smallest throughput of a flow", "at most 1 (FAST)", SPREAD, "Mbit/s"),
        ),
        tuple(
            with_control(carrier, name) for name in ("cubic", "newreno", "vegas") for carrier in (UNTOLD_LINUX, REAL)
        ),
        seeds=2,
        length={"duration": "20 s", "warmup": "5 s"},
    ),
    Comparison(
        "Y-1",
        "hashimoto2016",
        (
            *(
                Measure(f"near, 6 over 300 Mbit/s: {name}", "at most 0.4", near(queue))
                for queue, name in QUEUES.items()
            ),
            *(
                Measure(f"{station}, 6 Mbit/s: {name}", "", goodput(station, queue, 6), "Mbit/s")
                for queue, name in QUEUES.items()
                for station in ("near", "far")
            ),
        ),
        (CLAIMED, SIMULATED, REAL),
        seeds=2,
        length={"duration": "10 s", "warmup": "4 s"},
    ),
)


class Folder:
    """Runs of one carrier, each made when it is asked for; what expressions read of them."""

    def __init__(self, carrier: Carrier, length: Mapping[str, str], kept: Path) -> None:
        self._carrier = carrier
        self._length = length
        self._kept = kept
        self._read: dict[tuple[Point, int], lasthop.Result] = {}

    def document(self, point: Point, seed: int) -> dict[str, Any]:
        """The JSON document of a run."""
        (run,) = self._result(point, seed).told_runs
        return dict(run)

    def series(self, point: Point, seed: int) -> dict[str, dict[str, numpy.ndarray]]:
        """Its time series, by metric and entity."""
        found: dict[str, dict[str, numpy.ndarray]] = {}
        for (name, entity), group in self._result(point, seed).timeseries.groupby(["metric", "entity"], observed=True):
            found.setdefault(str(name), {})[str(entity)] = group["value"].to_numpy()
        return found

    def _result(self, point: Point, seed: int) -> lasthop.Result:
        if (point, seed) not in self._read:
            self._read[point, seed] = self._run(point, seed)
        return self._read[point, seed]

    def _run(self, point: Point, seed: int) -> lasthop.Result:
        settings = {**dict(point.settings), **self._carrier.settings, **self._length}
        laid = [word for path, value in settings.items() for word in ("--set", f"{path}={toml_value(value)}")]
        called = [self._carrier.command, str(point.case.scenario.file_name), *laid, "--seed", str(seed)]
        if self._carrier.command == "emulate":
            called += ["--kernel", KERNEL]
        folder = self._kept / hashlib.sha256("\0".join(called).encode()).hexdigest()[:16]
        if not folder.exists():
            line = (sys.executable, "-m", "lasthop", *called, "--out", folder)
            ended = subprocess.run(line, capture_output=True, text=True, check=False)
            if ended.returncode != 0:
                raise RuntimeError(f"{point}, {self._carrier.title}, seed {seed}: {ended.stderr.strip()}")
        return lasthop.read(folder)


class Numbers(Recorded):
    """The runs of one seed as a source of numbers, with the warm-up that they have here."""

    def __init__(self, runs: Folder, seed: int, length: Mapping[str, str]) -> None:
        super().__init__(runs, seed)  # type: ignore[arg-type]
        self._warmup_s = seconds(length["warmup"])

    def warmup_s(self, point: Point) -> float:
        return self._warmup_s


@dataclass(frozen=True)
class Shown:
    """A comparison whose runs are made."""

    comparison: Comparison
    kept: Path

    @cached_property
    def paper(self) -> Paper:
        return read_paper(PAPERS / f"{self.comparison.paper}.toml")

    def lines(self) -> Iterator[str]:
        """The table, a column for each carrier."""
        comparison = self.comparison
        lasts = "{duration}, {warmup} of them warm-up".format_map(comparison.length)
        yield f"**{comparison.claim}**: {lasts}, {comparison.seeds} seeds; mean (least to largest)"
        yield ""
        yield f"| | the paper | {' | '.join(carrier.title for carrier in comparison.carriers)} |"
        yield f"|---|---|{'---|' * len(comparison.carriers)}"
        folders = [Folder(carrier, comparison.length, self.kept) for carrier in comparison.carriers]
        for measure in comparison.measures:
            cells = [self._cell(measure, folder) for folder in folders]
            unit = f" ({measure.unit})" if measure.unit else ""
            yield f"| {measure.sentence}{unit} | {measure.said} | {' | '.join(cells)} |"

    def _cell(self, measure: Measure, folder: Folder) -> str:
        comparison = self.comparison
        factor, decimals = UNITS[measure.unit]
        values = [
            factor * evaluate(measure.expression, comparison.claim, self.paper.cases, numbers)
            for numbers in (Numbers(folder, seed, comparison.length) for seed in range(1, comparison.seeds + 1))
        ]
        digits = min(decimals, 2)
        return f"{numpy.mean(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def main() -> None:
    """Writes the tables that are asked for, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("claims", nargs="*", metavar="ID", help="K-2, M-1, Y-1; all without")
    parser.add_argument("--keep", metavar="DIR", type=Path, help="where finished runs stay")
    chosen = parser.parse_args()
    sys.stdout.write(f"Linux {find_kernel(KERNEL).version}\n\n")
    with tempfile.TemporaryDirectory() as passing:
        for comparison in COMPARISONS:
            if not chosen.claims or comparison.claim in chosen.claims:
                for line in Shown(comparison, chosen.keep or Path(passing)).lines():
                    sys.stdout.write(f"{line}\n")
                    sys.stdout.flush()
                sys.stdout.write("\n")


if __name__ == "__main__":
    main()
