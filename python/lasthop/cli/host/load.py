"""`lasthop host load`: a mechanism of a paper in this machine's own kernel."""

from __future__ import annotations

import argparse
from typing import Any

from ...kernel.bpf import load_ack_loss, load_ack_skip, load_split_queue, loaded
from ...kernel.bpf.layout import BASES
from .._output import note
from ._programs import PROGRAMS, on_this_host

TOGETHER = (
    "ack_loss and ack_skip are both on this host: left-out ACKs look like lost ones to a sender under ack_loss (measured: a "
    "ninth of the goodput); never put both on one path"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop host load`."""
    programs = parser.add_subparsers(metavar="NAME", required=True)
    ack_loss = _add_program(programs, "ack_loss")
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
    ack_loss.set_defaults(load=_load_ack_loss)
    ack_skip = _add_program(programs, "ack_skip")
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
    ack_skip.set_defaults(load=_load_ack_skip)
    split = _add_program(programs, "split_queue")
    split.add_argument(
        "--device", metavar="DEVICE", required=True, help="the device that packets leave by, such as wlan0"
    )
    split.add_argument(
        "--rate", metavar="RATE", help="highest rate of the device, as tc writes it (50mbit), so that packets wait here"
    )
    split.set_defaults(load=_load_split_queue)


def _add_program(programs: Any, name: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = programs.add_parser(
        name, help=PROGRAMS[name], description=PROGRAMS[name], allow_abbrev=False
    )
    return parser


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, found {text}")
    return int(text)


def execute(arguments: argparse.Namespace) -> int:
    """Loads it; 77 if this machine cannot load programs."""
    return on_this_host(lambda: arguments.load(arguments))


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
