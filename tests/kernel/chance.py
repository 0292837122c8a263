"""Scenarios by chance: losses, late segments, marks, with and without SACK and timestamps, delayed ACKs.

`chance.py SEED COUNT DIR` records so many on this machine's kernel into DIR, to be replayed by `lasthop replay-recovery`.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

from recorder import be_prompt, record, why_not, write


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
    return made


def main() -> int:
    """The command line."""
    if reason := why_not():
        sys.stderr.write(f"chance: {reason}\n")
        return 77
    seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    be_prompt()
    for number in range(seed, seed + count):
        write(record(f"chance_{number}", scenario(number), 1), folder / f"chance_{number}.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
