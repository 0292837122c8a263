"""The engine's answer to the text of a scenario: its first error with its place, or the resolved scenario."""

from __future__ import annotations

import json
from pathlib import Path as File
from typing import Any

from ..data.diagnostic import Diagnostic, ScenarioError
from ..study.scenario import Scenario
from .library import Library
from .toml_text import Span

FILE = "scenario.toml"


def check(text: str, folder: File, library: Library) -> dict[str, Any]:
    """`problems`, of which the engine reports the first; else `warnings`, `defaults` and what is `resolved`.

    A problem has `line` and `column` from 1, `end`, the column behind it, `begin` and `until`, the same as positions in the
    text, `message` and `remedy`. Columns and positions count as JavaScript does.
    """
    answer: dict[str, Any] = {"problems": [], "warnings": [], "defaults": [], "resolved": None}
    try:
        resolved = scenario_in(text, folder, library).looked_at()
    except ScenarioError as error:
        answer["problems"] = [problem(text, mistake) for mistake in error.diagnostics]
        return answer
    told = [dict(zip(("key", "value", "because"), each, strict=True)) for each in resolved.defaults()]
    return {
        "problems": [],
        "warnings": list(map(str, resolved.warnings())),
        "defaults": told,
        "resolved": json.loads(resolved.to_json()),
    }


def scenario_in(text: str, folder: File, library: Library) -> Scenario:
    """A scenario of the page as if its file lay in `folder`."""
    return Scenario(text, str(folder / FILE), origin=library.origin())


def problem(text: str, mistake: Diagnostic) -> dict[str, Any]:
    """A mistake with the characters of the text to mark: its key or value, or else its line."""
    is_broken = mistake.kind == "syntax"
    span = _line_span(text, mistake.line or 1) if is_broken or mistake.span is None else Span(*mistake.span)
    remedy = mistake.remedy or ("this is not TOML" if is_broken else "")
    return {**_placed(text, span), "where": mistake.key, "message": mistake.message, "remedy": remedy}


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


def _placed(text: str, span: Span) -> dict[str, int]:
    line = _line_of(text, span.begin)
    begin, end = units(text, span.begin), units(text, span.end)
    before = units(text, _line_begin(text, line))
    return {"line": line, "column": begin - before + 1, "end": end - before + 1, "begin": begin, "until": end}


def units(text: str, at: int) -> int:
    """A position as JavaScript counts it, in units of UTF-16."""
    return at if text.isascii() else len(text[:at].encode("utf-16-le", "surrogatepass")) // 2
