"""The command `lasthop`: a module for each command, and a folder for each group of commands.

`_commands.py` has the table of commands, `_parser.py` makes the parser from it.
Exit status: 0 done, 1 a run failed, 77 a script was skipped, 2 wrong usage or input (one message), 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from io import TextIOWrapper

import lasthop

from ..data.extras import MissingExtra
from ..data.terminal import printable
from ._commands import COMMANDS, DAILY, GROUPS, group_of
from ._mistake import Mistake
from ._pager import page_unless
from ._parser import Parser, build_parser
from ._unknown import refuse_command, refuse_in_group

__all__ = ["COMMANDS", "DAILY", "GROUPS", "build_parser", "main"]


# The answer to `lasthop` alone.
WAYS_IN = """\
lasthop simulates what Wi-Fi does to TCP, QUIC and calls, and shows why. Five ways in:

  lasthop run tcp-nup --seeds 5      simulate a ready scenario: a table with intervals
  lasthop showcase bufferbloat       one question, answered by pictures and checked claims
  lasthop new mine                   write a scenario of your own to edit
  lasthop analyze CAPTURE            read a capture of a network that exists
  lasthop serve                      runs, scenarios and the air, frame by frame, in a browser

`lasthop list showcase` and `lasthop list scenario` have the names, `lasthop --help` the commands.
"""


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
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 shows ? for ±
    try:
        # No `list(…)` here: the command of that name becomes an attribute of this package.
        return _execute([*(sys.argv[1:] if arguments is None else arguments)])
    except BrokenPipeError:
        # The reader of the output has gone. Further output, also at exit, would fail again.
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
    except (MissingExtra, Mistake, lasthop.ScenarioError, lasthop.StoreError) as mistake:
        _complain(str(mistake))
        return 2
    except KeyboardInterrupt:
        _complain("interrupted")
        return 130
    except BrokenPipeError:
        raise
    except OSError as error:
        _complain(f"{error.filename or 'output'}: {error.strerror or error}")
        return 1


def _complain(sentence: str) -> None:
    sys.stderr.write(printable(f"lasthop: {sentence}\n"))


def _run(given: list[str]) -> int:
    if not given:
        sys.stdout.write(printable(WAYS_IN))
        return 0
    try:
        own, behind = _cut(_checked(given))
        chosen = _parser_for(own).parse_args(own)
        if behind is not None and not hasattr(chosen, "command"):
            raise Mistake("--: no command may follow here; only `lasthop emulate --station NAME -- COMMAND` takes one")
        chosen.command = behind or []
        page_unless(getattr(chosen, "no_pager", False))
        from pathlib import Path

        from ._arguments import remove_left

        remove_left(Path(os.environ.get("TMPDIR") or "/tmp"))
        status: int = chosen.execute(chosen)
        return status
    except SystemExit as end:  # that is how --help and --version end
        return int(end.code or 0)


def _cut(given: list[str]) -> tuple[list[str], list[str] | None]:
    """Splits the arguments at `--`; a user's command line follows it."""
    if "--" not in given:
        return given, None
    place = given.index("--")
    return given[:place], given[place + 1 :]


def _parser_for(own: list[str]) -> Parser:
    """A parser with the command of this line alone: importing the others takes longer than most commands run."""
    name = " ".join(own[:2]) if group_of(own[0]) else own[0]
    if name in COMMANDS:
        return build_parser((name,))
    return build_parser(_names_in(own[0]), is_complete=False)


def _names_in(group: str) -> tuple[str, ...]:
    """The commands of a group; all commands if this is no group."""
    return tuple(name for name in COMMANDS if group_of(group) is None or name.startswith(f"{group} "))


def _checked(given: list[str]) -> list[str]:
    """The command line; one that prints help after `help`."""
    if any("\0" in argument for argument in given):
        raise Mistake("an argument has a NUL in it")
    first, *rest = given or ["--help"]  # `lasthop help` alone
    if first == "help":
        words = rest[: 2 if rest and group_of(rest[0]) else 1]
        return _checked([*words, "--help"])
    if first in ("-h", "--help", "--version"):
        return [first]
    if group_of(first):
        return _in_group(first, rest)
    if first not in COMMANDS:
        refuse_command(first, rest)
    return given


def _in_group(group: str, rest: list[str]) -> list[str]:
    """The command line of a group; without a command, one that prints its help."""
    if not rest or rest[0] in ("-h", "--help"):
        return [group, "--help"]
    if f"{group} {rest[0]}" not in COMMANDS:
        refuse_in_group(group, rest[0])
    return [group, *rest]
