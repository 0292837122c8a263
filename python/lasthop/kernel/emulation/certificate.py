"""Certificates of emulated runs: whether real time has kept up, and whether packets were lost on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...data.plain_number import plain
from ...data.result import Result


class Verdict(NamedTuple):
    """Whether an emulated run can be trusted, with the reasons."""

    valid: bool
    lines: list[str]


def verdicts(result: Result) -> Iterator[Verdict]:
    """The verdict of each emulated run of a result."""
    for run in result.told_runs:
        simulator = run["simulator"]
        if "certificate" in simulator:
            yield _verdict(run["seed"], simulator)


def _verdict(seed: int, simulator: dict[str, Any]) -> Verdict:
    certificate = simulator["certificate"]
    lines = [f"warning: seed {seed}: {note}" for note in certificate["notes"]]
    lines += [
        f"warning: seed {seed}: {count} packets {why} were left out" for why, count in certificate["strays"].items()
    ]
    lines += [f"seed {seed} is not valid: {fault}" for fault in certificate["faults"]]
    head = f"seed {seed} is valid" if certificate["valid"] else f"seed {seed}"
    lines.append(
        f"{head}: p99 lateness {_time(certificate['lateness_p99_s'])}, p99.9 {_time(certificate['lateness_p999_s'])}, "
        f"{certificate['tun_drops']} TUN drops, {certificate['deliveries']:,} packets delivered "
        f"({simulator['time']} time, Linux {simulator['kernel']}, digest {simulator['digest']})"
    )
    return Verdict(certificate["valid"], lines)


def _time(seconds: float) -> str:
    """A short time with its unit."""
    return f"{plain(seconds * 1e6, 3)} us" if seconds < 1e-3 else f"{plain(seconds * 1e3, 3)} ms"
