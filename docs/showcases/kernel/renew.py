"""Runs what docs/showcases/real_kernel.py shows of a real kernel anew, and stores it here with the day on which it was made.

It needs a kernel for virtual time, which `lasthop emulate --build-kernel` makes, and some minutes. The file of each queue is a result as
`lasthop emulate --json` writes it, with `made`, and without the summary, which is computed when it is read.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
QUEUES = {"fifo": '{ kind = "fifo", limit = "200 packets" }', "fq-codel": "fq_codel"}
SEEDS = 5


def renew(name: str, queue: str) -> None:
    """Emulates all seeds behind this queue. Raises `CalledProcessError` where the command, which has said why, fails."""
    file = FOLDER / f"{name}.json"
    settings = ["--set", f"bss.ap.queue={queue}", "--seeds", str(SEEDS)]
    line = [
        sys.executable,
        "-m",
        "lasthop",
        "emulate",
        str(FOLDER / "one-download.toml"),
        *settings,
        "--json",
        str(file),
    ]
    subprocess.run(line, check=True)
    store(file, datetime.date.today())


def store(file: Path, made: datetime.date) -> None:
    """Keeps of a result in `file` what the page reads."""
    document = json.loads(file.read_text(encoding="utf-8")) | {"made": made.isoformat()}
    document.pop("summary", None)
    file.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in QUEUES.items():
        renew(*each)
