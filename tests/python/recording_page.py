"""The tables of recordings in docs/formats.md, from the engine's own: `python tests/python/recording_page.py --write`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from lasthop import _core

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
PLACE = re.compile(r"(<!-- recordings -->\n).*?(<!-- end -->)", re.DOTALL)


def page(text: str) -> str:
    """The page with these tables made again."""
    return PLACE.sub(lambda found: f"{found[1]}\n{tables()}\n{found[2]}", text)


def tables() -> str:
    """A row for each column of each table."""
    rows = [["table", "column", "type", "content"], ["---"] * 4]
    for table, meaning, columns in _core.recording_tables():
        rows.append([f"**`{table}`**", "", "", meaning])
        rows += [["", f"`{name}`", kind, content] for name, kind, content in columns]
    return "".join(
        "| " + " | ".join(row).replace("|  |", "| |").replace("|  |", "| |") + " |\n" for row in rows
    ).replace("|  |", "| |")


if __name__ == "__main__":
    made = page(PAGE.read_text(encoding="utf-8"))
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(made, encoding="utf-8")
    else:
        sys.stdout.write(made)
