"""The engine's answer to the text of a scenario: its first error with its place, or the resolved scenario."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any

from .. import _core
from ..study.scenario import Scenario
from .library import Library
from .toml_text import Path, Span, TomlText, path_of

FILE = "scenario.toml"
SAID = re.compile(r"(?:(?P<line>\d+): )?(?:(?P<where>[\w\[\].\"*-]+): )?(?P<what>.*)", re.DOTALL)
TOML_SAID = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL)
# Keys whose value is the name of a file.
NAMES_A_FILE = ("file", "library", "object")


def check(text: str, folder: File, library: Library) -> dict[str, Any]:
    """`problems`, at most one, as the engine stops at the first; else `warnings`, `defaults` and what is `resolved`.

    A problem has `line` and `column` from 1, `end`, the column behind it, `begin` and `until`, the same as positions in the
    text, `message` and `remedy`. Columns and positions count as JavaScript does.
    """
    answer: dict[str, Any] = {"problems": [], "warnings": [], "defaults": [], "resolved": None}
    try:
        resolved = resolved_of(text, folder, library)
    except _core.ScenarioError as error:
        answer["problems"] = [problem(text, str(error), folder)]
        return answer
    told = [dict(zip(("key", "value", "because"), each, strict=True)) for each in resolved.defaults()]
    return {
        "problems": [],
        "warnings": resolved.warnings(),
        "defaults": told,
        "resolved": json.loads(resolved.to_json()),
    }


def resolved_of(text: str, folder: File, library: Library) -> _core.ResolvedScenario:
    """The scenario of a text whose files lie in `folder`. Raises `ScenarioError`, also for files elsewhere."""
    refuse_files_elsewhere(text, folder, library)
    return scenario_in(text, folder).resolve()


def scenario_in(text: str, folder: File) -> Scenario:
    """A scenario as if its file lay in `folder`."""
    return Scenario(text, str(folder / FILE))


def refuse_files_elsewhere(text: str, folder: File, library: Library) -> None:
    """Raises `ScenarioError` where a scenario names a file that this page may not read, before anybody opens it."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # The engine reports the error, unless it could find names of files where Python's reader found none.
        if "\\" in text or any(word in text for word in NAMES_A_FILE):
            raise _core.ScenarioError(f"{folder / FILE}:{_toml_place(text, error)[0]}: {_toml_words(error)}") from None
        return
    for path, name in _file_names(document):
        if not library.is_within(folder / name):
            where = ".".join(map(str, path))
            said = f"{name!r} is not below the directories that this page was opened for; move it there"
            raise _core.ScenarioError(f"{folder / FILE}: {where}: {said}")


def _file_names(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text under a key that names a file, also where a sweep would set one."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        words = [word for step in (*path, key) if isinstance(step, str) for word in step.split(".")]
        if isinstance(item, str) and words and words[-1] in NAMES_A_FILE:
            yield (*path, key), item
        yield from _file_names(item, (*path, key))


def problem(text: str, said: str, folder: File | None = None) -> dict[str, Any]:
    """A sentence of the engine with its place in the text."""
    name = str((folder or File()) / FILE)
    said = said.removeprefix(name).removeprefix(":").removeprefix(" ")
    parts = SAID.fullmatch(said)
    line = int(parts["line"] or 0)
    message, _, remedy = parts["what"].partition("; ")
    where = parts["where"] or ""
    span = _span(text, line, where, message)
    return {**_placed(text, span), "where": where, "message": message, "remedy": remedy}


def _span(text: str, line: int, where: str, message: str) -> Span:
    """The key or value that is meant; of text that is not TOML, where its reader stopped; else the line."""
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        at_line, at = _toml_place(text, error)
        word = Span(at, _word_end(text, at))
        said_there = text[word.begin : word.end].strip() and line in (0, at_line)
        return word if said_there else _line_span(text, line or at_line)
    places = TomlText(text)
    path = path_of(where)
    about_key = "key" in message.split('"')[0] or "no effect" in message
    quoted = re.search(r'unknown key "([^"]+)"', message)
    if (
        quoted
        and (span := places.found((*path, quoted[1]), key=True))
        and text[span.begin : span.end].strip("\"'") == quoted[1]
    ):
        return span
    span = places.found(path, key=about_key) if path else None
    if span is None or (
        line and not _line_of(text, span.begin) <= line <= _line_of(text, max(span.begin, span.end - 1))
    ):
        return _line_span(text, line or 1)
    return span if "\n" not in text[span.begin : span.end] else _line_span(text, line or _line_of(text, span.begin))


def _toml_place(text: str, error: Exception) -> tuple[int, int]:
    """Line, and position, at which Python's reader stopped."""
    found = TOML_SAID.fullmatch(str(error))
    if found is None or found["line"] is None:
        return max(1, len(text.splitlines())), len(text.rstrip())
    line, column = int(found["line"]), int(found["column"])
    return line, min(_line_begin(text, line) + column - 1, len(text))


def _toml_words(error: Exception) -> str:
    found = TOML_SAID.fullmatch(str(error))
    return (found["what"] if found else str(error)) + "; this is not TOML"


def _line_begin(text: str, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1 or len(text)
    return at


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _line_span(text: str, line: int) -> Span:
    """Returns a line without leading blanks and trailing comments."""
    begin = _line_begin(text, line)
    end = text.find("\n", begin)
    content = text[begin : len(text) if end < 0 else end]
    said = content.rstrip()
    return Span(begin + len(said) - len(said.lstrip()), begin + len(said))


def _word_end(text: str, at: int) -> int:
    end = re.compile(r"[^\s,\]}]*").match(text, at).end()
    return max(end, min(at + 1, len(text)))


def _placed(text: str, span: Span) -> dict[str, int]:
    line = _line_of(text, span.begin)
    begin, end = units(text, span.begin), units(text, span.end)
    before = units(text, _line_begin(text, line))
    return {"line": line, "column": begin - before + 1, "end": end - before + 1, "begin": begin, "until": end}


def units(text: str, at: int) -> int:
    """A position as JavaScript counts it, in units of UTF-16."""
    return at if text.isascii() else len(text[:at].encode("utf-16-le", "surrogatepass")) // 2
