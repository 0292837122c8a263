"""The table of commands: daily ones in sections, and the others in groups.

A command is the module of its name in this folder, or in its group's folder, with `add_arguments(parser)` and
`execute(arguments) -> exit status`. The summaries are here. Help imports no command.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A row of the table."""

    name: str
    summary: str
    # Whether the output may be longer than a terminal.
    is_paged: bool = False


class Group(NamedTuple):
    """Commands that share their first word."""

    name: str
    summary: str
    commands: tuple[Command, ...]


# The daily commands under the headings of the help.
SECTIONS: dict[str, tuple[Command, ...]] = {
    "run and look": (
        Command("run", "run a scenario with one seed or several", is_paged=True),
        Command("explain", "show where each flow and channel spent its time, or why two results differ", is_paged=True),
        Command(
            "compare", "compare two results or scenarios, with confidence intervals of the differences", is_paged=True
        ),
        Command("plot", "plot one result, several together, or a sweep"),
        Command("report", "write the page of one run or two as a single file that opens offline"),
        Command("serve", "show runs, their air and scenarios in a browser"),
    ),
    "many runs": (
        Command("sweep", "run every combination of some settings", is_paged=True),
        Command("query", "query a store of runs in SQL", is_paged=True),
    ),
    "networks that exist": (
        Command("analyze", "turn captures, or files of test tools, into the tables of a run", is_paged=True),
        Command("twin", "write a scenario that behaves like a captured network", is_paged=True),
        Command("emulate", "run a scenario with the TCP of a real kernel", is_paged=True),
    ),
    "evidence": (
        Command("showcase", "run a question with its answer: a scenario, pictures and claims that are checked"),
        Command("reproduce", "check the claims of papers and draw their figures", is_paged=True),
        Command("theory", "compare a simulation with the closed forms that apply to it", is_paged=True),
    ),
    "files and names": (
        Command(
            "new", "write a starting point: a scenario, or a congestion control or error model of your own with a test"
        ),
        Command("check", "check scenario files without running them"),
        Command(
            "list", "list algorithms, standards, ready scenarios, showcases and measured quantities", is_paged=True
        ),
        Command("show", "describe an algorithm, a key of scenario files or a quantity of results", is_paged=True),
    ),
}

DAILY = tuple(command for section in SECTIONS.values() for command in section)

GROUPS = (
    Group(
        "cc",
        "test congestion controls and the TCP endpoint",
        (
            Command("check", "test a congestion control against the rules that each one must keep"),
            Command("replay", "replay recorded traces of congestion controllers through the controllers here"),
            Command("recovery", "compare the `linux` profile with a recorded kernel under the same scripted loss"),
            Command("packetdrill", "run packetdrill scripts against the TCP endpoint under a virtual clock"),
            Command("header", "print the C header for a congestion control of your own, or its folder"),
        ),
    ),
    Group(
        "host",
        "use the mechanisms of papers on real hosts",
        (
            Command("load", "load a mechanism into this machine's kernel; it remains until it is unloaded"),
            Command("list", "list the mechanisms and those that are loaded", is_paged=True),
            Command("stats", "show the counters of loaded mechanisms", is_paged=True),
            Command("unload", "unload a mechanism and restore the host's settings"),
            Command("deploy", "print the commands that set up a scenario's mechanisms on real hosts", is_paged=True),
        ),
    ),
    Group(
        "export",
        "write links and recordings in the formats of other tools",
        (
            Command("link", "export a station's link as a trace for Mahimahi, a script for netem, or JSON"),
            Command("qlog", "export the TCP segments and QUIC packets of a recorded result as qlog files, for qvis"),
            Command("perfetto", "export a recorded result as a trace for ui.perfetto.dev"),
        ),
    ),
    Group(
        "self",
        "check, document and measure this installation",
        (
            Command("doctor", "check the installation"),
            Command("completion", "print the completion script for bash, zsh or fish"),
            Command("man", "print the manual page"),
            Command("schema", "print the JSON Schema of a scenario file or a result"),
            Command("bench", "measure speed on this machine, and compare with the last time"),
        ),
    ),
)

# Every command by its words on the command line.
COMMANDS = {
    **{command.name: command for command in DAILY},
    **{f"{group.name} {command.name}": command for group in GROUPS for command in group.commands},
}

# Names before there were groups.
EARLIER = {
    "check-cc": "cc check",
    "replay-cc": "cc replay",
    "replay-recovery": "cc recovery",
    "packetdrill": "cc packetdrill",
    "cc-header": "cc header",
    "bpf": "host",
    "deploy": "host deploy",
    "export-link": "export link",
    "doctor": "self doctor",
    "completion": "self completion",
    "man": "self man",
    "schema": "self schema",
    "bench": "self bench",
}


def group_of(name: str) -> Group | None:
    """The group with this name, if there is one."""
    return next((group for group in GROUPS if group.name == name), None)


def heading_of(name: str) -> str | None:
    """The heading above this command in the help, if the command begins a section after the first."""
    _, *others = SECTIONS.items()
    return next((heading for heading, commands in others if commands[0].name == name), None)
