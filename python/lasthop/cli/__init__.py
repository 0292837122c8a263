"""The command `lasthop`: one file for each command, which holds its arguments and what it does.

Each command's module has `SUMMARY`, `add_arguments(parser)` and `execute(arguments) -> exit status`.
Exit status: 0 done, 1 a run failed, 77 a script was skipped, 2 wrong usage or input (one message), 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

from .. import ScenarioError, StoreError, __version__
from ._mistake import Mistake
from ._pager import add_no_pager, page_unless

COMMANDS = (
    *("run", "sweep", "query", "reproduce", "plot", "compare", "explain", "theory", "emulate", "serve", "report"),
    *("analyze", "twin", "export-link"),
    *("packetdrill", "replay-cc", "replay-recovery", "check-cc"),
    *("new", "cc-header"),
    *("bpf", "deploy"),
    *("check", "list", "show", "schema", "completion", "man", "doctor", "bench"),
)

# Modules of commands that are in a folder.
MODULES = {
    "check-cc": "cc.check",
    "replay-cc": "cc.replay",
    "replay-recovery": "cc.recovery",
    "packetdrill": "cc.packetdrill",
    "cc-header": "cc.header",
    "bpf": "host.load",
    "deploy": "host.deploy",
    "export-link": "export.link",
    **{name: f"self.{name}" for name in ("doctor", "completion", "man", "schema", "bench")},
}

# Commands whose output may be longer than a terminal.
PAGED = (
    *(
        "run",
        "sweep",
        "query",
        "reproduce",
        "compare",
        "explain",
        "theory",
        "emulate",
        "analyze",
        "twin",
        "bpf",
        "deploy",
    ),
    *("list", "show"),
)


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a wrong command line as one sentence."""

    def error(self, message: str) -> NoReturn:
        raise Mistake(f"{message.removeprefix('argument ')}; see `{self.prog} --help`")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Unlike argparse's, does not keep it to itself where the help cannot be written."""
        (file or sys.stderr).write(message)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuses options that there are not here, where the help for them is known."""
        found, rest = super().parse_known_args(args, namespace)
        unknown = [argument for argument in rest if argument.startswith("-") and argument != "-"]
        if unknown:
            option = unknown[0].partition("=")[0]
            self.error(f"{option}: unknown option{_did_you_mean(option, self._option_string_actions)}")
        if rest:
            self.error(f"{rest[0]}: unexpected argument")
        return found, rest


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    # Set explicitly: a shell starts background jobs with Ctrl-C ignored, and a kill should keep finished work.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    # The terminal has gone; under nohup that is no reason to stop.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGINT))
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a terminal without UTF-8 shows ? for ±
    try:
        # No `list(…)` here: the command of that name becomes an attribute of this package.
        return _execute([*(sys.argv[1:] if arguments is None else arguments)])
    except BrokenPipeError:
        # The reader of the output has gone; nothing is left to say, not even at exit.
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return 1


def _open_streams() -> None:
    """Gives the streams that were closed (`>&-`, some daemons) to no one, before a file of ours gets their number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            if (lowest := os.open(os.devnull, os.O_RDWR)) != number:
                os.dup2(lowest, number)
                os.close(lowest)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - stays open


def _execute(given: list[str]) -> int:
    try:
        status = _run(given)
        sys.stdout.flush()
        return status
    except (Mistake, ScenarioError, StoreError) as mistake:
        sys.stderr.write(f"lasthop: {mistake}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("lasthop: interrupted\n")
        return 130
    except BrokenPipeError:
        raise
    except OSError as error:
        sys.stderr.write(f"lasthop: {error.filename or 'output'}: {error.strerror or error}\n")
        return 1


def _run(given: list[str]) -> int:
    try:
        own, behind = _cut(_checked(given))
        # The modules of the other commands take longer to import than most commands to run.
        needed = (own[0],) if own[0] in COMMANDS else () if own == ["--version"] else COMMANDS
        chosen = build_parser(needed).parse_args(own)
        if behind is not None and not hasattr(chosen, "command"):
            raise Mistake("--: no command may follow here; only `lasthop emulate --station NAME -- COMMAND` takes one")
        chosen.command = behind or []
        page_unless(getattr(chosen, "no_pager", False))
        return chosen.execute(chosen)
    except SystemExit as end:  # that is how --help and --version end
        return int(end.code or 0)


def _cut(given: list[str]) -> tuple[list[str], list[str] | None]:
    """Splits the arguments at `--`; a user's command line follows it."""
    if "--" not in given:
        return given, None
    place = given.index("--")
    return given[:place], given[place + 1 :]


def _checked(given: list[str]) -> list[str]:
    """The command line; without a command, or with `help`, one that prints help."""
    if not given:
        return ["--help"]
    if any("\0" in argument for argument in given):
        raise Mistake("an argument has a NUL in it")
    command, *rest = given
    if command == "help":
        if rest and rest[0] not in COMMANDS:
            _refuse_command(rest[0])
        return [*rest[:1], "--help"]
    if command in ("-h", "--help", "--version"):
        return [command]
    if command not in COMMANDS:
        _refuse_command(command)
    return given


def _refuse_command(name: str) -> NoReturn:
    if name.startswith("-"):
        raise Mistake(f"{name}: unknown option before a command; see `lasthop --help`")
    if name.endswith((".toml", ".json")):
        raise Mistake(
            f"{name}: is a file, not a command; e.g. `lasthop {'run' if name.endswith('toml') else 'plot'} {name}`"
        )
    raise Mistake(f"{name}: unknown command{_did_you_mean(name, COMMANDS)}; `lasthop help` lists them")


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, [*known], n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""


def build_parser(names: Sequence[str] = COMMANDS) -> Parser:
    """The parser of these commands."""
    parser = Parser(
        prog="lasthop",
        description="A fast simulator of TCP over 802.11.",
        epilog="Run `lasthop help COMMAND` for the options of a command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"lasthop {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in names:
        module = import_module(f".{MODULES.get(name, name)}", __name__)
        command = commands.add_parser(name, help=module.SUMMARY, description=module.SUMMARY, allow_abbrev=False)
        module.add_arguments(command)
        if name in PAGED:
            add_no_pager(command)
        command.set_defaults(execute=module.execute)
    return parser
