"""The text of the scenario behind an entry, for the editor."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from typing import Any

from .. import _core
from ..data.diagnostic import ScenarioError, refused
from ..study.scenario import MAX_CHARACTERS, Scenario
from ..views.explain.rerun import scenario_of, section_lines, written_out
from .bodies import LARGEST
from .library import Library
from .toml_text import Edit, TomlText, applied, path_of


def scenario_text(library: Library, key: str) -> dict[str, Any]:
    """`text`, `name` and `place` of a scenario, or of the scenario of a result. Raises `Unknown` and `ScenarioError`."""
    if "." in key or library.entry(key).kind != "scenario":
        result = library.result(key)
        scenario = scenario_of(result)
        return {"key": key, "name": result.name, "text": with_settings(scenario), "saved": False}
    entry = library.entry(key)
    if entry.path.stat().st_size > min(LARGEST, MAX_CHARACTERS):
        raise refused(f"is larger than {LARGEST // 1_000_000} MB, which the editor takes at most", file=entry.name)
    text = entry.path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
    return {"key": key, "name": entry.name, "text": text, "saved": library.is_within(entry.path)}


def with_settings(scenario: Scenario) -> str:
    """A scenario as one text that resolves to the same: its own with the settings in it, else the resolved one as text."""
    if not scenario.settings:
        return scenario.text
    resolved = scenario.looked_at().to_json()
    text = _laid_over(scenario.text, scenario.settings)
    if text is not None and _resolves_to(text, scenario.file_name, resolved):
        return text
    return written_out(json.loads(resolved))


def _laid_over(text: str, settings: Iterable[tuple[str, str]]) -> str | None:
    try:
        for path, value in settings:
            toml = _value(value)
            text = applied(text, _sections(text, path, toml) or [TomlText(text).setting(path_of(path), toml)])
            tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
    return text


def _sections(text: str, word: str, toml: str) -> list[Edit]:
    """The edits that replace sections by others; none if a setting is not a list of tables."""
    value = tomllib.loads(f"value = {toml}")["value"]
    old = TomlText(text).sections(word)
    if not isinstance(value, list) or not old or not all(isinstance(table, dict) for table in value):
        return []
    new = "\n\n".join("\n".join([f"[[{word}]]", *section_lines(table)]) for table in value)
    return [Edit(*old[0], new), *(Edit(begin, _after_blank(text, end), "") for begin, end in old[1:])]


def _after_blank(text: str, at: int) -> int:
    """The position behind the empty lines that follow."""
    return at + len(text[at:]) - len(text[at:].lstrip("\r\n"))


def _value(text: str) -> str:
    """A value as `--set` reads it: TOML, else a text."""
    try:
        tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return json.dumps(text, ensure_ascii=False)
    return text


def _resolves_to(text: str, file_name: str, resolved: str) -> bool:
    try:
        return _core.resolve(text, file_name, []).to_json() == resolved
    except ScenarioError:
        return False
