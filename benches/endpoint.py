"""What a TCP endpoint costs by itself: two of them, and nothing between them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from checks import Check
from child import Failed, note

ROOT = Path(__file__).resolve().parent.parent
COMMAND = (
    "cargo",
    "run",
    "--quiet",
    "--release",
    "--package",
    "lasthop-tcp",
    "--example",
    "endpoint_cost",
    "--",
    "--json",
)


def has_source() -> bool:
    """Whether the crates are here, which a package does not hold."""
    return (ROOT / "Cargo.toml").is_file()


def endpoint_checks() -> Iterator[Check]:
    """Builds and runs the example of the crate, which takes the fastest of several pieces; nothing where its source is not."""
    if not has_source():
        note("endpoint: left out, as the source of lasthop is not here")
        return
    cost = _costs()
    yield Check("a segment and its ACK, both endpoints: `linux`, `cubic`", cost["linux"], 250, "ns")
    yield Check("the same with delayed ACKs", cost["linux_delayed"], 250, "ns")
    yield Check("the same with a window of 20000", cost["linux_20000"], 250, "ns")
    growth = cost["scoreboard_20000"] / cost["scoreboard_200"]
    yield Check("the same with 1 % lost, a window of 20000 over one of 200", growth, 1.5, "")


def ack_path_ns() -> float:
    """Nanoseconds of a segment and its ACK at both endpoints together: `linux` and `cubic`."""
    return _costs()["linux"]


@cache
def _costs() -> dict[str, float]:
    """Nanoseconds by the key of the measurement."""
    try:
        done = subprocess.run(COMMAND, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failed(f"endpoint_cost: {getattr(error, 'stderr', None) or error}") from None
    return {row["key"]: row["ns"] for row in map(json.loads, done.stdout.splitlines())}
