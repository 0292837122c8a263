"""docs/kernel.md, of which several programs write a section each, and its tables in docs/recorded."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "kernel.md"
TITLE = "# Beside real kernels"
HEADING = "\n## "
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def put(heading: str, text: str) -> None:
    """Writes the section of this heading again, or adds it at the end; its tables become files, to which it links."""
    title, *sections = PAGE.read_text().split(HEADING)
    named = {section.partition("\n")[0]: section for section in sections}
    named[heading] = f"{heading}\n\n{linked(heading, text.strip() + chr(10)).strip()}\n"
    PAGE.write_text(title.rstrip() + "\n" + "".join(HEADING + section.rstrip() + "\n" for section in named.values()))


def linked(heading: str, text: str) -> str:
    """The text with a link to a file of tab-separated values in place of each table, which the site shows there."""
    name = re.sub(r"\W+", "-", heading.rpartition(": ")[2].lower()).strip("-")
    tables = TABLE.findall(text)
    for number, table in enumerate(tables, start=1):
        file = f"recorded/kernel-{name}{f'-{number}' if len(tables) > 1 else ''}.tsv"
        head, _, *rows = table.splitlines()
        lines = ("\t".join(cell.strip() for cell in row[1:-1].split("|")) + "\n" for row in (head, *rows))
        (PAGE.parent / file).write_text("".join(lines))
        text = text.replace(table, f"[Every row]({file})\n", 1)
    return text
