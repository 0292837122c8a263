"""The gallery of the showcases for readers without the site: the table of README.md.

`python tests/python/showcase_page.py --write` writes it. `--run DIR` first runs the pages whose claims were not held in their present
state, with all seeds, keeps the states in which they hold (tests/data/showcases.json), and makes small pictures from those that the
pages leave in DIR. It takes some minutes for all of them, and goes on where it stopped. `--all` runs every page.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import showcase_claims
from lasthop.data.ready import showcase_title, showcases

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PICTURES = ROOT / "docs" / "showcases" / "pictures"
PLACE = re.compile(r"(<!-- showcases -->\n).*?(<!-- end -->)", re.DOTALL)
COLUMNS = 4
# Small enough for a table, large enough for the labels to be read.
WIDTH, COLOURS = 520, 48


def page() -> str:
    """The text of README with its table made again."""
    text = README.read_text(encoding="utf-8")
    return PLACE.sub(lambda found: f"{found[1]}\n{table()}\n{found[2]}", text)


def table() -> str:
    """A cell for each showcase: picture and title."""
    cells = [_cell(name, showcase_title(script)) for name, script in showcases().items()]
    rows = [cells[first : first + COLUMNS] for first in range(0, len(cells), COLUMNS)]
    lines = ["|" + " |" * COLUMNS, "|" + ":--|" * COLUMNS]
    lines += [f"| {' | '.join([*row, *[''] * (COLUMNS - len(row))])} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(name: str, title: str) -> str:
    """The title stands below the picture, so a program that reads it aloud needs no other text."""
    address = f"docs/showcases/{name}"
    return f"[![](docs/showcases/pictures/{name}.png)]({address}.py)<br>[{title}]({address}.py)"


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


def run(folder: Path, *, every: bool) -> list[str]:
    """Runs the pages into `folder`, and returns the names of those that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    failed, known = [], showcase_claims.held()
    told = {**os.environ, "LASTHOP_SHOWCASES": str(folder.resolve()), "MPLBACKEND": "Agg"}
    for name, script in showcases().items():
        if not every and known.get(name) == showcase_claims.state_of(script):
            continue
        began = time.monotonic()
        done = subprocess.run((sys.executable, script), env=told, capture_output=True, text=True, check=False)
        (folder / f"{name}.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
        if done.returncode == 0:
            showcase_claims.keep(script)
        else:
            failed.append(name)
        how = "holds" if done.returncode == 0 else f"FAILS: {done.stderr.strip().splitlines()[-1]}"
        print(f"{name}: {how} ({time.monotonic() - began:.0f} s)", file=sys.stderr)
    return failed


def main() -> None:
    """Prints the page, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--run", type=Path, metavar="DIR")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    failed = run(arguments.run, every=arguments.all) if arguments.run else []
    if arguments.run:
        shrink(arguments.run)
    if arguments.write:
        README.write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
    sys.exit(f"pages whose claims do not hold: {', '.join(failed)}" if failed else None)


if __name__ == "__main__":
    main()
