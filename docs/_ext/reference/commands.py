"""A page for each command, from its argparse parser: usage, what is given, every option."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from lasthop.cli import COMMANDS, build_parser

from .markup import block, escaped, inline, title

WIDTH = 96


def pages() -> Iterator[tuple[str, str]]:
    """Names and texts of the pages, the list of commands first."""
    parsers = {name: parser_of(name) for name in COMMANDS}
    rows = "".join(
        f"* :doc:`lasthop {name} <{name}>`: {inline(str(parser.description))}.\n" for name, parser in parsers.items()
    )
    tree = ".. toctree::\n   :hidden:\n\n" + "".join(f"   {name}\n" for name in parsers)
    yield (
        "index",
        f"{title('Commands')}\n{rows}\n{inline('`lasthop --version` prints the version, `lasthop help COMMAND` what stands here.')}\n\n{tree}",
    )
    for name, parser in parsers.items():
        yield name, _page(name, parser)


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    (choices,) = (
        action.choices for action in build_parser((name,))._actions if isinstance(action, argparse._SubParsersAction)
    )
    return choices[name]


def options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """What the command takes, in the order of its help, apart from `--help`."""
    return (action for action in parser._actions if not isinstance(action, argparse._HelpAction))


def _page(name: str, parser: argparse.ArgumentParser) -> str:
    program = f"lasthop {name}"
    summary = str(parser.description)
    said = f"{summary[:1].upper()}{summary[1:]}."
    formatter = argparse.HelpFormatter(program, width=WIDTH)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups, prefix="")
    parts = [title(program), inline(said) + "\n", block(formatter.format_help().strip()), f".. program:: {program}\n"]
    return "\n".join([*parts, *(_option(action, formatter) for action in options(parser))])


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
