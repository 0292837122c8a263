"""Links that the Markdown of the tree does not spell out, so that it reads as well where there is no site.

A name in backticks (`bss.ap.queue`, `totals.goodput_bps`, `lasthop run`) leads to where it is explained. A link to a
file of the tree beside the docs leads to a copy of it; one to a folder stays text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

COMMAND = re.compile(r"lasthop ([a-z]+)(?: ([a-z]+))?\b")
INSERT = re.compile(r"^<!-- insert (\S+) -->$", re.MULTILINE)
RELATIVE = re.compile(r"\]\((?![a-z]+:|#)")
KINDS = ("confval", "quantity", "algorithm")


class LinkNames(SphinxPostTransform):
    """Names in backticks become links."""

    default_priority = 200

    def run(self, **_: Any) -> None:
        objects = self.env.domains["std"].data["objects"]
        for node in list(self.document.findall(nodes.literal)):
            if _is_linked(node) or not isinstance(node.parent, nodes.TextElement):
                continue
            text = node.astext()
            target = next((objects[kind, text] for kind in KINDS if "." in text and (kind, text) in objects), None)
            if target is None and (found := COMMAND.match(text)):
                target = next(((page, "") for page in _pages(*found.groups()) if page in self.env.all_docs), None)
            if target is None or target[0] == self.env.docname:
                continue
            node.replace_self(
                make_refnode(self.app.builder, self.env.docname, target[0], target[1] or None, node.deepcopy(), text)
            )


def _pages(first: str, second: str | None) -> list[str]:
    """The pages that a command may have: that of a group's command, else that of its first word."""
    names = [f"{first}-{second}", first]
    return [f"reference/commands/{name}" for name in names]


def _is_linked(node: nodes.Node) -> bool:
    """Whether the node stands in a link, or where a link would be odd."""
    while node.parent is not None:
        node = node.parent
        if isinstance(
            node,
            (nodes.reference, nodes.title, addnodes.desc_signature, addnodes.pending_xref, addnodes.download_reference),
        ):
            return True
    return False


class LinkOutside(SphinxTransform):
    """Links of Markdown to a page of the tree that is not in `docs`: a copy of the file is there to be opened."""

    default_priority = 5

    def apply(self, **_: Any) -> None:
        docs = Path(self.env.srcdir)
        for node in list(self.document.findall(addnodes.pending_xref)):
            file = Path(f"{node.get('reftarget', '')}.md")
            if (
                node.get("refdomain") != "doc"
                or not file.is_absolute()
                or file.is_relative_to(docs)
                or not file.is_file()
            ):
                continue
            target = Path("/", os.path.relpath(file, docs))
            copy = addnodes.download_reference(
                "", "", *node.children, refdoc=self.env.docname, reftarget=str(target), reftype="download"
            )
            node.replace_self(copy)


def insert(app: Any, docname: str, content: list[str]) -> None:
    """Puts a page of the tree where `<!-- insert FILE -->` stands: without its title, and with links that hold from there."""

    def text(found: re.Match[str]) -> str:
        file = Path(app.env.doc2path(docname)).parent / found[1]
        app.env.note_dependency(str(file))
        body = file.read_text(encoding="utf-8").partition("\n")[2]
        return RELATIVE.sub(lambda _: f"]({Path(found[1]).parent}/", body)

    content[0] = INSERT.sub(text, content[0])
