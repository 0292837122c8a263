"""`lasthop self man`: the manual page, written from the parsers of the commands.

In the macros of man(7), which groff and mandoc both read.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

from ... import __version__
from .._parser import build_parser
from .._status import MEANINGS

PLACES = """\
lasthop self man | man -l -
lasthop self man > ~/.local/share/man/man1/lasthop.1"""
WIDTH = 78
# Characters with a meaning in roff, or printed differently from their typed form.
SPECIAL = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds no arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = PLACES


def execute(_arguments: argparse.Namespace) -> int:
    """Prints the page."""
    sys.stdout.write(page(build_parser()))
    return 0


def page(parser: argparse.ArgumentParser) -> str:
    """The manual page of a parser and of all that it has commands for."""
    return "".join(f"{line}\n" for line in _lines(parser))


def _lines(parser: argparse.ArgumentParser) -> Iterator[str]:
    name = parser.prog
    yield f'.TH {name.upper()} 1 {_date()} "{name} {__version__}" "User Commands"'
    what = (parser.description or "").rstrip(".")
    yield from (".SH NAME", f"{name} \\- {_text(what[:1].lower() + what[1:])}")
    yield from (".SH SYNOPSIS", f".B {name}", r".I COMMAND", r"[\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", _paragraph(parser.description or ""), _paragraph(parser.epilog or ""))
    yield from _arguments(parser)
    yield ".SH COMMANDS"
    for command in _commands(parser):
        yield from _section(command)
    yield ".SH EXIT STATUS"
    for status, meaning in MEANINGS.items():
        yield from (".TP", f".B {status}", _paragraph(meaning))


def _section(parser: argparse.ArgumentParser) -> Iterator[str]:
    """One command, then those below it."""
    yield f".SS {_text(parser.prog)}"
    if parser.description:
        yield from (_paragraph(parser.description[:1].upper() + parser.description[1:]), ".PP")
    usage = " ".join(parser.format_usage().removeprefix("usage:").split())
    yield _paragraph(usage)
    yield from _arguments(parser)
    if parser.epilog:
        yield from (".PP", ".nf", *map(_paragraph, parser.epilog.splitlines()), ".fi")
    for command in _commands(parser):
        yield from _section(command)


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    formatter = parser._get_formatter()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) or action.help == argparse.SUPPRESS:
            continue
        yield from (".TP", _heading(action, formatter))
        yield _paragraph(formatter._expand_help(action) if action.help else _choices(action))


def _heading(action: argparse.Action, formatter: argparse.HelpFormatter) -> str:
    """Returns an option as it is typed: in bold, with its argument in italics."""
    if not action.option_strings:
        (shown,) = formatter._metavar_formatter(action, action.dest)(1)
        return rf"\fI{_text(shown)}\fR"
    taken = "" if action.nargs == 0 else formatter._format_args(action, action.dest.upper())
    names = ", ".join(rf"\fB{_text(option)}\fR" for option in action.option_strings)
    return rf"{names} \fI{_text(taken)}\fR" if taken else names


def _choices(action: argparse.Action) -> str:
    return f"One of: {', '.join(map(str, action.choices))}." if action.choices else "See the description."


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from dict.fromkeys(action.choices.values())


def _paragraph(text: str) -> str:
    """Text in short lines; a line that begins like a request is escaped."""
    # A page does not contain this machine's number of cores.
    words = _text(re.sub(r", here \d+\b", "", text))
    lines = textwrap.wrap(words, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join(rf"\&{line}" if line.startswith(".") else line for line in lines)


def _text(text: str) -> str:
    """Text as roff reads it: hyphens that can be copied, and escaped backslashes."""
    return "".join(SPECIAL.get(one) or (one if one.isascii() else rf"\[u{ord(one):04X}]") for one in text)


def _date() -> str:
    """The day of `SOURCE_DATE_EPOCH` if it is set, else of this file: the same package gives the same page."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(given) if given.isdecimal() else int(Path(__file__).stat().st_mtime)
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))
