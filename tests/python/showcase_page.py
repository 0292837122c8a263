"""The gallery of the showcases for readers without the site: docs/showcases.md, and the table of README.md.

`python tests/python/showcase_page.py --write` writes both. `--pictures DIR` first makes their small pictures from those that the scripts
left in DIR (`LASTHOP_SHOWCASES=DIR python docs/showcases/NAME.py`).
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from lasthop.data.ready import showcase_question, showcase_title, showcases

ROOT = Path(__file__).resolve().parents[2]
PAGE, README = ROOT / "docs" / "showcases.md", ROOT / "README.md"
PICTURES = ROOT / "docs" / "showcases" / "pictures"
PLACE = re.compile(r"(<!-- showcases -->\n).*?(<!-- end -->)", re.DOTALL)
COLUMNS = {PAGE: 2, README: 4}
# Small enough for a table, large enough for the labels to be read.
WIDTH, COLOURS = 520, 48


def page(file: Path) -> str:
    """The text of PAGE or README with its table made again."""
    text = file.read_text(encoding="utf-8")
    return PLACE.sub(lambda found: f"{found[1]}\n{table(file)}\n{found[2]}", text)


def table(file: Path) -> str:
    """A cell for each showcase: picture and title, in PAGE also the question."""
    base = "showcases" if file == PAGE else "docs/showcases"
    cells = [_cell(name, script, base, with_question=file == PAGE) for name, script in showcases().items()]
    wide = COLUMNS[file]
    rows = [cells[first : first + wide] for first in range(0, len(cells), wide)]
    lines = ["|" + " |" * wide, "|" + ":--|" * wide]
    lines += [f"| {' | '.join([*row, *[''] * (wide - len(row))])} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(name: str, script: Path, base: str, *, with_question: bool) -> str:
    title, address = showcase_title(script), f"{base}/{name}.py"
    shown = f"[![{title}]({base}/pictures/{name}.png)]({address})<br>"
    if not with_question:
        return f"{shown}[{title}]({address})"
    return f"{shown}**[{title}]({address})**, `lasthop showcase {name}`<br>{showcase_question(script)}"


def shrink(folder: Path) -> None:
    """Writes the small picture of each showcase whose picture is in `folder`."""
    from PIL import Image

    PICTURES.mkdir(exist_ok=True)
    for name in showcases():
        if (file := folder / f"{name}.png").is_file():
            with Image.open(file) as picture:
                small = picture.convert("RGB")
            small.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
            small.quantize(COLOURS).save(PICTURES / f"{name}.png", optimize=True)


def main() -> None:
    """Prints both pages, or writes them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pictures", type=Path, metavar="DIR")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.pictures:
        shrink(arguments.pictures)
    for file in COLUMNS:
        made = page(file)
        if arguments.write:
            file.write_text(made, encoding="utf-8")
        else:
            sys.stdout.write(made)


if __name__ == "__main__":
    main()
