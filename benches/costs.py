"""What whole commands cost: start-up, files, a run in a sweep, a run on a cluster, instructions."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from child import Failed, Usage, run
from engines import Engine
from instructions import CASES as COUNTED_CASES
from instructions import COUNTED, EXPLAINED

BENCHES = Path(__file__).resolve().parent
ROOT = BENCHES.parent
MEGABYTE = 1_000_000
MANY_STATIONS = 5000
SHORT_RUN = BENCHES / "scenarios" / "short-11g.toml"
UPLOADS = ROOT / "scenarios" / "khademi2011-uplink-11b.toml"
SATURATION = ROOT / "scenarios" / "saturation-11a.toml"


def command(engine: Engine, words: Sequence[str | Path]) -> Usage:
    """Runs `lasthop` with that engine."""
    return run([sys.executable, "-m", "lasthop", *words], environment=engine.environment)


def start_of_many(engine: Engine, rounds: int) -> tuple[float, float]:
    """CPU seconds and bytes at most of the whole command, of a run of 1 ms of 5000 stations less that of one."""

    def usage(stations: int) -> Usage:
        with TemporaryDirectory() as folder:
            lengths = ["--set", "duration=1 ms", "--set", "warmup=0 s", "--set", f"station.0.count={stations}"]
            return command(engine, ["run", SATURATION, *lengths, "--seed", "1", "--json", Path(folder) / "result.json"])

    return _difference(lambda: usage(MANY_STATIONS), lambda: usage(1), rounds)


def files(engine: Engine, rounds: int) -> tuple[float, float]:
    """CPU seconds and bytes that `--out` takes above the same run without."""

    def usage(*, out: bool) -> Usage:
        with TemporaryDirectory() as folder:
            written = ["--out", Path(folder) / "out"] if out else []
            return command(engine, ["run", UPLOADS, "--set", "duration=60 s", "--seed", "1", *written])

    return _difference(lambda: usage(out=True), lambda: usage(out=False), rounds)


def _difference(more: Callable[[], Usage], less: Callable[[], Usage], rounds: int) -> tuple[float, float]:
    """Medians over pairs, in turns."""
    pairs = [(more(), less()) for _ in range(rounds)]
    cpu_s = median(one.cpu_s - other.cpu_s for one, other in pairs)
    return cpu_s, median(one.peak_bytes - other.peak_bytes for one, other in pairs)


class Sweep:
    """Sweeps of short runs into a store, each with the usage of its whole command and the size of the store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def usage(self, runs: int) -> tuple[Usage, int]:
        """The usage and the bytes of the store after so many runs."""
        points = min(runs, 100)
        over = "wired.delay=" + ",".join(f"{delay} ms" for delay in range(1, points + 1))
        with TemporaryDirectory() as folder:
            store = Path(folder) / "runs.duckdb"
            counted = ["--over", over, "--seeds", str(runs // points), "--store", store]
            usage = command(self._engine, ["sweep", SHORT_RUN, *counted])
            return usage, store.stat().st_size

    def seconds_per_run(self, runs: int) -> float:
        """CPU seconds of one run, of so many; what does not depend on their number is apart."""
        few = max(runs // 100, 10)
        return (self.usage(runs)[0].cpu_s - self.usage(few)[0].cpu_s) / (runs - few)


def dask_above_threads(engine: Engine, runs: int) -> float | None:
    """CPU seconds a run takes on a Dask cluster above threads, its processes counted; None where Dask is not installed."""
    if importlib.util.find_spec("distributed") is None:
        return None

    def cpu_s(executor: str, seeds: int) -> float:
        script = [sys.executable, BENCHES / "on_dask.py", executor, SHORT_RUN, "20", str(seeds)]
        return run(script, environment=engine.environment).cpu_s

    few, many = 2, max(runs // 20, 3)
    spent = {name: cpu_s(name, many) - cpu_s(name, few) for name in ("dask", "threads")}
    return (spent["dask"] - spent["threads"]) / (20 * (many - few))


def instructions(engine: Engine) -> tuple[float, float] | None:
    """Instructions of a delivered segment, and what they grow to with an account of time; None without valgrind."""
    if shutil.which("valgrind") is None:
        return None
    cases = tomllib.loads(COUNTED_CASES.read_text(encoding="utf-8"))["case"]
    case = next(case for case in cases if case["name"] == EXPLAINED)

    def counted(moment: str, *options: str) -> tuple[int, dict]:
        warmup_s = case["from_s"] / (1 if moment == "to_s" else 2)
        settings = (*case["settings"], f"duration={case[moment]} s", f"warmup={warmup_s} s")
        valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        script = [BENCHES / "engine_run.py", engine.extension, ROOT / case["scenario"], *options, *settings]
        # Without site packages, and with strings hashed alike, the interpreter does the same in each run.
        python = [sys.executable, "-I", "-S", *script]
        done = subprocess.run([*valgrind, *python], capture_output=True, text=True, check=False)
        found = re.search(COUNTED, done.stderr)
        if done.returncode != 0 or found is None:
            raise Failed(f"valgrind: exit status {done.returncode}: {done.stderr.strip()[-500:]}")
        return int(found[1]), json.loads(done.stdout)

    def spent(*options: str) -> tuple[int, float]:
        count, result = counted("to_s", *options)
        segments = sum(flow["bytes_delivered"] for flow in result["flows"]) / case["payload"]
        return count - counted("from_s", *options)[0], segments

    plain, segments = spent()
    return plain / segments, spent("--account")[0] / plain
