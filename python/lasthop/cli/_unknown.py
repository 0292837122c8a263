"""Refusals of unknown commands, each with the command that was probably meant."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import NoReturn

from ._commands import COMMANDS, EARLIER, GROUPS
from ._mistake import Mistake
from ._parser import did_you_mean


def refuse_command(name: str, rest: Sequence[str]) -> NoReturn:
    """Raises `Mistake` for a first word that is neither a command nor a group."""
    if name.startswith("-"):
        raise Mistake(f"{name}: unknown option before a command; see `lasthop --help`")
    if name.endswith((".toml", ".json")):
        command = "run" if name.endswith("toml") else "plot"
        raise Mistake(f"{name}: is a file, not a command; e.g. `lasthop {command} {name}`")
    if name in EARLIER:
        raise Mistake(f"{name}: this command is now `lasthop {shlex.join([*EARLIER[name].split(), *rest])}`")
    if name in ("gym", "learn", "train"):
        raise Mistake(f"{name}: unknown command; `python -m lasthop.gym TASK` trains and evaluates agents")
    raise Mistake(f"{name}: unknown command{_meant(name)}; `lasthop help` lists them")


def refuse_in_group(group: str, name: str) -> NoReturn:
    """Raises `Mistake` for a word that is no command of the group."""
    if name.startswith("-"):
        raise Mistake(f"{name}: unknown option before a command of this group; see `lasthop {group} --help`")
    own = [command.split()[1] for command in COMMANDS if command.startswith(f"{group} ")]
    hint = did_you_mean(name, own)
    raise Mistake(f"{group} {name}: unknown command of this group{hint}; one of: {', '.join(own)}")


def _meant(name: str) -> str:
    """The nearest command. A command of a group is near by its own word, too."""
    in_groups = [f"{group.name} {command.name}" for group in GROUPS for command in group.commands]
    exact = [command for command in in_groups if command.split()[1] == name]
    if exact:
        return f"; did you mean {' or '.join(exact)}?"
    return did_you_mean(name, [*COMMANDS, *(group.name for group in GROUPS)])
