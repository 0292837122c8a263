"""`lasthop self completion`: the script that completes the command line in a shell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from .._parser import build_parser

SHELLS = ("bash", "zsh", "fish")
# Metavariables of the help for entries of the file system.
FILES = ("FILE", "CAPTURE", "RESULT", "A", "B", "STORE", "DIR|RESULT|STORE", "PATH")
DIRECTORIES = ("DIR",)
# Folders in which each shell looks by itself, for the help.
PLACES = """\
bash: lasthop self completion bash > ~/.local/share/bash-completion/completions/lasthop
zsh:  lasthop self completion zsh > DIRECTORY/_lasthop, a directory of $fpath
fish: lasthop self completion fish > ~/.config/fish/completions/lasthop.fish"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop self completion`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = PLACES
    parser.add_argument("shell", choices=SHELLS)


def execute(arguments: argparse.Namespace) -> int:
    """Prints the script."""
    import shtab

    parser = build_parser()
    for action in _actions(parser):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in DIRECTORIES:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    sys.stdout.write(shtab.complete(parser, arguments.shell) + "\n")
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
        else:
            yield action
