"""A page for each command, from its argparse parser: usage, arguments, every option."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from lasthop.cli import COMMANDS, GROUPS, build_parser
from lasthop.cli._commands import SECTIONS

from .markup import block, escaped, inline, title

WIDTH = 96


def pages() -> Iterator[tuple[str, str]]:
    """Names and texts of the pages, the list of commands first."""
    yield "index", _index()
    for name in COMMANDS:
        yield page_of(name), _page(f"lasthop {name}", parser_of(name))


def page_of(name: str) -> str:
    """The name of a command's page."""
    return name.replace(" ", "-")


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    parser: argparse.ArgumentParser = build_parser([name])
    for word in name.split():
        parser = below(parser)[word]
    return parser


def below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands below a parser."""
    (choices,) = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)] or [
        {}
    ]
    return choices


def options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of a command in the order of its help, without `--help`."""
    left_out = (argparse._HelpAction, argparse._SubParsersAction)
    return (action for action in parser._actions if not isinstance(action, left_out))


def _index() -> str:
    parts = [title("Commands")]
    for heading, commands in SECTIONS.items():
        rows = "".join(_row(command.name, command.summary) for command in commands)
        parts += [title(heading.capitalize(), "-"), rows]
    for group in GROUPS:
        rows = "".join(_row(f"{group.name} {command.name}", command.summary) for command in group.commands)
        parts += [title(f"lasthop {group.name}", "-"), inline(f"Commands that {group.summary}:") + "\n", rows]
    parts.append(inline("`lasthop --version` prints the version, `lasthop help COMMAND` the text of a page.") + "\n")
    return "\n".join([*parts, ".. toctree::\n   :hidden:\n\n" + "".join(f"   {page_of(name)}\n" for name in COMMANDS)])


def _row(name: str, summary: str) -> str:
    return f"* :doc:`lasthop {name} <{page_of(name)}>`: {inline(summary)}.\n"


def _page(program: str, parser: argparse.ArgumentParser, mark: str = "=") -> str:
    summary = str(parser.description)
    formatter = argparse.HelpFormatter(program, width=WIDTH)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups, prefix="")
    parts = [
        title(program, mark),
        inline(f"{summary[:1].upper()}{summary[1:]}.") + "\n",
        block(formatter.format_help().strip()),
        f".. program:: {program}\n",
        *(_option(action, formatter) for action in options(parser)),
        *(_page(f"{program} {name}", own, "-") for name, own in below(parser).items()),
    ]
    return "\n".join(parts)


def _option(action: argparse.Action, formatter: argparse.HelpFormatter) -> str:
    given = formatter._format_args(action, action.dest.upper()) if action.nargs != 0 else ""
    head = ", ".join(f"{option} {given}".strip() for option in action.option_strings) or given
    said = formatter._expand_help(action) if action.help else ""
    several = "" if not action.choices else f" One of: {', '.join(map(str, action.choices))}."
    if not action.option_strings:
        # Brackets of what may be left out or repeated are not part of the name.
        head = str(action.metavar or action.dest)
    return (
        f".. option:: {head}\n\n   {inline(said)}{'.' if said and not said.endswith('.') else ''}{escaped(several)}\n"
    )
