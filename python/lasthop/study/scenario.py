"""A scenario: the text of its file and the settings that override it. Only the engine knows the meaning of keys."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import _core
from ..data.arguments import path as file_name
from ..data.arguments import shown
from ..data.attached import Attached
from ..data.diagnostic import refused
from ..data.origin import USER, Origin
from ..data.ready import scenario_path

if TYPE_CHECKING:
    from collections.abc import Iterable

# A hundred thousand stations with a table each have some ten million.
MAX_CHARACTERS = 64_000_000


@dataclass(frozen=True)
class Scenario:
    """A scenario file and the settings that override it; immutable."""

    text: str
    file_name: str = "scenario.toml"
    settings: tuple[tuple[str, str], ...] = ()
    #: of the text and of the settings
    origin: Origin = USER

    _repr_html_ = Attached()

    def set(self, path: str, value: Any) -> Scenario:
        """Returns a new scenario in which `path` (such as `"station.0.count"`) is `value`.

        A step into a list is an index, the name of an entry, or a pattern of names that selects all that match, as in
        `"flow.web*.size"`; a `[[flow]]` without a name is called by its `station`, as written.

        A string is read as in `--set path=value`; numbers, truth values, lists and dicts may be given directly. The setting
        is checked when the scenario is resolved or run, so that settings that depend on one another may come in any order.
        """
        if not isinstance(path, str) or not path.strip():
            raise TypeError(f"set: the path of a setting is needed, such as 'station.0.count', not {shown(path)}")
        try:
            text = value if isinstance(value, str) else toml_value(value)
        except TypeError as error:
            raise TypeError(f"{path}: {error}") from None
        return replace(self, settings=(*self.settings, (readable_text(path), readable_text(text))))

    def resolve(self) -> _core.ResolvedScenario:
        """Returns the scenario as the engine runs it; raises `ScenarioError`, also for what its origin may not do."""
        resolved = self.looked_at()
        self.origin.check_programs(resolved)
        return resolved

    def looked_at(self) -> _core.ResolvedScenario:
        """Returns the same to read only: it may name code, which must not be loaded."""
        self.origin.check_files(self.text, self.file_name, self.settings)
        return _core.resolve(self.text, self.file_name, list(self.settings))

    def to_dict(self) -> dict[str, Any]:
        """Returns the resolved scenario with every default filled in; raises `ScenarioError`."""
        document: dict[str, Any] = json.loads(self.resolve().to_json())
        return document

    def repeating_command(self, seed: int) -> str:
        """Returns the command line that runs `seed` again."""
        settings = [part for path, value in self.settings for part in ("--set", f"{path}={value}")]
        return shlex.join(["lasthop", "run", self.file_name, *settings, "--seed", str(seed)])

    def with_command(self, error: str, seed: int) -> str:
        """Returns the engine's message about a failed run, with the whole command that repeats it."""
        return f"{error}; `{self.repeating_command(seed)}` repeats it"

    def file_text(self, laid_over: Iterable[tuple[str, str]] = ()) -> str:
        """Returns the original text of the file, headed by the settings that override it, followed by those in `laid_over`."""
        settings = (*self.settings, *laid_over)
        return "".join(f"# --set {path}={value}\n" for path, value in settings) + self.text


def load(path: str | os.PathLike[str], *, origin: Origin = USER) -> Scenario:
    """Reads and checks a scenario file, or the ready scenario of this name, such as `tcp-nup`.

    An existing file takes precedence over a name. `origin` is other than the user's if somebody else's file
    names it. Raises `ScenarioError` if it is wrong and `OSError` if it cannot be read.
    """
    if isinstance(path, Scenario):
        raise TypeError("load: is a Scenario already; the name of its file is needed")
    path = scenario_path(file_name("load", path, "the name of a scenario file"))
    name = readable_text(os.fspath(path))
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(MAX_CHARACTERS + 1)
    except ValueError as error:
        if not isinstance(error, UnicodeDecodeError):  # a NUL in the name
            raise refused("not a valid file name", file=repr(name)) from None
        raise refused(f"not a text file in UTF-8 ({error.reason})", file=name) from None
    if len(text) > MAX_CHARACTERS:
        raise refused(f"not a scenario file: has more than {MAX_CHARACTERS} characters", file=name)
    if text.lstrip().startswith("{"):
        raise refused("is JSON, such as a result of `lasthop run`", "a scenario file (TOML) is needed", file=name)
    scenario = Scenario(text, name, origin=origin)
    scenario.resolve()
    return scenario


def scenario_or_file(scenario: Scenario | str | os.PathLike[str]) -> Scenario:
    """Returns a given scenario, or the scenario of a file; raises `TypeError` for anything else, and the errors of
    `load`.
    """
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(scenario, str) and "\n" in scenario:
        raise ValueError(
            "scenario: is the text of a file, and its name is needed; lasthop.Scenario(text) takes the text itself"
        )
    if isinstance(scenario, str | os.PathLike):
        return load(scenario)
    raise TypeError(f"scenario: a Scenario or the name of its file is needed, not {shown(scenario)}; see lasthop.load")


def readable_text(text: str) -> str:
    """Returns `text` with a ? for each byte that is not UTF-8, which names of files and arguments may hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def setting_of(place: str) -> str:
    """Returns the path of a setting for a place in a message: `flow.0.traffic` for `flow[0].traffic`."""
    return re.sub(r"\[(\d+)\]", r".\1", place)


def toml_value(value: Any) -> str:
    """Returns `value` as TOML on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return int.__repr__(value)
        case float():
            return float.__repr__(value)
        case str():
            return json.dumps(value, ensure_ascii=False)
        case dict():
            pairs = (f"{json.dumps(str(key))} = {toml_value(item)}" for key, item in value.items())
            return "{ " + ", ".join(pairs) + " }"
        case list() | tuple():
            return "[" + ", ".join(toml_value(item) for item in value) + "]"
        case os.PathLike():
            return toml_value(os.fspath(value))
    if hasattr(value, "tolist"):  # a scalar or an array of NumPy
        return toml_value(value.tolist())
    raise TypeError(f"a setting is a string, a number, a truth value, a list or a dict, not {shown(value)}")
