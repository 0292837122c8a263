"""What the program says to wrong input: examples, tried as the pages are made, and every sentence by where it comes from."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import lasthop
from lasthop.cli import main

from . import sentences
from .markup import block, inline, title

MISTAKES = Path(__file__).with_name("mistakes.toml")
SHAPE = """\
Wrong input gets one sentence on standard error and :ref:`status 2 <exit-status>`, and nothing is run. A sentence has the place, what is wrong and
what would be right. A place is a file with its line and key, a setting (``--set wired.delay=10``) or an option.

From Python, :py:exc:`lasthop.ScenarioError` has the same sentence, and its parts as attributes: ``file``, ``line``, ``column``, ``key``, ``kind``,
``arguments`` and ``remedy``. ``lasthop check --json`` prints them as JSON. :py:exc:`lasthop.StoreError` has a sentence about a store of runs.
"""
LISTED = (
    "Each sentence stands as in the source; ``{…}`` is where the program puts what was given, or what would be right."
)
# As many words as tell sentences apart.
WORDS = 9


def pages() -> Iterator[tuple[str, str]]:
    """Names and texts of the pages, examples first."""
    tree = ".. toctree::\n   :hidden:\n\n   commands\n   scenarios\n"
    where = "Two lists are collected from the sources: sentences of :doc:`commands <commands>` and :doc:`about scenarios <scenarios>`. What a library or the system says is passed on, and not listed."
    examples = "\n".join(map(_example, tried()))
    yield "index", "\n".join([title("Error messages"), SHAPE, where + "\n", title("Examples", "-"), examples, tree])
    yield "commands", _listed("Sentences of commands", "``python/lasthop/``", sentences.of_python())
    yield "scenarios", _listed("Sentences about scenarios", "crate ", sentences.of_rust())


def tried() -> list[dict[str, Any]]:
    """The mistakes of the list, each with what the program says of it under `said`. Raises `ValueError` if one is taken for right."""
    listed = tomllib.loads(MISTAKES.read_text(encoding="utf-8"))
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        try:
            found = [mistake | {"said": _said(mistake, listed["base"])} for mistake in listed["mistake"]]
        finally:
            os.chdir(here)
    for mistake in found:
        if not mistake["said"]:
            raise ValueError(f"{MISTAKES}: {mistake['title']}: is no mistake any more")
    return found


def _said(mistake: Mapping[str, Any], base: str) -> str:
    if "run" in mistake:
        return _refused(mistake["run"])
    scenario = lasthop.Scenario(mistake.get("file", base), "mine.toml")
    try:
        (scenario.set(*mistake["set"]) if "set" in mistake else scenario).resolve()
    except lasthop.ScenarioError as error:
        return f"lasthop: {error}"
    return ""


def _refused(line: list[str]) -> str:
    """What a command line is refused with."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = [signal.getsignal(number) for number in numbers]
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            status = main(line)
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
    streams[1].seek(0)
    return streams[1].read().strip() if status == 2 else ""


def _example(mistake: Mapping[str, Any]) -> str:
    parts = [title(mistake["title"], "~")]
    if "run" in mistake:
        parts.append(block("$ lasthop " + " ".join(mistake["run"]), "console"))
    elif "set" in mistake:
        path, value = mistake["set"]
        parts.append(block(f"{path} = {value!r}".replace("'", '"'), "text"))
    else:
        parts.append(block(mistake["file"].strip(), "text"))
    return "\n".join([*parts, block(mistake["said"]), inline(mistake["remedy"]) + "\n"])


def _listed(heading: str, of: str, found: Mapping[str, list[str]]) -> str:
    parts, used = [title(heading), LISTED + "\n"], set()
    for place, told in found.items():
        parts.append(title(f"{of}{place}" if not of.startswith("``") else place, "-"))
        for sentence in told:
            parts.append(f".. message:: {_anchor(sentence, used)} {sentence}\n")
    return "\n".join(parts)


def _anchor(sentence: str, used: set[str]) -> str:
    """A name of the sentence: its first words, and a number where others begin so."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"\{[^{}]*\}", "", sentence).lower())
    name = begin = "-".join(words[:WORDS]) or "message"
    number = 1
    while name in used:
        number += 1
        name = f"{begin}-{number}"
    used.add(name)
    return name
