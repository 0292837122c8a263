"""The map of files: each crate and each folder of the package with its files and their opening lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from .markup import inline, title

TREE = Path(__file__).resolve().parents[3]
OPENING = re.compile(r"\A(?://[/!][^\n]*\n)*?//! ?(\S[^\n]*(?:\n//! ?\S[^\n]*)*)")
# The end of a first sentence.
END = re.compile(r"(?<=\.)\s+(?=[A-Z`])|\n\s*\n")


def pages() -> Iterator[tuple[str, str]]:
    """Names and texts of the pages, the list of rooms first."""
    rooms = {**dict(_crates()), **dict(_folders())}
    listed = "".join(f"   {name}\n" for name in rooms)
    told = "Every source file by its opening line. :doc:`/explanation/architecture` has the rules between these rooms."
    yield "index", f"{title('Map of files')}\n{told}\n\n.. toctree::\n   :maxdepth: 1\n\n{listed}"
    for name, files in rooms.items():
        yield name, f"{title(name.replace('-', '/', 1))}\n" + "".join(_row(*file) for file in files)


def _row(name: str, line: str) -> str:
    return f"* ``{name}``: {inline(line)}\n" if line else f"* ``{name}``\n"


def _crates() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for source in sorted((TREE / "crates").glob("*/src")):
        files = sorted(source.rglob("*.rs"))
        yield (
            f"crates-{source.parent.name}",
            [(file.relative_to(source).as_posix(), opening_of_rust(file.read_text("utf-8"))) for file in files],
        )


def _folders() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    package = TREE / "python" / "lasthop"
    for folder in sorted(path for path in package.iterdir() if (path / "__init__.py").is_file()):
        files = sorted(folder.rglob("*.py"))
        named = [(file.relative_to(folder).as_posix(), opening_of_python(file.read_text("utf-8"))) for file in files]
        yield f"lasthop-{folder.name}", named


def opening_of_rust(source: str) -> str:
    """The first sentence of a file's `//!` comment; empty if it has none."""
    match = OPENING.match(source)
    return _sentence(re.sub(r"\n//! ?", "\n", match[1])) if match else ""


def opening_of_python(source: str) -> str:
    """The first sentence of a module's docstring; empty if it has none."""
    return _sentence(ast.get_docstring(ast.parse(source)) or "")


def _sentence(text: str) -> str:
    return " ".join(END.split(text.strip(), maxsplit=1)[0].split())
