"""Code that all algorithms of a kind share asks what they need, never what they are called."""

from __future__ import annotations

import re
from pathlib import Path

CRATES = Path(__file__).parents[2] / "crates"
COMPARED = re.compile(r'(\.name\(\)\s*(==|!=)\s*"|matches!\([^;]*\.name\(\),)|match [^{;]*\.name\(\)')


def shared_code() -> list[tuple[Path, str]]:
    """Rust files of the models, less their tests."""
    files = [
        file
        for crate in ("tcp", "link", "wifi", "network", "scenario")
        for file in (CRATES / crate / "src").rglob("*.rs")
    ]
    return [(file, file.read_text().split("#[cfg(test)]")[0]) for file in files]


def test_no_shared_code_compares_names_of_algorithms():
    found = [
        f"{file.relative_to(CRATES)}: {match.group(0)}"
        for file, text in shared_code()
        for match in COMPARED.finditer(text)
    ]
    assert found == []


def test_the_pattern_finds_comparisons_of_names():
    assert COMPARED.search('if kind.name() == "fifo" {')
    assert COMPARED.search('matches!(config.congestion_control.name(), "bbr" | "bbr3")')
    assert COMPARED.search("match (config.congestion_control.name(), ecn) {")
