"""Runs what docs/showcases/real_kernel.py and roaming.py show of a real kernel anew, and stores it here with the day on which it was made.

It needs kernels for virtual time, which `lasthop emulate --build-kernel` makes, for roaming with `--wifi`, and some minutes. The file of each queue is a result as
`lasthop emulate --json` writes it, with `made`, and without the summary, which is computed when it is read. Of roaming it has
the flow of the walker and the roams alone.
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
ROAMS = {"roam-wpa2": "false", "roam-fast": "true"}
WALK = FOLDER.parents[2] / "scenarios" / "roam.toml"


def renew(name: str, queue: str) -> None:
    """Emulates all seeds behind this queue. Raises `CalledProcessError` where the command, which has said why, fails."""
    file = FOLDER / f"{name}.json"
    _emulate(FOLDER / "one-download.toml", file, f"bss.ap.queue={queue}")
    store(file, datetime.date.today())


def renew_roams(name: str, is_fast: str) -> None:
    """The same of a walk past two access points, with 802.11r or without."""
    file = FOLDER / f"{name}.json"
    stack = ("emulation.wifi_stack=kernel", "emulation.security=wpa2", f"emulation.fast_transition={is_fast}")
    _emulate(WALK, file, *stack)
    store_roams(file, datetime.date.today())


def _emulate(scenario: Path, file: Path, *settings: str) -> None:
    sets = [word for setting in settings for word in ("--set", setting)]
    line = [
        sys.executable,
        "-m",
        "lasthop",
        "emulate",
        str(scenario),
        *sets,
        "--seeds",
        str(SEEDS),
        "--json",
        str(file),
    ]
    subprocess.run(line, check=True)


def store(file: Path, made: datetime.date) -> None:
    """Keeps of a result in `file` what the page reads."""
    document = json.loads(file.read_text(encoding="utf-8")) | {"made": made.isoformat()}
    document.pop("summary", None)
    file.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")


def store_roams(file: Path, made: datetime.date) -> None:
    """Keeps of a result in `file` the walker's flow and the roams of each run."""
    document = json.loads(file.read_text(encoding="utf-8"))
    kept = [
        {
            "seed": run["seed"],
            "flows": [flow for flow in run["flows"] if flow["station"] == "walker"],
            "simulator": {key: run["simulator"][key] for key in ("kernel", "digest", "associations", "roams")},
        }
        for run in document["runs"]
    ]
    stored = {"lasthop": document["lasthop"], "made": made.isoformat(), "runs": kept}
    file.write_text(json.dumps(stored, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in QUEUES.items():
        renew(*each)
    for one in ROAMS.items():
        renew_roams(*one)
