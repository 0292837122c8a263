"""The origin of a scenario with its settings, and what material of that origin may do.

Arguments of the user, and a scenario that the user names, may name any file and any program. Material of somebody else (a result, a
store, a capture, a claim file, a text in the page) runs no code, names no address, and opens no file outside its own folder.
`--allow-code`, in Python `allow_code=True`, lifts this, except for addresses: these belong to one process.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from .. import _core
from .diagnostic import Diagnostic, ScenarioError, refused

# Prefix of a library in C that is in this process instead of a file.
ADDRESS = "address:"
ALLOW = "read it, then allow it with --allow-code (in Python allow_code=True)"
Steps = tuple[str | int, ...]
Setting = tuple[str, str]


class Source(Enum):
    """Where material came from."""

    #: typed, or a scenario that the user names
    USER = "the user"
    RESULT = "a result"
    STORE = "a store"
    CAPTURE = "a capture"
    CLAIM = "a claim file"
    PAGE = "the page"


class Role(Enum):
    """The meaning of a text in a scenario: `Names` of the crate `registry`, whose types each such key must have."""

    FILE = "file"
    COMMAND = "command"
    #: a name or a title, which nothing opens or runs
    WORD = "word"


@cache
def roles() -> dict[str, Role]:
    """Every key of a scenario that takes any text, with its meaning."""
    return {key: Role(word) for key, word in _core.texts()}


# Values of `kernel` that are no files.
KERNELS = ("own", "stock")


@dataclass(frozen=True)
class NamedFile:
    """A file that a scenario names: its place, its name, and the setting that names it, if any."""

    steps: Steps
    name: str
    setting: Setting | None = None

    @property
    def key(self) -> str:
        """The place as errors have it: `flow[0].traffic.file`."""
        return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.steps).removeprefix(".")


@dataclass(frozen=True)
class Origin:
    """Where material came from, the folders whose files it may name, and whether the user allowed its code."""

    source: Source
    folders: tuple[Path, ...] = ()
    allows_code: bool = False

    @property
    def is_trusted(self) -> bool:
        """Whether the user wrote it, or allowed its code."""
        return self.source is Source.USER or self.allows_code

    def holds(self, file: Path) -> bool:
        """Whether a file is in one of the folders, after following links."""
        real = Path(os.path.realpath(file))
        return any(real.is_relative_to(os.path.realpath(folder)) for folder in self.folders)

    def check_files(self, text: str, file_name: str, settings: Iterable[Setting]) -> None:
        """Raises `ScenarioError` if a scenario names a file outside the folders, before it is opened."""
        if self.is_trusted:
            return
        folder = Path(file_name).parent
        for named in named_files(text, file_name, settings):
            if "\0" in named.name or not self.holds(folder / named.name):
                raise self._outside(named, text, file_name)

    def check_programs(self, resolved: _core.ResolvedScenario) -> None:
        """Raises `ScenarioError` if a scenario is code, or has a command, and the user did not allow it."""
        if self.source is Source.USER:
            return
        for _, key, name, _ in resolved.code():
            if name.startswith(ADDRESS):
                raise refused(
                    f"an address is of one process; {self.source.value} may give none", kind="not_allowed", key=key
                )
        if not self.allows_code:
            self._check_without_code(resolved)

    def _check_without_code(self, resolved: _core.ResolvedScenario) -> None:
        try:
            resolved.check_without_code()
        except ScenarioError as error:
            if self.source is Source.PAGE:
                raise
            what = "this is code" if resolved.code() else "a command is a program"
            message = f"{what}, and it comes from {self.source.value}"
            raise ScenarioError(replace(error.diagnostics[0], message=message, remedy=ALLOW)) from None

    def sibling(self, file: Path) -> Path:
        """`file`, which material opens beside its own; raises `ScenarioError` if a link leads out of the folder."""
        if self.folders and not self.is_trusted and file.is_symlink() and not self.holds(file):
            raise refused(
                f"is a link that leads out of {self.source.value}",
                "put the file in its place",
                kind="not_allowed",
                file=str(file),
            )
        return file

    def _outside(self, named: NamedFile, text: str, file_name: str) -> ScenarioError:
        if self.source is Source.PAGE:
            what, remedy = "not below the directories that this page was opened for", "move it there"
        else:
            what, remedy = f"outside the folder of {self.source.value}, which names it", ALLOW
        message = f"{named.name!r} is {what}"
        if named.setting is None:
            return ScenarioError(_core.not_allowed(text, file_name, named.key, message, remedy))
        return ScenarioError(
            Diagnostic(message, remedy, kind="not_allowed", key=named.key, file=file_name, setting=named.setting)
        )


#: the origin of what the user types and names
USER = Origin(Source.USER)


def named_files(text: str, file_name: str, settings: Iterable[Setting] = ()) -> Iterator[NamedFile]:
    """The files that a scenario and its settings name. Raises `ScenarioError` if the text is not TOML."""
    for steps, name in _files_in(json.loads(_core.parse(text, file_name))):
        yield NamedFile(steps, name)
    for path, value in settings:
        for steps, name in _files_in(_value(value), tuple(step.strip() for step in path.split("."))):
            yield NamedFile(steps, name, (path, value))


def _files_in(value: Any, steps: Steps = ()) -> Iterator[tuple[Steps, str]]:
    """Every text at a key that names a file, also in a sweep, whose keys are paths."""
    if isinstance(value, str):
        words = [word for step in steps if isinstance(step, str) for word in step.split(".")]
        if words and roles().get(words[-1].strip()) is Role.FILE and not (words[-1] == "kernel" and value in KERNELS):
            yield steps, value
        return
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        yield from _files_in(item, (*steps, key))


def _value(text: str) -> Any:
    """A value as `--set` reads it: TOML, else a text."""
    try:
        document = json.loads(_core.parse(f"value = {text}", "--set"))
    except ScenarioError:
        return text.strip()
    return document["value"] if len(document) == 1 else text.strip()
