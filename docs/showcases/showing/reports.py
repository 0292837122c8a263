"""The report beside a page: its runs in the air, frame by frame, as `lasthop report` writes them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import lasthop
from lasthop import Scenario

from .places import place, say

RECORDED = "air,tcp,queue,backoff"
#: Of what each frame is told; longer ones make large files.
WINDOW = "200ms"


class Report:
    """A link to the file, which a page of the gallery shows; nothing where no file was asked for."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def _repr_html_(self) -> str:
        if self._file is None:
            return ""
        return f'<p><a href="reports/{self._file.name}">The air of this run, frame by frame</a>: the report of its first seed.</p>'

    def __repr__(self) -> str:
        return f"Report({self._file})"


def report(*scenarios: Scenario, warmup: str = "1 s", duration: str = "2 s") -> Report:
    """Runs the first seed of a scenario, or of two beside each other, for a short while, and writes the report of it.

    Flows start at 0, and the report begins at the end of `warmup`. Raises `RuntimeError` with what the command says where it
    cannot be written.
    """
    file = place(".html")
    if file is None:
        return Report(None)
    with TemporaryDirectory(prefix="lasthop-showcase-") as folder:
        sides = [str(Path(folder) / str(number)) for number, _ in enumerate(scenarios)]
        for side, scenario in zip(sides, scenarios, strict=True):
            short = scenario.set("warmup", warmup).set("duration", duration)
            lasthop.run(short, seeds=1, record=RECORDED, explain=True).save(side)
        # A process of its own: the command takes over signals and streams.
        line = [sys.executable, "-m", "lasthop", "report", *sides, "--out", str(file), "--for", WINDOW]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    say("report", file)
    return Report(file)
