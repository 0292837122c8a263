"""Groups of commands: their help, earlier names, and laziness."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable

import pytest
from lasthop.cli import COMMANDS, DAILY, GROUPS, build_parser, main
from lasthop.cli._commands import EARLIER, SECTIONS

SECTION_NAMES = {
    "run and look": "run explain compare plot report serve",
    "many runs": "sweep query",
    "networks that exist": "analyze twin emulate",
    "evidence": "showcase reproduce theory",
    "files and names": "new check list show",
}
IN_GROUPS = {
    "cc": "check replay recovery packetdrill header",
    "host": "load list stats unload deploy",
    "export": "link qlog perfetto",
    "self": "doctor completion man schema bench",
}


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The standard output of a command line, run in this process."""

    def run(*line: str) -> str:
        assert main(line) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The one line on standard error of a command line that ends with status 2."""

    def run(*line: str) -> str:
        assert main(line) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1
        return err

    return run


def first_words(text: str, heading: str) -> list[str]:
    """The names in the lines of a section of a help text."""
    section = text.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
    return [line.split()[0] for line in section.splitlines() if line.startswith("  ") and not line.startswith("   ")]


def test_the_table_has_daily_commands_in_five_sections_and_four_groups():
    assert {heading: " ".join(one.name for one in commands) for heading, commands in SECTIONS.items()} == SECTION_NAMES
    assert [command for commands in SECTIONS.values() for command in commands] == [*DAILY]
    assert {group.name: " ".join(command.name for command in group.commands) for group in GROUPS} == IN_GROUPS


def test_help_lists_daily_commands_in_sections_and_groups(output):
    text = output("--help")
    for heading, names in SECTION_NAMES.items():
        assert first_words(text, heading) == names.split()
    assert first_words(text, "groups of commands") == [*IN_GROUPS]


@pytest.mark.parametrize("group", IN_GROUPS)
def test_a_group_alone_lists_its_commands(output, group):
    alone, *others = (output(*line) for line in ((group,), (group, "--help"), ("help", group)))
    assert others == [alone, alone]
    assert first_words(alone, "commands") == IN_GROUPS[group].split()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(output, name):
    text = output(*name.split(), "--help")
    assert text.startswith(f"usage: lasthop {name} ")
    assert output("help", *name.split()) == text


@pytest.mark.parametrize(("earlier", "now"), EARLIER.items())
def test_an_earlier_name_is_answered_with_the_new_one(refusal, earlier, now):
    answer = f"lasthop: {earlier}: this command is now `lasthop {now} "
    assert refusal(earlier, "a file", "--option=1") == f"{answer}'a file' --option=1`\n"
    assert refusal("help", earlier) == f"{answer}--help`\n"
    assert now in COMMANDS or now in IN_GROUPS


def test_the_hint_of_an_earlier_name_runs(refusal, output):
    hint = refusal("cc-header", "--path").split("`")[1]
    assert output(*shlex.split(hint)[1:]).endswith("include\n")


def test_an_unknown_command_of_a_group_is_answered_with_the_nearest(refusal):
    assert "cc replays: unknown command of this group; did you mean replay?" in refusal("cc", "replays")
    assert "export pcap: unknown command of this group; one of: link, qlog, perfetto" in refusal("export", "pcap")
    assert "--quick: unknown option before a command of this group" in refusal("self", "--quick")
    assert "recovery: unknown command; did you mean cc recovery?" in refusal("recovery")
    assert "hots: unknown command; did you mean host?" in refusal("hots")


@pytest.mark.parametrize(
    ("line", "own"),
    [
        (["--help"], set()),
        (["cc"], set()),
        (["cc", "header", "--path"], {"cc", "cc.header"}),
        (["list", "standard"], {"list"}),
    ],
)
def test_only_the_module_of_the_command_is_imported(line, own):
    code = (
        f"import sys; from lasthop.cli import main; main({line!r}); "
        "print('\\nmodules:', *(name for name in sys.modules if name.startswith('lasthop.cli.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = {name.removeprefix("lasthop.cli.") for name in done.stdout.rpartition("modules:")[2].split()}
    assert {name for name in modules if not name.startswith("_")} == own


def test_every_command_that_pages_takes_no_pager():
    parser = build_parser()
    for name, row in COMMANDS.items():
        words = [*name.split(), "--no-pager"]
        known = parser
        for word in words[:-1]:
            (choices,) = [
                action.choices for action in known._actions if action.dest == "==SUPPRESS==" and action.choices
            ]
            known = choices[word]
        assert ("--no-pager" in known._option_string_actions) == row.is_paged
