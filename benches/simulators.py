"""lasthop, ns-2 and ns-3 as things that run a case and say what a simulated second cost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from cases import Case, Lengths
from child import Usage, printed, run
from engines import INSTALLED, Engine

BENCHES = Path(__file__).resolve().parent
LOOK_S = 60
# ns-2 reads Tcl from standard input.
ASK_NS2 = "puts [ns-version]\nexit 0\n"
ASK_NS3 = "import importlib.metadata as packages; print(packages.version('ns3'))"


class Sample(NamedTuple):
    """One measurement: CPU seconds per simulated second, and what was simulated in that second."""

    cost: float
    goodput_bps: float
    attempts_per_s: float | None = None
    events_per_s: float | None = None


class Lasthop:
    """The command `lasthop run` with the interpreter that runs this, and one of the engines."""

    missing = None

    def __init__(self, engine: Engine) -> None:
        self.engine, self.key, self.label = engine, engine.key, engine.label

    def sample(self, case: Case, seed: int) -> Sample:
        """One short and one long run of `case`."""
        lengths = case.lengths
        short, before = self._result(case, seed, lengths.short_s)
        long, result = self._result(case, seed, lengths.long_s)
        attempts = sum(node["frames_sent"] for node in result["nodes"])
        counted_s = lengths.long_s - lengths.warmup_s
        events = result["simulator"]["events"] - before["simulator"]["events"]
        return Sample(
            cost=_difference(short, long, lengths),
            goodput_bps=result["totals"]["goodput_bps"],
            attempts_per_s=attempts / counted_s,
            events_per_s=events / (lengths.long_s - lengths.short_s),
        )

    def _result(self, case: Case, seed: int, duration_s: float) -> tuple[Usage, dict[str, Any]]:
        # The short run writes its result too, so that the difference is simulation only.
        with TemporaryDirectory() as directory:
            file = Path(directory) / "result.json"
            options = ["--seed", str(seed), "--jobs", "1", "--json", str(file)]
            usage = lasthop_run(case, duration_s, case.lengths.warmup_s, options, self.engine)
            return usage, json.loads(file.read_text(encoding="utf-8"))["runs"][0]


def lasthop_run(
    case: Case, duration_s: float, warmup_s: float, options: list[str], engine: Engine = INSTALLED
) -> Usage:
    """Runs the case's scenario for `duration_s`."""
    settings = (*case.settings, f"station.0.count={case.stations}", f"duration={duration_s} s", f"warmup={warmup_s} s")
    laid_over = [word for setting in settings for word in ("--set", setting)]
    command = [sys.executable, "-m", "lasthop", "run", case.file, *laid_over, *options]
    return run(command, environment=engine.environment)


class Ns2:
    """ns-2.35, as installed or with one of its other schedulers."""

    def __init__(self, key: str, label: str, *options: str) -> None:
        self.key, self.label, self._options = key, label, options
        self._program = _find_ns2()
        self.missing = None if self._program else "not found: neither LASTHOP_NS2 nor `ns2` nor `ns` is ns-2"

    def sample(self, case: Case, seed: int) -> Sample:
        """One short and one long run of `case`."""
        lengths = case.peers[self.key]
        short, long = (self._run(case, seed, length, lengths.warmup_s) for length in (lengths.short_s, lengths.long_s))
        return Sample(_difference(short, long, lengths), printed(long.output, "goodput_bps")[-1])

    def _run(self, case: Case, seed: int, duration_s: float, warmup_s: float) -> Usage:
        times = ["--duration", duration_s, "--warmup", min(warmup_s, duration_s / 2)]
        script = BENCHES / "peers" / "ns2" / f"{case.script}.tcl"
        words = [self._program, script, "--stations", case.stations, "--seed", seed, *times, *self._options]
        return run([str(word) for word in words])


class Ns3:
    """ns-3.44 through its Python bindings.

    They take longer to load than the runs; so one process runs to the end of the short run, reads its own CPU time,
    and goes on to the end of the long one.
    """

    key = "ns3"
    label = "ns-3.44"

    def __init__(self) -> None:
        self._python = _find_ns3()
        self.missing = None if self._python else "not found: neither LASTHOP_NS3_PYTHON nor this Python has `ns3`"

    def sample(self, case: Case, seed: int) -> Sample:
        """One run of `case`."""
        lengths = case.peers[self.key]
        times = ["--duration", lengths.long_s, "--warmup", lengths.warmup_s]
        script = BENCHES / "peers" / "ns3" / f"{case.script}.py"
        words = [self._python, script, "--stations", case.stations, "--seed", seed, *times]
        output = run([str(word) for word in words]).output
        before, after = printed(output, "cpu_s")
        cost = (after - before) / (lengths.long_s - lengths.short_s)
        return Sample(cost, printed(output, "goodput_bps")[-1])


def peers() -> list[Ns2 | Ns3]:
    """The other simulators, present or not."""
    return [Ns2("ns2", "ns-2.35"), Ns2("ns2-splay", "ns-2.35, splay scheduler", "--scheduler", "Splay"), Ns3()]


def _difference(short: Usage, long: Usage, lengths: Lengths) -> float:
    return (long.cpu_s - short.cpu_s) / (lengths.long_s - lengths.short_s)


def _find_ns2() -> str | None:
    for name in (os.environ.get("LASTHOP_NS2"), "ns2", "ns"):
        program = name and shutil.which(name)
        if program and _answer([program], ASK_NS2).startswith("2."):
            return program
    return None


def _find_ns3() -> str | None:
    for name in (os.environ.get("LASTHOP_NS3_PYTHON"), sys.executable, "python3"):
        python = name and shutil.which(name)
        if python and _answer([python, "-c", ASK_NS3], "").startswith("3."):
            return python
    return None


def _answer(command: list[str], question: str) -> str:
    try:
        done = subprocess.run(command, input=question, capture_output=True, text=True, timeout=LOOK_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
