"""Instructions a delivered segment and a frame, counted by valgrind, held against those kept in the repository.

`make instructions` runs this: `--write` keeps the numbers. The cases are those of `gates.toml`. A cost is the difference of a
run to the later moment and one to the earlier, so that start-up is apart; what start-up takes has rows of its own. Counts
repeat to a few in a million. They are of one compiler: under the one that the table names more than 2 % above is a failure;
under another it is only said.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from child import Failed, note

BENCHES = Path(__file__).resolve().parent
ROOT = BENCHES.parent
CASES = BENCHES / "gates.toml"
TABLE = ROOT / "tests" / "data" / "instructions.tsv"
BUILD = ("cargo", "build", "--quiet", "--release", "--package", "lasthop-scenario", "--example", "run_file")
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "examples" / "run_file"
COUNTED = re.compile(r"Collected : (\d+)")
TOLERANCE = 0.02
AT_ONCE = 2
EXPLAINED = "uploads-11b"
START_UP = "scenarios/saturation-11a.toml"
STATIONS = (1, 1000)
MISSING = "valgrind is not installed: `apt-get install valgrind`"

Rows = dict[tuple[str, str], int]


class Run(NamedTuple):
    """One run under valgrind: a scenario file, what is laid over it, and options of `run_file`."""

    file: str
    settings: tuple[str, ...]
    options: tuple[str, ...] = ()

    def count(self) -> tuple[int, dict[str, Any]]:
        """Instructions of the whole process, and the result."""
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM, ROOT / self.file]
        done = subprocess.run([*command, *self.options, *self.settings], capture_output=True, text=True, check=False)
        counted = COUNTED.search(done.stderr)
        if done.returncode != 0 or counted is None:
            raise Failed(f"{self.file}: exit status {done.returncode}: {done.stderr.strip()[-500:]}")
        return int(counted[1]), json.loads(done.stdout)


def runs() -> Iterator[tuple[str, int, Run, Run | None]]:
    """Subject, payload of a segment in bytes, the longer run and the shorter one; start-up has one run."""
    for case in tomllib.loads(CASES.read_text(encoding="utf-8"))["case"]:
        for options in ((), ("--account",)) if case["name"] == EXPLAINED else ((),):
            subject = f"{case['name']} explained" if options else case["name"]
            yield subject, case["payload"], _run(case, "to_s", options), _run(case, "from_s", options)
    for stations in STATIONS:
        settings = (f"station.0.count={stations}", "duration=1 ms", "warmup=0 s")
        yield f"start-up, stations: {stations}", 0, Run(START_UP, settings), None


def _run(case: dict[str, Any], moment: str, options: tuple[str, ...]) -> Run:
    # Data delivered between the moments is the longer run's count after its warm-up.
    warmup_s = case["from_s"] / (1 if moment == "to_s" else 2)
    lengths = (f"duration={case[moment]} s", f"warmup={warmup_s} s")
    return Run(case["scenario"], (*case.get("settings", ()), *lengths), options)


def measured() -> Rows:
    """Builds the program and counts all of it, the longest runs first, two at a time."""
    if shutil.which("valgrind") is None:
        raise Failed(MISSING)
    subprocess.run(BUILD, cwd=ROOT, check=True)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        pending = [
            (subject, payload, threads.submit(long.count), short and threads.submit(short.count))
            for subject, payload, long, short in runs()
        ]
        return dict(row for found in pending for row in _rows(*found))


def _rows(subject: str, payload: int, long: Any, short: Any) -> Iterable[tuple[tuple[str, str], int]]:
    count, result = long.result()
    if short is None:
        return [((subject, "in all"), count)]
    spent = count - short.result()[0]
    segments = sum(flow.get("bytes_delivered") or 0 for flow in result["flows"]) / payload
    frames = sum(node["frames_sent"] for node in result["nodes"])
    return [((subject, "a segment"), round(spent / segments)), ((subject, "a frame"), round(spent / frames))]


def compiler() -> str:
    """Which rustc this is."""
    return subprocess.run(("rustc", "--version"), capture_output=True, text=True, check=True).stdout.strip()


def write(rows: Rows, rustc: str, table: Path = TABLE) -> None:
    """Keeps `rows`, counted under `rustc`."""
    head = f"# Instructions: see benches/instructions.py. `make speed` and `make instructions WRITE=--write` write this file.\n# {rustc}\n"
    lines = (f"{subject}\t{per}\t{count}\n" for (subject, per), count in rows.items())
    table.write_text(head + "".join(lines), encoding="utf-8")


def kept(table: Path = TABLE) -> tuple[Rows, str]:
    """The rows that are kept, and the rustc that they are of; none where there is no table."""
    if not table.exists():
        return {}, ""
    lines = table.read_text(encoding="utf-8").splitlines()
    rustc = next(line[2:] for line in lines if line.startswith("# rustc"))
    cells = (line.split("\t") for line in lines if not line.startswith("#"))
    return {(subject, per): int(count) for subject, per, count in cells}, rustc


class Difference(NamedTuple):
    """A row that was kept, or is new, or both."""

    subject: str
    per: str
    old: int | None
    new: int | None

    @property
    def above(self) -> bool:
        """Whether it is a failure: more than before, or a row that only one side has."""
        return self.old is None or self.new is None or self.new > self.old * (1 + TOLERANCE)

    def __str__(self) -> str:
        change = f" ({self.new / self.old - 1:+.1%})" if self.old and self.new else ""
        old, new = ("none" if count is None else f"{count:,}" for count in (self.old, self.new))
        return f"{self.subject}, {self.per}: {old} -> {new}{change}"


def differences(old: Rows, new: Rows) -> list[Difference]:
    """All rows, those of the table first."""
    return [Difference(*key, old.get(key), new.get(key)) for key in (old | new)]


def judge(old: Rows, old_rustc: str, new: Rows, new_rustc: str) -> tuple[int, str]:
    """Exit status, and what is to be said."""
    found = differences(old, new)
    lines = [f"{'!!' if each.above else 'ok'}  {each}" for each in found]
    failed = sum(each.above for each in found)
    if not failed:
        return 0, "\n".join([*lines, f"No count is more than {TOLERANCE:.0%} above the one that is kept."])
    sentence = f"{failed} of {len(found)} counts are more than {TOLERANCE:.0%} above, or new; `make instructions WRITE=--write` keeps them."
    if old_rustc == new_rustc:
        return 1, "\n".join([*lines, sentence])
    return 0, "\n".join(
        [*lines, sentence, f"Not a failure: they were kept under {old_rustc or 'no rustc'}, this is {new_rustc}."]
    )


def main() -> int:
    """Counts, and writes or compares."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    try:
        found = measured()
    except (Failed, subprocess.CalledProcessError) as failure:
        note(str(failure))
        return 1
    status, said = judge(*kept(), found, compiler())
    print(said)
    if arguments.write:
        write(found, compiler())
        return 0
    return status


if __name__ == "__main__":
    sys.exit(main())
