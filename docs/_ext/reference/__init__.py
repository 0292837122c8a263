"""The reference of the site, written from the program itself before each build.

`write(docs)` writes the pages into folders of `docs/reference`, which git ignores. It needs lasthop alone; `setup` is what
Sphinx calls. A page that has not changed is not touched, so that Sphinx does not read it again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import algorithms, commands, keys, messages, python_api, quantities, sources

PARTS = {
    "commands": commands,
    "keys": keys,
    "algorithms": algorithms,
    "quantities": quantities,
    "python": python_api,
    "messages": messages,
    "sources": sources,
}
OBJECTS = ("algorithm", "parameter", "quantity", "message")


def pages() -> dict[str, str]:
    """Every page by its path below `docs/reference`."""
    return {f"{part}/{name}.rst": text for part, module in PARTS.items() for name, text in module.pages()}


def write(docs: Path) -> None:
    """Writes the pages, and removes those that there are no more."""
    made = pages()
    for name, text in made.items():
        file = docs / "reference" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    for part in PARTS:
        for file in (docs / "reference" / part).glob("*.rst"):
            if f"{part}/{file.name}" not in made:
                file.unlink()


def _sentence(_: Any, signature: str, node: Any) -> str:
    """The heading of a message is the sentence; its anchor is the word before."""
    from sphinx import addnodes

    name, _, sentence = signature.partition(" ")
    node += addnodes.desc_name(sentence, sentence)
    return name


def setup(app: Any) -> dict[str, bool]:
    """Registers the kinds of things that have an anchor, and writes the pages before the sources are looked for."""
    from .links import LinkNames, LinkOutside, insert
    from .tables import insert_tables
    from .tree import plant

    for name in OBJECTS:
        app.add_object_type(name, name, objname=name, parse_node=_sentence if name == "message" else None)
    app.connect("builder-inited", lambda app: write(Path(app.srcdir)))
    app.connect("source-read", insert)
    app.connect("source-read", plant)
    app.connect("source-read", insert_tables)
    app.add_post_transform(LinkNames)
    app.add_transform(LinkOutside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
