"""Strikes commands at random moments with KILL, TERM, INT, HUP and a closed pipe, and counts what is lost.

`python strikes.py [STRIKES] [SEED]`, in an empty directory. A strike runs one of eight commands in a folder of its own and ends it at a
random moment. Then the same command runs again, with --resume if it has a result. These are counted:

- lost: seeds that the command reported as finished and that the second one ran again, or a result that was not kept;
- leftovers: temporary files, folders of unfinished runs and processes after the second command;
- half: files that are not whole after the first command, or that differ from those of a command without a strike after the second.

Commands are forked from this process, which has imported lasthop, so that a strike hits a run and not the start of Python.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import lasthop.cli

SMALL = """\
name = "small"
duration = "2 s"
warmup = "500 ms"
[bss]
standard = "802.11b"
rate_control = { kind = "fixed", rate = "11 Mbit/s" }
[[station]]
count = 2
[wired]
rate = "100 Mbit/s"
delay = "10 ms"
[[flow]]
station = "*"
direction = "up"
"""
PAPER = """\
title = "Small"
[case.one]
scenario = "small.toml"
seeds = 12
[[claim]]
id = "S-1"
sentence = "There is goodput."
[[claim.part]]
measure = 'totals(one, "goodput_bps")'
expect = { from = 0 }
"""
RUN = ["run", "small.toml", "--jobs", "2"]
SWEEP = ["sweep", "small.toml", "--jobs", "2", "--seeds", "8", "--over", "station.0.count=1,2", "--csv", "out.csv"]
KEEPS = {
    "run --out": [*RUN, "--seeds", "16", "--out", "out"],
    "run --record": [
        *RUN,
        "--seeds",
        "6",
        "--out",
        "out",
        "--record",
        "air,tcp",
        "--record-for",
        "200 ms",
        "--explain",
    ],
    "run --pcap": [*RUN, "--seeds", "6", "--pcap", "pcap"],
    "run --until": [*RUN, "--seeds", "16", "--until", "0.2%", "--out", "out"],
    "emulate": ["emulate", "small.toml", "--set", "duration=600 ms", "--jobs", "2", "--seeds", "2", "--out", "out"],
}
COMMANDS = {
    **KEEPS,
    "reproduce": ["reproduce", "paper.toml", "--jobs", "2", "--out", "out"],
    "sweep --store": [*SWEEP, "--store", "runs.duckdb"],
    "sweep": SWEEP,
}
# An emulated run takes as long as ten others.
RARE = {"emulate": 0.25}
SIGNALS = ("KILL", "TERM", "INT", "HUP", "PIPE")
PATIENCE_S = 300.0
FINISHED = re.compile(r"(\d+) of \d+ (?:seeds|runs) finished")
FOUND = re.compile(r"goes on after (\d+) finished seeds|(\d+) runs found")
NOT_COMPARED = re.compile(rb'"wall_s": ?[0-9.e+-]+')
TEMPORARY = re.compile(r"\..+\.part|unfinished|.+\.waiting")
# A store and its log, which is a part of it after a kill.
STORE = (".duckdb", ".wal")


class Reference(NamedTuple):
    """A command without a strike: its files, and its time."""

    files: dict[str, bytes]
    took_s: float


def new_folder(folder: Path) -> Path:
    """A folder with the inputs of all commands."""
    (folder / "tmp").mkdir(parents=True)
    (folder / "small.toml").write_text(SMALL)
    (folder / "paper.toml").write_text(PAPER)
    return folder


def begin(folder: Path, line: list[str], name: str) -> tuple[int, int]:
    """Begins a command; its process, and the reading end of its standard output."""
    read, write = os.pipe()
    sys.stdout.flush()
    if (child := os.fork()) == 0:
        os.close(read)
        status = 99
        try:
            become(folder, name, write)
            status = lasthop.cli.main(line)
        finally:
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            os._exit(status)
    os.close(write)
    return child, read


def become(folder: Path, name: str, out: int) -> None:
    """Takes the folder, the streams and the temporary folder of a command."""
    os.chdir(folder)
    os.environ["TMPDIR"] = str(folder / "tmp")
    tempfile.tempdir = None
    os.dup2(out, 1)
    os.dup2(os.open(folder / f"{name}.err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115


def ended(process: int, pipe: int | None, patience_s: float) -> int | None:
    """The exit status of a command, negative for a signal; None if it still runs."""
    until = time.monotonic() + patience_s
    if pipe is not None:
        os.set_blocking(pipe, False)
    while True:
        if pipe is not None:
            with suppress(BlockingIOError):
                os.read(pipe, 1 << 16)
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            return None
        time.sleep(0.002)


def run(folder: Path, line: list[str], name: str) -> int:
    """Runs a command to its end; its status."""
    process, pipe = begin(folder, line, name)
    status = ended(process, pipe, PATIENCE_S)
    if status is None:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    os.close(pipe)
    return 98 if status is None else status


def compared(folder: Path) -> dict[str, bytes]:
    """The files that a command has written, without what may differ between two runs."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and path.suffix not in (".err", ".html", *STORE) and not name.startswith("tmp/"):
            files[name] = NOT_COMPARED.sub(b"", path.read_bytes())
    return files


