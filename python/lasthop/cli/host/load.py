"""`lasthop bpf`: the mechanisms of papers on this machine's own kernel."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from ...kernel.bpf import HostError, NotHere, load_ack_loss, load_ack_skip, load_split_queue, loaded, readings, unload
from ...kernel.bpf.layout import BASES
from ...kernel.bpf.programs import NAMES
from .._mistake import Mistake
from .._output import note, show
from .._table import table
from ..cc._evidence import SKIPPED

SUMMARY = "load the mechanisms of papers into this machine's kernel"
PROGRAMS = {
    "ack_loss": "halves the window when ACKs are missing, around the kernel's CUBIC or Reno [hashimoto2008]",
    "ack_skip": "leaves out pure ACKs that leave a device [gopal2005]",
    "split_queue": "queues data and pure ACKs apart before a device [hashimoto2008]",
}
TOGETHER = (
    "ack_loss and ack_skip are both on this host: left-out ACKs look like lost ones to a sender under ack_loss (measured: a "
    "ninth of the goodput); never put both on one path"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop bpf`."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    actions.add_parser("list", help="list the programs and those that are loaded").set_defaults(act=_list)
    _add_load(actions.add_parser("load", help="load a program; it stays until it is unloaded", allow_abbrev=False))
    stats = actions.add_parser("stats", help="show the counters of loaded programs", allow_abbrev=False)
    stats.add_argument("--watch", action="store_true", help="print them once a second, until Ctrl-C")
    stats.add_argument("--record", metavar="DIR", help="write windows, detections and halvings as a result to DIR")
    stats.add_argument(
        "--for",
        metavar="SECONDS",
        dest="seconds",
        type=float,
        default=10.0,
        help="length of the recording (default 10)",
    )
    stats.set_defaults(act=_stats)
    out = actions.add_parser("unload", help="unload a program and restore the host's settings", allow_abbrev=False)
    out.add_argument("name", metavar="NAME", choices=NAMES, help=", ".join(NAMES))
    out.add_argument("--device", metavar="DEVICE", help="unload it from this device only (default: from all)")
    out.set_defaults(act=_unload)


def _add_load(parser: argparse.ArgumentParser) -> None:
    programs = parser.add_subparsers(metavar="NAME", required=True)
    ack_loss = programs.add_parser("ack_loss", help=PROGRAMS["ack_loss"], allow_abbrev=False)
    ack_loss.add_argument(
        "--base", choices=BASES, default="cubic", help="controller that sets the window (default cubic)"
    )
    ack_loss.add_argument(
        "--threshold",
        metavar="N",
        type=_count,
        default=1,
        help="number of ACKs of a window that may be missing (default 1)",
    )
    scope = ack_loss.add_mutually_exclusive_group()
    scope.add_argument("--cgroup", metavar="PATH", help="use it for new sockets of this cgroup (version 2)")
    scope.add_argument(
        "--default",
        action="store_true",
        help="use it for all new sockets of this network namespace; unload restores the earlier default",
    )
    ack_loss.set_defaults(act=_load_ack_loss)
    ack_skip = programs.add_parser("ack_skip", help=PROGRAMS["ack_skip"], allow_abbrev=False)
    ack_skip.add_argument(
        "--device", metavar="DEVICE", required=True, help="the device that ACKs leave by, such as wlan0"
    )
    ack_skip.add_argument(
        "--skip", metavar="N", type=_count, default=3, help="number of ACKs dropped between two that pass (default 3)"
    )
    ack_skip.add_argument(
        "--start-after",
        metavar="N",
        type=_count,
        default=10,
        help="number of ACKs at the start of a flow that all pass (default 10)",
    )
    ack_skip.set_defaults(act=_load_ack_skip)
    split = programs.add_parser("split_queue", help=PROGRAMS["split_queue"], allow_abbrev=False)
    split.add_argument(
        "--device", metavar="DEVICE", required=True, help="the device that packets leave by, such as wlan0"
    )
    split.add_argument(
        "--rate", metavar="RATE", help="highest rate of the device, as tc writes it (50mbit), so that packets wait here"
    )
    split.set_defaults(act=_load_split_queue)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, found {text}")
    return int(text)


def execute(arguments: argparse.Namespace) -> int:
    """0, or 77 where this machine cannot load programs, with the reason."""
    try:
        arguments.act(arguments)
    except NotHere as missing:
        note(f"bpf: {missing}")
        return SKIPPED
    except HostError as error:
        raise Mistake(f"bpf: {error}") from None
    return 0


def _list(_arguments: argparse.Namespace) -> None:
    present = {}
    for one in loaded():
        where = f" on {one.device}" if one.device else ""
        present.setdefault(one.name, []).append(f"{one.settings}{where}")
    rows = [[name, PROGRAMS[name], "; ".join(present.get(name, ["not loaded"]))] for name in NAMES]
    show(table(["name", "what it does", "loaded"], rows, left=3))


def _load_ack_loss(arguments: argparse.Namespace) -> None:
    load_ack_loss(arguments.base, arguments.threshold, cgroup=arguments.cgroup, default=arguments.default)
    note(f"ack_loss is loaded around {arguments.base}; any socket may choose it (`iperf3 -C ack_loss`)")
    _warn_of_both()


def _load_ack_skip(arguments: argparse.Namespace) -> None:
    load_ack_skip(arguments.device, arguments.skip, arguments.start_after)
    note(f"ack_skip is loaded on {arguments.device}")
    _warn_of_both()


def _load_split_queue(arguments: argparse.Namespace) -> None:
    load_split_queue(arguments.device, arguments.rate)
    note(f"split_queue is loaded on {arguments.device}")


def _warn_of_both() -> None:
    if {"ack_loss", "ack_skip"} <= {one.name for one in loaded()}:
        note(f"warning: {TOGETHER}")


def _unload(arguments: argparse.Namespace) -> None:
    for one in unload(arguments.name, arguments.device):
        note(f"{one.name} is taken out" + (f" from {one.device}" if one.device else ""))


def _stats(arguments: argparse.Namespace) -> None:
    if arguments.record is not None:
        rows = readings.write_result(Path(arguments.record), list(readings.records(arguments.seconds)))
        note(f"{arguments.record} has {rows} rows over time; `lasthop plot {arguments.record} --kind cwnd` draws them")
        return
    show(_stats_text())
    while arguments.watch:
        time.sleep(1)
        show(("\033[H\033[J" if sys.stdout.isatty() else "\n") + _stats_text())


def _stats_text() -> str:
    present = loaded()
    if not present:
        raise HostError("no program is loaded; `lasthop bpf list` lists them")
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
