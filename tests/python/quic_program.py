"""QUIC as a program in a guest, and as a simulated flow, on ten random paths.

`python tests/python/quic_program.py --write` runs the program of `examples/quic-transfer` in kernels and keeps the numbers in
tests/data/quic-program.json; it needs `cargo build -p lasthop-quic-transfer` and a kernel of `lasthop emulate`.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import lasthop

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "quic-program.json"
PROGRAM = "lasthop-quic-transfer"
PATHS, SEED = 10, 2026
WARMUP_S, END_S = 2, 12

SCENARIO = """
duration = "{duration} s"
warmup = "{warmup} s"
[channel]
path_loss = "none"
[bss]
standard = "802.11n"
rate_control = {{ kind = "fixed", mcs = {mcs} }}
[[station]]
queue = {{ kind = "fifo", limit = "1000 packets" }}
[wired]
rate = "{rate} Mbit/s"
delay = "{delay} ms"
queue = {{ kind = "fifo", limit = "{limit} packets" }}
[emulation]
kernel = "stock"
[[flow]]
direction = "up"
"""


def paths() -> list[dict[str, int]]:
    """Ten random paths: the rate in Mbit/s, the delay in ms, the queue in packets, the MCS, the datagram in bytes."""
    draws = random.Random(SEED)
    return [
        {
            "rate": draws.randint(2, 25),
            "delay": draws.randint(2, 60),
            "limit": draws.randint(20, 80),
            "mcs": draws.randint(4, 7),
            "datagram": draws.randint(1200, 1452),
        }
        for _ in range(PATHS)
    ]


def built() -> Path | None:
    """The program, if it was built."""
    files = [ROOT / "target" / profile / PROGRAM for profile in ("release", "debug")]
    return next((file for file in files if file.is_file()), None)


def simulated(path: dict[str, int]) -> dict[str, float]:
    """The numbers of a simulated flow."""
    text = (
        SCENARIO.format(duration=END_S, warmup=WARMUP_S, **path)
        + f'transport = "quic"\ndatagram = "{path["datagram"]} B"\n'
    )
    (flow,) = lasthop.run(lasthop.Scenario(text), seeds=1, interval_s=None).runs[0]["flows"]
    return {"goodput_bps": flow["goodput_bps"], "rtt_mean_s": flow["rtt_mean_s"]}


def by_program(path: dict[str, int], program: Path) -> dict[str, Any]:
    """The numbers that the program prints at its ends in a guest."""
    keys = f"{WARMUP_S} {END_S} datagram={path['datagram']}"
    text = SCENARIO.format(duration=END_S + 1, warmup=WARMUP_S, **path) + (
        f'application = {{ kind = "command", client = "{program} client {{server}} {{port}} {keys}", '
        f'server = "{program} server {{port}} {keys}" }}\n'
    )
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        (out / "path.toml").write_text(text)
        line = (sys.executable, "-m", "lasthop", "emulate", out / "path.toml", "--seeds", "1", "--out", out / "result")
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        printed = list((out / "result" / "programs" / "seed-1").glob("*.out"))
        if len(printed) != 2:
            raise RuntimeError(done.stderr)
        return {key: of for file in printed for key, of in json.loads(file.read_text()).items()}


def main() -> None:
    """Runs the program on all paths; prints the numbers beside those of the simulation, and keeps them."""
    program = built()
    if program is None:
        sys.exit(f"cargo build -p {PROGRAM} makes the program")
    rows = []
    for path in paths():
        row = {"path": path, "program": by_program(path, program)}
        print(row, simulated(path), flush=True)
        rows.append(row)
    if "--write" in sys.argv[1:]:
        DATA.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
