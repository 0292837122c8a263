"""The manual page has every command and option, and is what roff reads without a complaint."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from lasthop.cli import COMMANDS, build_parser
from lasthop.cli.self.man import page


@pytest.fixture(scope="module")
def written() -> str:
    return page(build_parser())


def options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Each command with an option of it, commands below commands too."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from options(command)
        elif action.help != argparse.SUPPRESS:
            yield from ((parser.prog, option) for option in action.option_strings)


def test_each_command_has_its_section_with_all_options(written):
    sections = dict(re.findall(r"^\.SS (.*)\n((?:(?!\.S[SH] ).*\n)*)", written, re.MULTILINE))
    plain = {title.replace(r"\-", "-"): text.replace(r"\-", "-") for title, text in sections.items()}
    assert {f"lasthop {name}" for name in COMMANDS} <= set(plain)
    asked = [(command, option) for command, option in options(build_parser()) if command != "lasthop"]
    assert len(asked) > 150
    assert not [(command, option) for command, option in asked if rf"\fB{option}\fR" not in plain[command]]


def test_no_line_is_a_request_by_chance():
    parser = argparse.ArgumentParser("tool", description="Draws.", epilog=".hidden 'quoted' back\\slash")
    parser.add_argument("--size", metavar="W-H", help=".5 of it, or -1")
    text = page(parser)
    assert "\\&.hidden \\(aqquoted\\(aq back\\eslash\n" in text
    assert "\\fB\\-\\-size\\fR \\fIW\\-H\\fR\n\\&.5 of it, or \\-1\n" in text
    assert {line.split()[0] for line in text.splitlines() if line.startswith((".", "'"))} <= {
        ".TH",
        ".SH",
        ".SS",
        ".B",
        ".I",
        ".TP",
    }


def test_the_day_is_that_of_the_sources(command, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert command("self", "man").stdout.startswith('.TH LASTHOP 1 1970-01-02 "lasthop ')


@pytest.mark.parametrize("line", [["mandoc", "-T", "lint", "-W", "style"], ["groff", "-ww", "-man", "-Tutf8", "-z"]])
def test_readers_of_pages_have_nothing_to_say(written, line):
    if shutil.which(line[0]) is None:
        pytest.skip(f"{line[0]} is not installed")
    done = subprocess.run(line, input=written, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "") and (line[0] == "groff" or done.stdout == "")
