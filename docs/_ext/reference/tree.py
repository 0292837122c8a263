"""The site's tables of contents, from the links of each `index.md`, so that such a page reads as well where there is no site.

Links of an index page to pages of the docs are its children, in their order; those below a second heading form a group with that heading.
Two links differ on the site: the gallery stands for showcases.md, and parts of the reference are written from the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

CHILD = re.compile(r"\]\(((?!\.\./\.\./)[^()\s:#]+)\.(?:md|rst)\)")
SHOWCASE = re.compile(r"\]\(((?:\.\./)*)showcases\.md\)")
SCRIPT = re.compile(r"\]\(((?:\.\./)*)showcases/(\w+)\.py\)")
# Rows of docs/reference/index.md whose first cell is a part that the program writes.
PART = re.compile(r"^\| (Commands|Keys|Algorithms|Quantities|Python|Messages|Sources) \|", re.MULTILINE)


def children(text: str) -> Iterator[tuple[str, list[str]]]:
    """The groups of an index page: heading, empty for the first, and names of the pages that it links to."""
    seen: set[str] = set()
    for number, group in enumerate(re.split(r"^## ", text, flags=re.MULTILINE)):
        names = [name for name in dict.fromkeys(CHILD.findall(group)) if name not in seen]
        seen |= set(names)
        if names:
            yield group.partition("\n")[0] if number else "", names


def on_the_site(text: str) -> str:
    """The page with the links that the site has in place of the tree's."""
    text = SHOWCASE.sub(r"](\1gallery/index.rst)", text)
    return SCRIPT.sub(r"](\1gallery/\2.rst)", text)


def plant(_app: Any, docname: str, content: list[str]) -> None:
    """Gives an index page its tables of contents."""
    content[0] = on_the_site(content[0])
    if docname == "reference/index":
        content[0] = PART.sub(lambda found: f"| [{found[1]}]({found[1].lower()}/index.rst) |", content[0])
    # Pages in reStructuredText, which sphinx-gallery and the reference write, have their own.
    if docname.rpartition("/")[2] != "index" or ".. " in content[0]:
        return
    for heading, names in children(content[0]):
        caption = f":caption: {heading}\n" if heading else ""
        content[0] += "\n```{toctree}\n:hidden:\n" + caption + "\n" + "".join(f"{name}\n" for name in names) + "```\n"
