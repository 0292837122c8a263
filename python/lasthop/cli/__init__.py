"""The command `lasthop`: one file for each command, which holds its arguments and what it does.

Each command's module has `SUMMARY`, `add_arguments(parser)` and `execute(arguments) -> exit status`.
Exit status: 0 done, 1 a run failed, 77 a script was skipped, 2 wrong usage or input (one message), 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from .. import ScenarioError, StoreError, __version__
from ._mistake import Mistake

COMMANDS = (
    *("run", "sweep", "query", "reproduce", "plot", "compare", "explain", "theory"),
    *("packetdrill", "replay-cc", "replay-recovery"),
    *("list", "show", "schema", "doctor", "bench"),
)
NOT_YET = {
    "analyze": "reading packet captures",
    "emulate": "carrying real traffic through the simulated last hop",
    "kernel": "programs for the Linux kernel",
    "serve": "the web page",
}


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a wrong command line as one sentence."""

    def error(self, message: str) -> NoReturn:
        raise Mistake(f"{message.removeprefix('argument ')}; see `{self.prog} --help`")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    # Asked for explicitly: a shell starts background jobs with Ctrl-C ignored, and a kill should keep what is finished.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    # The terminal has gone; under nohup that is no reason to stop.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGINT))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a terminal without UTF-8 shows ? for ±
    try:
        # No `list(…)` here: the command of that name becomes an attribute of this package.
        given = [*(sys.argv[1:] if arguments is None else arguments)]
        if given and given[0] in NOT_YET:
            raise Mistake(f"{given[0]}: {NOT_YET[given[0]]} is not there yet")
        chosen = build_parser().parse_args(given)
        status = chosen.execute(chosen)
        sys.stdout.flush()
        return status
    except (Mistake, ScenarioError, StoreError) as mistake:
        sys.stderr.write(f"lasthop: {mistake}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("lasthop: interrupted\n")
        return 130
    except BrokenPipeError:
        # Whoever read the output has gone; nothing is left to say, not even at exit.
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return 1
    except OSError as error:
        sys.stderr.write(f"lasthop: {error.filename or 'output'}: {error.strerror or error}\n")
        return 1


def build_parser() -> Parser:
    """The parser of all commands."""
    parser = Parser(
        prog="lasthop",
        description="A fast simulator of TCP over 802.11.",
        epilog=f"Not there yet: {', '.join(NOT_YET)}.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"lasthop {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = import_module(f".{name.replace('-', '_')}", __name__)
        command = commands.add_parser(name, help=module.SUMMARY, description=module.SUMMARY, allow_abbrev=False)
        module.add_arguments(command)
        command.set_defaults(execute=module.execute)
    return parser
