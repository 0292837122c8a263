"""The documents stay short: words of all pages of the tree, and of ARCHITECTURE.md."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import prose
import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGET = re.compile(r"\]\([^)]*\)")
MOST = 80_000
MOST_OF_ARCHITECTURE = 3_500

pytestmark = pytest.mark.skipif(not ROOT.joinpath("ARCHITECTURE.md").exists(), reason="not in a source tree")


def words(text: str) -> int:
    """The words of a page as a reader meets them: without numbers, code and the targets of links."""
    return len(prose.WORD.findall(prose.CODE.sub(" ", TARGET.sub("]", text))))


def pages() -> list[Path]:
    """Every page of Markdown in the tree, of folders and crates too; without those that a build leaves."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    found = [ROOT / name for name in listed.splitlines()] or [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    return [page for page in found if page.is_file()]


def test_words_are_counted_without_numbers_code_and_links():
    text = "# Two words\n\nSee [this page](a-long/name.md): `code` and 42 µs.\n```sh\nlasthop run\n```\n"
    assert words(text) == len(["Two", "words", "See", "this", "page", "and", "s"])


def test_the_documents_have_at_most_80000_words():
    counts = {str(page.relative_to(ROOT)): words(page.read_text(encoding="utf-8")) for page in pages()}
    longest = sorted(counts.items(), key=lambda item: -item[1])[:10]
    assert len(counts) > 60
    assert sum(counts.values()) <= MOST, f"cut what another page or the reference has; the longest: {longest}"


def test_the_architecture_is_read_in_a_quarter_of_an_hour():
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split()) <= MOST_OF_ARCHITECTURE
