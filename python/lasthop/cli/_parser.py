"""The parser of the command line, built from the table of commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from .. import __version__
from ..data.terminal import printable
from ._commands import COMMANDS, DAILY, GROUPS, SECTIONS, Command, Group, heading_of
from ._mistake import Mistake
from ._pager import add_no_pager

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


PROGRAM = "lasthop"
DESCRIPTION = "A laboratory for TCP, QUIC and calls over Wi-Fi."


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a wrong command line as one sentence."""

    #: options of other commands that a user may expect here, each with the remedy
    elsewhere: Mapping[str, str] = MappingProxyType({})

    def error(self, message: str) -> NoReturn:
        """Raises `Mistake`; argparse would print the usage and exit."""
        raise Mistake(f"{message.removeprefix('argument ')}; see `{self.prog} --help`")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Raises `OSError` if the help cannot be written, which argparse ignores."""
        (file or sys.stderr).write(printable(message))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuses unknown options in the parser of the command, so that the message names its help."""
        parsed, rest = super().parse_known_args(args, namespace)
        unknown = [argument for argument in rest if argument.startswith("-") and argument != "-"]
        if unknown:
            option = unknown[0].partition("=")[0]
            if remedy := self.elsewhere.get(option):
                raise Mistake(f"{option}: {remedy}")
            self.error(f"{option}: unknown option{did_you_mean(option, self._option_string_actions)}")
        if rest:
            self.error(f"{rest[0]}: unexpected argument")
        return parsed, rest


class CommandList(argparse.HelpFormatter):
    """Help with a line for each command, under the headings of the sections and of the groups."""

    def _iter_indented_subactions(self, action: argparse.Action) -> Generator[argparse.Action, None, None]:
        """Commands are not indented below the word COMMAND, which is left out."""
        yield from action._get_subactions() if isinstance(action, argparse._SubParsersAction) else ()

    def _format_action(self, action: argparse.Action) -> str:
        text = super()._format_action(action)
        if isinstance(action, argparse._SubParsersAction):
            return text.partition("\n")[2]
        if action.option_strings:
            return text
        heading = "groups of commands" if action.dest == GROUPS[0].name else heading_of(action.dest)
        return f"\n{heading}:\n{text}" if heading and self._has_headings else text

    @property
    def _has_headings(self) -> bool:
        """Whether this is the help of `lasthop`, not of a group, whose commands may share a name with a daily one."""
        return self._prog == PROGRAM


def build_parser(names: Iterable[str] = COMMANDS, *, is_complete: bool = True) -> Parser:
    """The parser of these commands. One that is not complete has their names and summaries, and imports no command."""
    chosen = set(names)
    parser = Parser(
        prog=PROGRAM,
        description=DESCRIPTION,
        epilog="`lasthop help COMMAND` shows the options of a command, `lasthop help GROUP` the commands of a group.",
        allow_abbrev=False,
        formatter_class=CommandList,
    )
    parser.add_argument("--version", action="version", version=f"lasthop {__version__}")
    commands = _add_commands(parser, next(iter(SECTIONS)))
    for command in DAILY:
        if command.name in chosen:
            _add_command(commands, command, "", is_complete=is_complete)
    for group in GROUPS:
        if own := [command for command in group.commands if f"{group.name} {command.name}" in chosen]:
            _add_group(commands, group, own, is_complete=is_complete)
    return parser


def _add_commands(parser: argparse.ArgumentParser, heading: str = "commands") -> Any:
    parser._positionals.title = heading
    return parser.add_subparsers(metavar="COMMAND", required=True)


def _add_group(commands: Any, group: Group, own: Iterable[Command], *, is_complete: bool) -> None:
    parser = commands.add_parser(
        group.name,
        help=f"{group.summary}: {', '.join(command.name for command in group.commands)}",
        description=group.summary,
        epilog=f"`lasthop help {group.name} COMMAND` shows the options of a command.",
        allow_abbrev=False,
        formatter_class=CommandList,
    )
    below = _add_commands(parser)
    for command in own:
        _add_command(below, command, f".{group.name}", is_complete=is_complete)


def _add_command(commands: Any, command: Command, folder: str, *, is_complete: bool) -> None:
    parser = commands.add_parser(command.name, help=command.summary, description=command.summary, allow_abbrev=False)
    if not is_complete:
        return
    module = import_module(f"{folder}.{command.name}", __package__)
    module.add_arguments(parser)
    parser.elsewhere = getattr(module, "ELSEWHERE", parser.elsewhere)
    if command.is_paged:
        add_no_pager(parser)
    parser.set_defaults(execute=module.execute)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The nearest name as a question, if one is near."""
    from difflib import get_close_matches

    near = get_close_matches(name, [*known], n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""