def reference(name: str) -> Reference:
    """Runs a command without a strike."""
    folder = new_folder(Path("references").absolute() / name.replace(" ", ""))
    begun = time.monotonic()
    status = run(folder, COMMANDS[name], "first")
    assert status == 0, (folder / "first.err").read_text()
    took_s = time.monotonic() - begun
    return Reference(compared(folder), took_s)


def remaining(folder: Path) -> list[str]:
    """Temporary names below a folder, and processes that still work there."""
    files = [str(path.relative_to(folder)) for path in folder.rglob("*") if TEMPORARY.fullmatch(path.name)]
    files += [f"tmp/{path.name}" for path in (folder / "tmp").iterdir()]
    return sorted({*files, *processes(folder)})


def processes(folder: Path) -> list[str]:
    """Processes that have the folder as their directory or among their files."""
    found, until = ["?"], time.monotonic() + 5
    while found and time.monotonic() < until:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if Path(os.readlink(process / "cwd")).is_relative_to(folder):
                    found.append(f"process {process.name}")
        time.sleep(0.05 if found else 0)
    return found


def not_whole(folder: Path) -> list[str]:
    """Files with a name of their own that are not whole, judged without the reference: a result may have fewer seeds."""
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or "unfinished" in path.parts or TEMPORARY.fullmatch(path.name) or ".part" in name:
            continue
        content = path.read_bytes()
        whole = {
            ".parquet": lambda content: content[:4] == content[-4:] == b"PAR1",
            ".json": lambda content: json.loads(content) is not None,
            ".csv": lambda content: content.endswith(b"\n"),
            ".pcapng": lambda content: len(content) % 4 == 0 and content[:4] == b"\n\r\r\n",
        }.get(path.suffix, lambda _content: True)
        try:
            found += [] if whole(content) else [name]
        except ValueError:
            found.append(name)
    return found


def strike(number: int, name: str, how: str, share: float, known: Reference) -> dict[str, Any]:
    """Strikes a command after this share of its duration; returns the losses."""
    folder = new_folder(Path(f"strike-{number}").absolute())
    process, pipe = begin(folder, COMMANDS[name], "first")
    status = ended(process, pipe, share * known.took_s)
    was_struck = status is None
    if status is None:
        if how == "PIPE":
            os.close(pipe)
            pipe = -1
        os.kill(process, getattr(signal, f"SIG{how}"))
        status = ended(process, pipe if pipe >= 0 else None, PATIENCE_S)
        if status is None:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
    if pipe >= 0:
        os.close(pipe)
    said = (folder / "first.err").read_text()
    report = {"name": name, "how": how, "struck": was_struck, "status": status, "half": not_whole(folder)}
    wrong = [] if status is not None else ["it does not end"]
    wrong += ["traceback"] if "Traceback" in said else []
    finished = max(map(int, FINISHED.findall(said)), default=0)
    claimed = finished if status not in (0, 1) else 0
    if how in ("TERM", "INT", "HUP") and name == "sweep" and finished and status == 130:
        rows = (folder / "out.csv").read_text().count("\n") - 1 if (folder / "out.csv").exists() else 0
        report["lost"] = max(0, finished - rows)
    stored = _stored(folder / "out" / "runs.duckdb") if name == "reproduce" else 0
    resumes = name in KEEPS
    was_there = (folder / "out" / "unfinished").exists() or (folder / "pcap" / "unfinished").exists()
    again = run(folder, [*COMMANDS[name], *(["--resume"] if resumes else [])], "second")
    said = (folder / "second.err").read_text()
    wrong += ["traceback after"] if "Traceback" in said else []
    wrong += [f"status {again} after: {said[-300:]}"] if again != 0 else []
    found = max((int(a or b) for a, b in FOUND.findall(said)), default=0)
    if name == "reproduce":
        found = stored
    if name != "sweep" and (was_there or not resumes):
        report["lost"] = max(0, claimed - found)
    report["leftovers"] = remaining(folder)
    now = compared(folder)
    report["half"] += [path for path in {*now, *known.files} if now.get(path) != known.files.get(path)]
    report["wrong"] = wrong
    if not (wrong or report["half"] or report["leftovers"] or report.get("lost")):
        shutil.rmtree(folder)
    return report


