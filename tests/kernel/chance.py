"""Scenarios by chance, recorded on this machine's kernel and replayed at the first try.

`chance.py FIRST COUNT` draws the scenarios of so many seeds from FIRST on (losses, late segments, marks, with and without
SACK and timestamps, delayed ACKs, either side listening), records each once, plays it again with the `linux` profile,
and prints what came of each and how many passed. `--out DIR` keeps the recordings, `--write` puts the figure into
docs/kernel.md. Status 1 if less than `--least` (85) per cent pass. Needs root and /dev/net/tun.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from recorder import be_prompt, record, why_not, write

from page import put

HEADING = "By chance"


def scenario(seed: int) -> dict[str, Any]:
    """One of many; the same seed gives the same."""
    draw = random.Random(seed)
    segments = draw.choice([30, 60, 100])
    made: dict[str, Any] = {
        "desc": f"by chance, seed {seed}",
        "cc": draw.choice(["reno", "reno", "cubic"]),
        "sack": draw.random() < 0.8,
        "ts": draw.random() < 0.3,
        "delack": draw.choice([1, 1, 2]),
        "rtt_ms": draw.choice([40, 100, 200]),
        "gap_ms": draw.choice([1.5, 2.5]),
        "segments": segments,
        "stop_ms": 9000,
    }
    first = draw.randrange(segments)
    length, share = draw.choice([(1, 1.0), (4, 1.0), (20, 0.3), (segments, 0.04)])
    made["drop"] = [[first + n, 1] for n in range(length) if first + n < segments and draw.random() < share]
    made["drop"] += [[segment, 2] for segment, _ in made["drop"] if draw.random() < 0.15]
    if draw.random() < 0.3:
        late = draw.randrange(segments)
        made["extra_delay_ms"] = [[late, 1, draw.choice([3, 8, 30, 90])]]
    if draw.random() < 0.2:
        made["sysctl"] = {"tcp_early_retrans": 0}
    if draw.random() < 0.2:
        made["ecn"], made["mark"] = True, [[draw.randrange(segments), 1]]
    made["listens"] = draw.random() < 0.5
    return made


def name_of(seed: int) -> str:
    """The name of its recording."""
    return f"chance_{seed}"


def record_all(seeds: range, folder: Path) -> None:
    """Records each once. The process has a network namespace of its own from then on."""
    be_prompt()
    for seed in seeds:
        write(record(name_of(seed), scenario(seed), 1), folder / f"{name_of(seed)}.json")


def replay_all(seeds: range, folder: Path) -> list[tuple[str, bool]]:
    """What came of each: a line, and whether it passed."""
    from lasthop import _core

    found = []
    for seed in seeds:
        _, line, verdict, _ = _core.replay_recovery((folder / f"{name_of(seed)}.json").read_text())
        found.append((f"{name_of(seed)}: {line}", verdict == "pass"))
    return found


def section(seeds: range, found: list[tuple[str, bool]]) -> str:
    """What docs/kernel.md says of it."""
    passed = sum(ok for _, ok in found)
    failures = "".join(f"- {line.replace('|', '/')}\n" for line, ok in found if not ok)
    return (
        f"Written by `tests/kernel/chance.py {seeds.start} {len(seeds)} --write` on {datetime.date.today()}, "
        f"Linux {platform.release()}:\n**{passed} of {len(seeds)} pass at the first try**, each recorded once, none left "
        f"out.{' Not followed:' if failures else ''}\n" + (f"\n{failures}" if failures else "")
    )


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--least", type=float, default=85.0, help="per cent that are to pass")
    parser.add_argument("--write", action="store_true", help="put the figure into docs/kernel.md")
    parser.add_argument("--record-only", action="store_true", help="do not replay")
    arguments = parser.parse_args()
    if reason := why_not():
        parser.exit(77, f"chance: {reason}\n")
    seeds = range(arguments.first, arguments.first + arguments.count)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.out or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if arguments.record_only:
            record_all(seeds, folder)
            return 0
        again = [sys.executable, __file__, str(arguments.first), str(arguments.count), "--record-only", "--out", folder]
        subprocess.run(again, check=True)
        found = replay_all(seeds, folder)
    for line, _ in found:
        print(line)
    passed = sum(ok for _, ok in found)
    print(f"{passed} of {len(found)} pass")
    if arguments.write:
        put(HEADING, section(seeds, found))
    return 0 if passed * 100 >= arguments.least * len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
