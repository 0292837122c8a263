"""Reproductions below the directories of the page, and a job that runs one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from ..data.foreign_text import json_of
from .jobs import Job
from .library import Entry, Library

# The command's progress line: "reproducing: 3 of 10 runs finished, about 4 s left".
PROGRESS = re.compile(r"(?P<what>\w+): (?P<finished>\d+) of (?P<of>\d+) (?P<unit>\w+) finished")
# Drawing comes after running.
SHARES = {"reproducing": (0.0, 0.9), "drawing": (0.9, 0.1)}
LARGEST = 50_000_000
LOOK_S = 0.2
PATIENCE_S = 8.0
STORE = "runs.duckdb"


def stores_in(library: Library) -> list[Entry]:
    """The stores of reproductions below the directories of the page."""
    return [entry for entry in library.entries() if entry.kind == "store" and entry.path.name == STORE]


def reproduced(stores: list[Entry], key: str) -> dict[str, Any] | None:
    """The latest reproduction of a paper: `claims` by id, `quick`, `directory`; None without one."""
    latest: dict[str, Any] | None = None
    for entry in stores:
        for file in (entry.path.with_name(f"{key}.json"), entry.path.with_name("index.json")):
            reproduction = _read(file, key)
            if reproduction is not None and (latest is None or reproduction["modified_s"] > latest["modified_s"]):
                latest = reproduction
    return latest


def _read(file: Path, key: str) -> dict[str, Any] | None:
    try:
        if not file.is_file() or file.stat().st_size > LARGEST:
            return None
        document = json_of(file, LARGEST)
        claims = {claim["id"]: claim for claim in document["claims"] if claim["paper"] == key}
        quick = bool(document["quick"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    reproduction = {"claims": claims, "quick": quick, "directory": str(file.parent), "modified_s": file.stat().st_mtime}
    return reproduction if claims else None


class ReproduceJob(Job):
    """`lasthop reproduce PAPER --quick`, a process of its own."""

    def __init__(self, key: str, file: Path, library: Library) -> None:
        super().__init__(f"reproduce {key}", 0, "runs")
        self._key = key
        self._file = file
        self._library = library
        self._last_line = ""
        self.report(link=f"/papers/{key}", linked="See the result")

    def work(self) -> None:
        """Runs it until it ends or is stopped; finished runs stay in its store."""
        out = self._library.directory() / f"reproduction-{self._key}"
        out.parent.mkdir(parents=True, exist_ok=True)
        line = [sys.executable, "-m", "lasthop", "reproduce", str(self._file), "--quick", "--out", str(out)]
        line += ["--allow-code"] if self._library.allows_code else []
        package = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        process = subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, "PYTHONPATH": paths},
            start_new_session=True,  # Ctrl-C in the terminal of the page reaches it through the page alone
        )
        reader = threading.Thread(target=self._follow, args=(process.stderr,), daemon=True)
        reader.start()
        status = self._awaited(process)
        reader.join(PATIENCE_S)
        self._tell_end(status)

    def _follow(self, lines: IO[str]) -> None:
        for line in lines:
            match = PROGRESS.search(line)
            if match is None:
                self._last_line = line.strip() or self._last_line
                continue
            begun, share = SHARES.get(match["what"], (0.0, 0.9))
            finished, of = int(match["finished"]), int(match["of"])
            self.report(
                fraction=round(begun + share * finished / max(of, 1), 3), finished=finished, of=of, unit=match["unit"]
            )

    def _awaited(self, process: subprocess.Popen[str]) -> int:
        is_stopping = False
        while True:
            try:
                return process.wait(PATIENCE_S if is_stopping else LOOK_S)
            except subprocess.TimeoutExpired:
                if is_stopping:
                    process.kill()
                elif self.requests.count:
                    is_stopping = True
                    process.send_signal(signal.SIGINT)

    def _tell_end(self, status: int) -> None:
        # Status 1 means claims lost since the release, which the page shows.
        if status in (0, 1):
            self.report(state="done", fraction=1.0, key=self._key)
        elif self.requests.count:
            self.report(state="stopped", error="finished runs are kept and will not run again")
        else:
            self.report(
                state="failed", error=self._last_line.removeprefix("lasthop: ") or f"it ended with status {status}"
            )
