"""Random paths: bulk flows of a kernel in virtual time beside the simulated ones, over the same air and the same wires.

`paths.py` draws PATHS paths by the seed DRAW, or by the number that is given, carries each out on both sides and keeps the outcome in
recorded/SERIES/paths.json. It fails where the goodput of a path is out. `LASTHOP_KERNEL` names the kernel, whose version chooses the profile.
"""

from __future__ import annotations

import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import lasthop
from lasthop.kernel.emulation import find_kernel
from versions import kept_file, profile_of

PATHS, SEEDS, DRAW = 20, 2, 1
# A path beyond this is an outlier: two seeds of ten seconds leave about 2 %.
OUTLIER = 0.05
TEXT = """\
name = "{name}"
duration = "12 s"
warmup = "2 s"

[bss]
standard = "{standard}"

[[station]]
name = "sta"
count = {stations}
distance = "{distance} m"
queue = {{ kind = "fifo", limit = "{room} packets" }}

[wired]
rate = "{rate} Mbit/s"
delay = "{delay} ms"
queue = {{ {queue} }}

[tcp]
profile = "{profile}"
congestion_control = "{control}"
receive_window = {window}
# A TUN device takes all that is sent.
small_queue = "off"
local_drop = "unnoticed"

[[flow]]
station = "*"
direction = "{direction}"
"""
QUEUES = ('kind = "fifo", limit = "100 packets"', 'kind = "codel"', 'kind = "fq_codel"', 'kind = "dualpi2"')


def drawn(seed: int, count: int, profile: str) -> Iterator[str]:
    """Scenarios by a seed."""
    draw = random.Random(seed)
    for number in range(1, count + 1):
        yield TEXT.format(
            name=f"path-{number}",
            standard=draw.choice(("802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax")),
            stations=draw.randint(1, 4),
            distance=draw.choice((2, 5, 10)),
            room=draw.choice((50, 100, 200)),
            rate=draw.choice((5, 10, 20, 40, 80)),
            delay=draw.choice((2, 5, 10, 20, 40)),
            queue=draw.choice(QUEUES),
            profile=profile,
            control=draw.choice(("cubic", "newreno", "bbr", "westwood", "htcp", "dctcp")),
            window=draw.choice(('"autotune"', '"autotune"', '"64 KiB"', '"256 KiB"')),
            direction=draw.choice(("down", "up", "both")),
        )


def figures(run: dict[str, Any]) -> dict[str, float]:
    """The figures of a run that are compared: bit/s, seconds, packets."""
    totals = run["totals"]
    rtts = [flow["rtt_mean_s"] for flow in run["flows"] if flow["rtt_mean_s"] is not None]
    return {
        "goodput_bps": totals["goodput_bps"],
        "up_bps": totals["goodput_up_bps"],
        "rtt_s": mean(rtts),
        "marks": sum(wire["queue_marks"] or 0 for wire in run["wires"]),
        "drops": sum(wire["queue_drops"] for wire in run["wires"]),
    }


def simulated(text: str, seeds: int = SEEDS) -> dict[str, float]:
    """The means of the simulation."""
    runs = lasthop.run(lasthop.Scenario(text, "path.toml"), seeds=seeds, interval_s=None).runs
    return _means([figures(run) for run in runs])


def emulated(text: str, kernel: str, seeds: int = SEEDS) -> dict[str, float]:
    """The means of a kernel's runs."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "path.toml"
        file.write_text(text)
        command = [
            sys.executable,
            "-m",
            "lasthop",
            "emulate",
            file,
            "--kernel",
            kernel,
            "--seeds",
            str(seeds),
            "--json",
            "-",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{text}\n{done.stderr[-2000:]}")
    return _means([figures(run) for run in json.loads(done.stdout)["runs"]])


def _means(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: mean(run[key] for run in runs) for key in runs[0]}


def outliers(paths: list[dict[str, Any]]) -> list[str]:
    """The paths whose goodput is out."""
    off = [(path["text"], path["ours"]["goodput_bps"] / path["kernel"]["goodput_bps"] - 1) for path in paths]
    return [f"{text.partition(chr(10))[0]}: {100 * by:+.1f} %" for text, by in off if abs(by) > OUTLIER]


def main(arguments: list[str]) -> int:
    """Draws, carries out, keeps; 1 where a path is out."""
    name = os.environ.get("LASTHOP_KERNEL", "own")
    version = find_kernel(name).version
    draw = int(arguments[0]) if arguments else DRAW
    file = kept_file("paths", version)
    file.parent.mkdir(exist_ok=True)
    kept: dict[str, Any] = {"kernel": version, "date": str(datetime.date.today()), "draw": draw, "paths": []}
    for text in drawn(draw, PATHS, profile_of(version)):
        path = {"text": text, "kernel": emulated(text, name), "ours": simulated(text)}
        kept["paths"].append(path)
        off = path["ours"]["goodput_bps"] / path["kernel"]["goodput_bps"] - 1
        sys.stdout.write(f"{text.partition(chr(10))[0]}: {100 * off:+.1f} % {path['kernel']} {path['ours']}\n")
        sys.stdout.flush()
        file.write_text(json.dumps(kept, indent=1) + "\n")
    out = outliers(kept["paths"])
    sys.stdout.write("".join(f"out: {each}\n" for each in out))
    return int(bool(out))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
