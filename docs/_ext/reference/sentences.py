"""The sentences that refuse wrong input, collected from the sources: of commands in Python, of scenarios in Rust.

A sentence stands as in the source: `{…}` is where the program puts what was given, or what would be right.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

TREE = Path(__file__).resolve().parents[3]
EXCEPTIONS = ("Mistake", "ScenarioError", "StoreError", "ArgumentError", "ArgumentLookupError", "refused")
REFUSAL = re.compile(r"\b(?:(?:ParamError|Diagnostic)::(?:new|without_place)|refuse|require)\(")
OF_SCENARIOS = re.compile(r"\b(?:Kind|ParamError|Diagnostic|refuse)\b")
# The mistake and its remedy, a pair in the source.
PAIR = re.compile(r'\((?:\s*(?:Kind::\w+|format!)\()*\s*"')
RUST_TEXT = re.compile(r'"((?:\\.|[^"\\])*)"', re.DOTALL)
TESTS = "#[cfg(test)]\nmod "
LAST_NAME = re.compile(r"(\w+)\s*\)?$")
HELPER = re.compile(r"\blet (\w+) = (?:move )?\||\bfn (\w+)")
# A sentence has at least two words; what is shorter is a path or a mark.
SENTENCE = re.compile(r"[^\s{}]\s+[^\s{}]")


def of_python() -> dict[str, list[str]]:
    """Sentences by command; those of what several commands use by their file."""
    found: dict[str, list[str]] = {}
    for file in sorted((TREE / "python" / "lasthop").rglob("*.py")):
        if told := _tidy(_raised(ast.parse(file.read_text(encoding="utf-8")))):
            found[str(file.relative_to(TREE / "python" / "lasthop"))] = told
    return found


def of_rust() -> dict[str, list[str]]:
    """Sentences by crate."""
    found: dict[str, list[str]] = {}
    for file in sorted((TREE / "crates").rglob("src/**/*.rs")):
        source = file.read_text(encoding="utf-8").partition(TESTS)[0]
        if not OF_SCENARIOS.search(source):
            continue
        told = _tidy([*(sentence for call in refusals(source) for sentence in call), *_of_kinds(source)])
        if told:
            found.setdefault(file.relative_to(TREE / "crates").parts[0], []).extend(told)
    return {crate: list(dict.fromkeys(told)) for crate, told in found.items()}


def refusals(source: str) -> Iterator[list[str]]:
    """For each place that refuses, its sentences: those within the call, or of the variable that the call names."""
    for call in REFUSAL.finditer(source):
        within = source[call.end() : _closing(source, call.end())]
        told = _paired(within)
        if not told and (name := LAST_NAME.search(within.rstrip(" \n,"))):
            told = _paired(_last_binding(_within_helper(source[: call.start()]), name[1])) or _handed_on(
                source, call.start()
            )
        yield told


def _of_kinds(source: str) -> list[str]:
    """The sentences of kinds of mistakes, which are made of their arguments."""
    _, found, rest = source.partition("fn what(&self) -> String {\n        match")
    return _texts(rest.partition("\n    }\n")[0]) if found else []


def _paired(within: str) -> list[str]:
    """The sentences within a call: a mistake and its remedy are one."""
    told = _texts(within)
    return ["; ".join(told)] if len(told) == 2 and PAIR.search(within) else told


def _handed_on(source: str, at: int) -> list[str]:
    """Sentences of the calls of the closure or function that refuses at `at`, where it has its sentence from those who call it."""
    names = HELPER.findall(source[:at])
    calls = re.finditer(rf"(?<!fn )\b{''.join(names[-1])}\(", source) if names else ()
    return [text for call in calls for text in _paired(source[call.end() : _closing(source, call.end())])]


def _texts(source: str) -> list[str]:
    unescaped = (
        re.sub(r"\\\n\s*", "", text).replace('\\"', '"').replace("\\\\", "\\") for text in RUST_TEXT.findall(source)
    )
    return [text for text in unescaped if SENTENCE.search(text)]


def _within_helper(before: str) -> str:
    """What the function or closure that `before` ends in has said so far."""
    starts = [found.start() for found in HELPER.finditer(before)]
    return before[starts[-1] :] if starts else before


def _last_binding(before: str, name: str) -> str:
    """What the variable was last bound to, as text."""
    places = [found.end() for found in re.finditer(rf"\blet (?:mut )?{name}\b[^=;]*=", before)]
    return before[places[-1] : _end(before, places[-1], ";")] if places else ""


def _closing(source: str, start: int) -> int:
    """Where the bracket that was opened before `start` is closed."""
    return _end(source, start, ")")


def _end(source: str, start: int, mark: str) -> int:
    """Where `mark` stands first after `start`, outside of brackets that were opened there, and of strings."""
    depth, at = 0, start
    while at < len(source) and (depth or source[at] != mark):
        if text := RUST_TEXT.match(source, at):
            at = text.end()
            continue
        depth += {"(": 1, ")": -1}.get(source[at], 0)
        at += 1
    return at


def _raised(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        name = ast.unparse(node.exc.func).rpartition(".")[2]
        if name not in EXCEPTIONS or not node.exc.args:
            continue
        parts = ["".join(_template(part)) or "{" + _last_name(part) + "}" for part in node.exc.args]
        if name.startswith("Argument"):
            yield "".join(parts)
        elif name == "refused":
            yield "; ".join(parts)
        else:
            yield from _template(node.exc.args[0])


def _template(node: ast.expr) -> Iterator[str]:
    """The text of an expression, with `{name}` for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "{" + _name(part) + "}" for part in node.values)
    elif isinstance(node, ast.IfExp):
        yield from _template(node.body)
        yield from _template(node.orelse)


def _name(part: ast.expr) -> str:
    """What stands in a placeholder: the last name of its expression."""
    return _last_name(part.value) if isinstance(part, ast.FormattedValue) else "…"


def _last_name(expression: ast.expr) -> str:
    names = re.findall(r"[a-z_]\w*", ast.unparse(expression))
    return names[-1] if names else "…"


def _tidy(sentences: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(" ".join(one.split()) for one in sentences if SENTENCE.search(one)))