def _stored(store: Path) -> int:
    """How many runs a store has once it is opened as a command opens it."""
    if not store.exists():
        return 0
    if (child := os.fork()) == 0:
        status = 250
        try:
            rows = lasthop.Store.open(store).query_arrow("SELECT count(*) AS n FROM run").to_pylist()
            status = rows[0]["n"]
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def some(number: int, of: int, strikes: int, seed: int, known: dict[str, Reference]) -> None:
    """Every `of`th strike, each reported on a line of JSON."""
    names = list(known)
    weights = [RARE.get(name, 1.0) for name in names]
    with open(f"reports-{number}", "w", encoding="utf-8") as reports:
        for each in range(number, strikes, of):
            chance = random.Random(f"{seed} {each}")
            name = names[each % len(names)] if each < len(names) else chance.choices(names, weights)[0]
            how = SIGNALS[each % len(SIGNALS)]
            print(json.dumps(strike(each, name, how, 1.1 * chance.random(), known[name])), file=reports, flush=True)


def summary(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts, and the reports of strikes that lost something."""
    bad = [each for each in reports if each["half"] or each["leftovers"] or each["wrong"] or each.get("lost")]
    return {
        "strikes": len(reports),
        "struck": sum(each["struck"] for each in reports),
        "by": Counter(f"{each['name']} {each['how']}" for each in reports if each["struck"]),
        "lost": sum(each.get("lost", 0) for each in reports),
        "leftovers": sum(len(each["leftovers"]) for each in reports),
        "half": sum(len(each["half"]) for each in reports),
        "wrong": sum(bool(each["wrong"]) for each in reports),
        "bad": bad,
    }


def main(strikes: int, seed: int) -> int:
    """Carries out the strikes, two at a time, and prints the counts as JSON."""
    lasthop.cli.build_parser()
    for module in (
        "pandas",
        "pyarrow.parquet",
        "duckdb",
        "rich.table",
        "lasthop.cli._reproduction",
        "lasthop.cli.emulate",
    ):
        with suppress(ImportError):
            __import__(module)
    names = [name for name in COMMANDS if name != "emulate" or can_emulate()]
    known = {name: reference(name) for name in names}
    workers = []
    for number in range(2):
        if (worker := os.fork()) == 0:
            status = 1
            try:
                some(number, 2, strikes, seed, known)
                status = 0
            finally:
                os._exit(status)
        workers.append(worker)
    statuses = [os.waitpid(worker, 0)[1] for worker in workers]
    reports = [json.loads(line) for number in range(2) for line in Path(f"reports-{number}").read_text().splitlines()]
    counts = summary(reports)
    print(json.dumps(counts, indent=1))
    return int(any(statuses) or bool(counts["bad"]) or len(reports) < strikes)


def can_emulate() -> bool:
    """Whether this machine has a kernel for virtual time."""
    from lasthop.kernel.emulation import EmulationError, find_kernel

    try:
        find_kernel("stock")
    except EmulationError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in [*sys.argv[1:3], *("60", "1")[len(sys.argv) - 1 :]])))
