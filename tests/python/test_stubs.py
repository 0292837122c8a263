"""The stub of the extension, from which type checkers know it, has the module's classes, functions and parameters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Names, parameters and classes are compared; what other packages have in their own stubs is not read.
SETTINGS = "[mypy]\nfollow_imports = skip\n"
ALLOWED = ROOT / "python" / "stubs-allowed.txt"


def differences(*options: object) -> list[str]:
    """The differences that stubtest finds; PyO3 marks each class as a base of its own, so that one is left out."""
    line = [sys.executable, "-m", "mypy.stubtest", "lasthop._core", "--concise", "--ignore-disjoint-bases", *options]
    done = subprocess.run([*map(str, line)], capture_output=True, text=True, timeout=300, check=False, cwd=ROOT)
    assert done.returncode in (0, 1), done.stderr
    return [text for text in done.stdout.splitlines() if text.startswith("lasthop._core")]


def test_stub_agrees_with_the_module(tmp_path):
    pytest.importorskip("mypy")
    settings = tmp_path / "mypy.ini"
    settings.write_text(SETTINGS)
    assert differences("--mypy-config-file", settings, "--allowlist", ALLOWED, "--ignore-unused-allowlist") == []
