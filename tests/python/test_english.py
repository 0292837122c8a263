"""Documents, help texts and docstrings are in plain English: subject first, no words out of use."""

from __future__ import annotations

import argparse
import ast
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import prose as habits
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("*.md", "docs/**/*.md", "benches/README.md", "crates/*/README.md", "examples/**/README.md")
DOCUMENTS = sorted({page for pattern in FOLDERS for page in ROOT.glob(pattern)})
MODULES = sorted(ROOT.glob("python/lasthop/**/*.py"))
SHOWCASES = sorted(ROOT.glob("docs/showcases/*.py"))
RUST = sorted(ROOT.glob("crates/*/src/**/*.rs"))

pytestmark = pytest.mark.skipif(not ROOT.joinpath("ARCHITECTURE.md").exists(), reason="not in a source tree")

# A sentence that opens with a relative clause or with "Of", so that its subject comes late; questions may.
OPENING = re.compile(
    r"(?:^|(?<=[.:;?!] )|(?<=[.:]\n)|(?<=\n\n)|(?<=\n- )|(?<=\| ))(?:Whoever|Whose|Who|What|Of)\b(?![^.!?|]*\?)[^.\n|]*"
)
# Words out of use, or read as their opposite ("but for").
WORDS = re.compile(r"\b(?:but for|anew|lest|be it|thereof|whoever|herein|wherein|thereby)\b", re.IGNORECASE)


def prose(text: str) -> str:
    """A document without code, headings and the targets of links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`\n]*`", "`x`", text)
    text = re.sub(r"^#+ .*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\]\([^)]*\)", "]", text)


def awkward(text: str) -> list[str]:
    """The sentences that open late, and the words out of use with a few words around them."""
    openings = [match[0][:70] for match in OPENING.finditer(text)]
    words = [text[max(0, match.start() - 30) : match.end() + 30].replace("\n", " ") for match in WORDS.finditer(text)]
    return openings + words


def docstrings(module: Path) -> Iterator[str]:
    """Every docstring of a module."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield ast.get_docstring(node) or ""


def help_texts(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Every text that `--help` shows, of subcommands too."""
    yield from (text for text in (parser.description, parser.epilog) if text)
    for action in parser._actions:
        if action.help and action.help is not argparse.SUPPRESS:
            yield action.help
        if isinstance(action, argparse._SubParsersAction):
            yield from (choice.help or "" for choice in action._choices_actions)
            for command in action.choices.values():
                yield from help_texts(command)


def descriptions(schema: object) -> Iterator[str]:
    """Every description in a JSON Schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("description"), str):
            yield schema["description"]
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from descriptions(part)


def test_awkward_sentences_are_found():
    late = "Who waits is last. Of these, one counts.\n\n- What it does: nothing.\n"
    assert [found.split()[0] for found in awkward(late)] == ["Who", "Of", "What"]
    assert awkward("It starts anew, but for the last. Lest it fail, be it now.") != []
    assert awkward("What is a slot? It lasts 9 us; the rest of it does not. Somewhat later, often.") == []
    assert prose("# What is here\n`anew` and [a page](anew.md)\n```sh\nanew\n```\n").split() == [
        "`x`",
        "and",
        "[a",
        "page]",
    ]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_documents_are_in_plain_english(document):
    assert awkward(prose(document.read_text(encoding="utf-8"))) == []


def test_docstrings_are_in_plain_english():
    found = {
        str(module.relative_to(ROOT)): [text for each in docstrings(module) for text in awkward(each)]
        for module in MODULES
    }
    assert {module: texts for module, texts in found.items() if texts} == {}


@pytest.mark.parametrize("page", SHOWCASES, ids=lambda page: page.stem)
def test_showcases_are_in_plain_english(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line.removeprefix("# ") if line.startswith("#") else "" for line in lines)
    assert awkward(prose(text)) == []


def test_help_texts_are_in_plain_english():
    from lasthop.cli import build_parser

    texts = list(help_texts(build_parser()))
    assert len(texts) > 200
    assert [found for text in texts for found in awkward(text)] == []


@pytest.mark.parametrize(
    "arguments", [("self", "schema"), ("self", "schema", "--result"), ("list", "--json")], ids=" ".join
)
def test_descriptions_of_keys_and_names_are_in_plain_english(command, arguments):
    document = json.loads(command(*arguments).stdout)
    texts = [entry["summary"] for entry in document] if isinstance(document, list) else list(descriptions(document))
    assert len(texts) > 50
    assert [found for text in texts for found in awkward(text)] == []


# Lines of one comment of Rust, of any kind.
COMMENT = re.compile(r"(?:^[ ]*//[/!]?[^\n]*\n)+", re.MULTILINE)


def comments(text: str) -> Iterator[str]:
    """Every comment of a Rust file that has lines of its own, without examples of code."""
    for match in COMMENT.finditer(text):
        yield prose(re.sub(r"^ *//[/!]? ?", "", match[0], flags=re.MULTILINE))


def test_comments_of_rust_are_in_plain_english():
    files = sorted(ROOT.glob("crates/*/src/**/*.rs"))
    assert len(files) > 500
    found = {
        str(file.relative_to(ROOT)): [
            bad for each in comments(file.read_text(encoding="utf-8")) for bad in awkward(each)
        ]
        for file in files
    }
    assert {file: texts for file, texts in found.items() if texts} == {}


def test_no_item_of_rust_sends_its_reader_elsewhere():
    assert [
        str(file.relative_to(ROOT)) for file in RUST if "/// See the module." in file.read_text(encoding="utf-8")
    ] == []


@pytest.mark.parametrize("folder", habits.folders())
def test_habits_of_prose_only_become_rarer(folder):
    words, counts = habits.counted("\n".join(text for file in habits.folders()[folder] for text in habits.texts(file)))
    most = habits.kept().get(folder)
    assert most is not None, "a new folder: python tests/python/prose.py --write"
    more = {name: count for name, count in counts.items() if count > math.ceil(most[name] * words / 1000)}
    assert more == {}, "rewrite these; CONTRIBUTING has examples, and python tests/python/prose.py prints the rates"


def test_habits_are_counted():
    text = "What is found is told where it stands beside that of nobody; `what is` in code is not counted."
    words, counts = habits.counted(text)
    assert counts == dict.fromkeys(habits.HABITS, 1) | {"says": 0}
    assert words > 10
