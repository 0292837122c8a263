"""`lasthop list`: names that scenarios can choose, ready scenarios and quantities."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Callable

from .. import _core
from ..data.diagnostic import ScenarioError
from ..data.ready import scenarios, showcase_question, showcase_title, showcases
from ..papers import paper_files
from ..study.scenario import readable_text
from ._mistake import Mistake
from ._pager import show_paged
from ._table import table

QUANTITY, KNOB, SCENARIO, PAPER, SHOWCASE, RECORDING = "quantity", "knob", "scenario", "paper", "showcase", "recording"
HEAD = ["kind", "name", "summary", "source", "status"]
HEADS = {
    QUANTITY: ["name", "unit", "type", "only", "summary"],
    KNOB: ["form", "unit", "least", "most", "summary", "counts"],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop list`."""
    parser.add_argument(
        "kind",
        metavar="KIND",
        nargs="?",
        help="list only this kind, e.g. congestion_control, quantity (all that is measured), knob (all that [[change]] and an agent can turn), scenario (ready ones), showcase (questions with their answers), recording (columns of --record) or paper (with its claims)",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Prints the list."""
    if made := FILES.get(arguments.kind):
        return _files(made(), arguments.json)
    head = HEADS.get(arguments.kind, HEAD)
    if arguments.kind and sys.stdout.isatty():
        head = [key for key in head if key != "kind"]  # the reader has just named it
    try:
        entries = json.loads(_core.list_json(arguments.kind and readable_text(arguments.kind)))
    except ScenarioError as error:
        raise Mistake(f"{error}, {', '.join(FILES)}") from None
    if arguments.json:
        sys.stdout.write(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")
        return 0
    if arguments.kind and any("over" in entry for entry in entries):
        head = [*head, "over"]
    show_paged(table(head, [[_text(entry.get(key)) for key in head] for entry in entries], left=len(head)))
    return 0


def _text(value: object) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _papers() -> list[dict[str, str]]:
    """The papers with the ids of their claims."""
    texts = ((file.stem, tomllib.loads(file.read_text(encoding="utf-8"))) for file in paper_files())
    return [{"name": name, "claims": ", ".join(claim["id"] for claim in text["claim"])} for name, text in texts]


def _scenarios() -> list[dict[str, str]]:
    """The ready scenarios with their descriptions."""
    texts = ((name, tomllib.loads(file.read_text(encoding="utf-8"))) for name, file in scenarios().items())
    return [{"name": name, "summary": str(text.get("description", ""))} for name, text in texts]


def _showcases() -> list[dict[str, str]]:
    """The showcases with their questions."""
    return [
        {"name": name, "title": showcase_title(script), "question": showcase_question(script)}
        for name, script in showcases().items()
    ]


def _recordings() -> list[dict[str, str]]:
    """The columns of each table of a recording."""
    return [
        {"table": table, "column": name, "type": kind, "content": content}
        for table, _, columns in _core.recording_tables()
        for name, kind, content in columns
    ]


FILES: dict[str, Callable[[], list[dict[str, str]]]] = {
    SCENARIO: _scenarios,
    PAPER: _papers,
    SHOWCASE: _showcases,
    RECORDING: _recordings,
}


def _files(entries: list[dict[str, str]], as_json: bool) -> int:
    if as_json:
        sys.stdout.write(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")
    else:
        show_paged(
            table(list(entries[0]) if entries else ["name"], [list(entry.values()) for entry in entries], left=4)
        )
    return 0
