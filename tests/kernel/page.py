"""docs/kernel.md, of which several programs write a section each."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "kernel.md"
TITLE = "# Beside real kernels"
HEADING = "\n## "


def put(heading: str, text: str) -> None:
    """Writes the section of this heading again, or adds it at the end."""
    title, *sections = PAGE.read_text().split(HEADING)
    named = {section.partition("\n")[0]: section for section in sections}
    named[heading] = f"{heading}\n\n{text.strip()}\n"
    PAGE.write_text(title.rstrip() + "\n" + "".join(HEADING + section.rstrip() + "\n" for section in named.values()))
