"""Writes THIRD-PARTY: the licences of the crates that are linked into a wheel, from the sources that cargo has.

`python release/licences.py` writes the file, and `--check` compares it with what it would write. A crate that may be used under MIT
is used under MIT. The scripts of others on the page have their licences beside them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import wheel

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "THIRD-PARTY"
#: the crates whose libraries a wheel has
OURS = ("lasthop-python", "lasthop-virtual-time", "lasthop-kernel")
NAMES = ("licen", "copying", "notice", "copyright", "unlicense")
HEAD = """\
lasthop's compiled parts contain the crates below, and the standard library of Rust, which is under "MIT OR Apache-2.0", copyright
the Rust project's contributors, and is used under MIT. Written by release/licences.py.
"""


class Crate(NamedTuple):
    """A crate of somebody else."""

    name: str
    version: str
    licence: str
    folder: Path

    @property
    def called(self) -> str:
        """Its name and version."""
        return f"{self.name} {self.version}"


def linked() -> list[Crate]:
    """The crates in the libraries of a wheel, on any of its machines, in order."""
    found = {crate for target in wheel.TARGETS for crate in _linked(_metadata(target))}
    return sorted(found)


def _metadata(target: str) -> dict[str, Any]:
    line = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1", "--filter-platform", target]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"lasthop: {done.stderr.strip()}")
    return json.loads(done.stdout)


def _linked(metadata: dict[str, Any]) -> Iterator[Crate]:
    packages = {package["id"]: package for package in metadata["packages"]}
    dependencies = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    reached: set[str] = set()
    waiting = [each for each, package in packages.items() if package["name"] in OURS]
    while waiting:
        one = waiting.pop()
        if one in reached or _is_macro(packages[one]):
            continue
        reached.add(one)
        waiting += [
            each["pkg"] for each in dependencies[one] if any(kind["kind"] is None for kind in each["dep_kinds"])
        ]
    for package in (packages[one] for one in reached):
        if package["source"] is not None:
            folder = Path(package["manifest_path"]).parent
            yield Crate(package["name"], package["version"], package["license"] or "", folder)


def _is_macro(package: dict[str, Any]) -> bool:
    """A procedural macro runs in the compiler and is linked into nothing."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def texts(crate: Crate) -> list[str]:
    """The texts of the licence under which a crate is used, and its notices."""
    files = [file for file in sorted(crate.folder.iterdir()) if file.name.lower().startswith(NAMES) and file.is_file()]
    mit = [file for file in files if "mit" in file.name.lower()]
    if mit and " OR " in crate.licence and " AND " not in crate.licence:
        files = mit + [file for file in files if file.name.lower().startswith("notice")]
    files = [file for file in files if "LGPL" not in file.name]
    if not files:
        raise SystemExit(f"lasthop: {crate.called}: its package has no text of its licence, {crate.licence}")
    return ["\n".join(line.rstrip() for line in file.read_text("utf-8").strip().splitlines()) for file in files]


def document(crates: list[Crate]) -> str:
    """The list of crates, then each text once, below the crates that it is of."""
    by_text: dict[str, list[str]] = {}
    for crate in crates:
        for text in texts(crate):
            by_text.setdefault(text, []).append(crate.called)
    listed = "".join(f"  {crate.called}: {crate.licence}\n" for crate in crates)
    parts = [f"\n{'=' * 80}\n{', '.join(of)}\n\n{text}\n" for text, of in by_text.items()]
    return f"{HEAD}\n{listed}{''.join(parts)}"


def main() -> int:
    """Writes or compares; 1 if the file is not the one that would be written."""
    text = document(linked())
    if sys.argv[1:] == ["--check"]:
        if FILE.is_file() and FILE.read_text("utf-8") == text:
            return 0
        sys.stderr.write("lasthop: THIRD-PARTY is of other crates; write it with `python release/licences.py`\n")
        return 1
    FILE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
