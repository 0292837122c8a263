"""`lasthop host stats`: the counters of loaded mechanisms, or a recording of them as a result."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from ...kernel.bpf import HostError, loaded, readings
from .._output import note, show
from .._table import table
from ._programs import on_this_host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop host stats`."""
    parser.add_argument("--watch", action="store_true", help="print them once a second, until Ctrl-C")
    parser.add_argument("--record", metavar="DIR", help="write windows, detections and halvings as a result to DIR")
    parser.add_argument(
        "--for",
        metavar="SECONDS",
        dest="seconds",
        type=float,
        default=10.0,
        help="length of the recording (default 10)",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Prints or records them; 77 if this machine cannot load programs."""
    return on_this_host(lambda: _stats(arguments))


def _stats(arguments: argparse.Namespace) -> None:
    if arguments.record is not None:
        rows = readings.write_result(Path(arguments.record), list(readings.records(arguments.seconds)))
        note(f"{arguments.record} has {rows} rows over time; `lasthop plot {arguments.record} --kind cwnd` draws them")
        return
    show(_stats_text())
    while arguments.watch:
        time.sleep(1)
        sys.stdout.write("\033[H\033[J" if sys.stdout.isatty() else "\n")
        show(_stats_text())


def _stats_text() -> str:
    present = loaded()
    if not present:
        raise HostError("no program is loaded; `lasthop host list` lists them")
    parts = []
    for one in present:
        if one.name == "ack_loss":
            parts.append(_sockets_text())
            continue
        names = ("pure ACKs", "left out") if one.name == "ack_skip" else ("data", "pure ACKs")
        parts.append(
            table(
                [f"{one.name} on {one.device or 'a device elsewhere'}", *names],
                [["packets", *map(str, readings.counts(one.place))]],
            )
        )
    return "\n".join(parts)


def _sockets_text() -> str:
    head = ["ack_loss", "ACKs", "missing", "findable (%)", "lost, about", "halvings", "cwnd", "RTT (ms)", "normal jump"]
    rows = [
        [
            f"{one.local} to {one.remote}" + (" (ended)" if one.ended else ""),
            *map(str, (one.acks, one.missing)),
            *(
                "" if one.findable_share is None else f"{100 * one.findable_share:.0f}",
                "" if one.lost_estimate is None else f"{one.lost_estimate:.0f}",
            ),
            *map(str, (one.halvings, one.cwnd_segments)),
            *(f"{one.srtt_s * 1e3:.1f}", str(one.normal_jump_segments)),
        ]
        for one in readings.sockets()
        if one.acks
    ]
    return table(head, rows or [["no socket has heard an ACK", *[""] * (len(head) - 1)]])
