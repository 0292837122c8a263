"""Counts habits of prose per thousand words, by folder: `python tests/python/prose.py` prints them, `--write` keeps lower ones.

A relative clause where English has a noun ("what is found"), "where" for "if", files that "tell" or "say", "stands" for "is",
"that of" for the noun, "nothing" and "nobody" as subjects, "beside" for "next to". The reference rates are those of two QUIC stacks.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests" / "data" / "prose.json"

HABITS = {
    "what is": r"\bwhat (?:is|are|was|were|has|have|had|comes?|came|stands|it|they|a|the|there)\b",
    "where it": r"\bwhere (?:it|they|a|an|the|there|that|no|none|one|nothing)\b",
    "tells": r"\b(?:tell|tells|told)\b",
    "says": r"\b(?:say|says|said)\b",
    "stands": r"\b(?:stand|stands|stood)\b",
    "that of": r"\b(?:that|those) of\b",
    "nothing": r"\b(?:none|nothing|nobody|nowhere)\b",
    "beside": r"\bbesides?\b",
}
PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in HABITS.items()}
# Comments of quinn (a1931ab8) and neqo (80ca01ee), counted in the same way.
REFERENCE = {
    "quinn": {
        "what is": 0.08,
        "where it": 0.19,
        "tells": 0.04,
        "says": 0.04,
        "stands": 0.0,
        "that of": 0.02,
        "nothing": 1.34,
    },
    "neqo": {
        "what is": 0.34,
        "where it": 0.24,
        "tells": 0.21,
        "says": 0.09,
        "stands": 0.0,
        "that of": 0.01,
        "nothing": 1.53,
    },
}

RUST_COMMENT = re.compile(r"^[ ]*//[/!]?(.*)$", re.MULTILINE)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")


def folders() -> dict[str, list[Path]]:
    """The files of each folder that is counted."""
    found: dict[str, list[Path]] = {}
    for file in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        found.setdefault("/".join(file.relative_to(ROOT).parts[:2]), []).append(file)
    for file in sorted(ROOT.glob("python/lasthop/**/*.py")):
        parts = file.relative_to(ROOT).parts
        found.setdefault("/".join(parts[:3]) if len(parts) > 3 else "python/lasthop", []).append(file)
    for file in sorted([*ROOT.glob("tests/**/*.py"), *ROOT.glob("benches/**/*.py")]):
        found.setdefault(file.relative_to(ROOT).parts[0], []).append(file)
    pages = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    found["docs"] = [page for page in pages if "gallery" not in page.parts]
    return found


def texts(file: Path) -> Iterator[str]:
    """The prose of a file: comments and docstrings of code, all of a page."""
    source = file.read_text(encoding="utf-8")
    if file.suffix == ".rs":
        yield "\n".join(RUST_COMMENT.findall(source))
    elif file.suffix == ".py":
        yield from python_texts(source)
    else:
        yield source


def python_texts(source: str) -> Iterator[str]:
    """Docstrings and comments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("#")


def counted(prose: str) -> tuple[int, dict[str, int]]:
    """The number of words, and of each habit."""
    text = CODE.sub(" x ", prose)
    return len(WORD.findall(text)), {name: len(pattern.findall(text)) for name, pattern in PATTERNS.items()}


def rates(files: list[Path]) -> dict[str, float]:
    """Each habit per thousand words."""
    words, habits = counted("\n".join(text for file in files for text in texts(file)))
    return {name: round(1000 * count / max(words, 1), 2) for name, count in habits.items()}


def kept() -> dict[str, dict[str, float]]:
    """The rates that no folder may exceed."""
    found: dict[str, dict[str, float]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Prints the table; with `--write` keeps each rate that has fallen, and those of new folders."""
    now = {folder: rates(files) for folder, files in folders().items()}
    width = max(map(len, now))
    print(" " * width, *(f"{name:>9}" for name in HABITS))
    for folder, values in [*now.items(), *REFERENCE.items()]:
        print(f"{folder:<{width}}", *(f"{values.get(name, float('nan')):9.2f}" for name in HABITS))
    if "--write" in sys.argv[1:]:
        before = kept() if KEPT.exists() else {}
        lower = {
            folder: {name: min(value, before.get(folder, {}).get(name, value)) for name, value in values.items()}
            for folder, values in now.items()
        }
        rows = ",\n".join(f" {json.dumps(folder)}: {json.dumps(values)}" for folder, values in lower.items())
        KEPT.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
