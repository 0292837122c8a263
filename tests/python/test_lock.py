"""The lock of the Python packages: complete, each with the hashes of its files."""

from __future__ import annotations

import re
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "python" / "requirements.txt").read_text(encoding="utf-8")
# What `make docs` installs besides.
DOCS_LOCK = (ROOT / "python" / "requirements-docs.txt").read_text(encoding="utf-8")
ENTRY = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(.*(?:\n .*)*)", re.MULTILINE)
ENTRIES, DOCS_ENTRIES = ENTRY.findall(LOCK), ENTRY.findall(DOCS_LOCK)
# What an environment begins with, and the package itself.
OWN = {"pip", "setuptools", "lasthop"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(("lock", "entries", "least"), [(LOCK, ENTRIES, 40), (DOCS_LOCK, DOCS_ENTRIES, 20)])
def test_each_entry_has_hashes(lock, entries, least):
    assert len(entries) == len(re.findall(r"^\w", lock, re.MULTILINE)) > least
    for name, version, rest in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", rest), f"{name}=={version}"


def test_what_is_installed_is_in_the_lock():
    if Path(sys.prefix) not in (ROOT / ".venv", ROOT / "dist" / "venv"):
        pytest.skip("these tests run in an environment that make has not made")
    locked = {(normal(name), version) for name, version, _ in [*ENTRIES, *DOCS_ENTRIES]}
    installed = {(normal(one.name), one.version) for one in distributions()}
    assert {one for one in installed if one[0] not in OWN} <= locked


def test_what_the_package_needs_is_in_the_lock():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    asked += [line for line in (ROOT / "python" / "requirements.in").read_text().splitlines() if not line.startswith("#")]
    assert {normal(re.match(r"[\w.-]+", one)[0]) for one in asked} <= {normal(name) for name, _, _ in ENTRIES}


def test_what_builds_the_site_is_in_its_lock_and_changes_no_version_of_the_other():
    asked = [line for line in (ROOT / "python" / "requirements-docs.in").read_text().splitlines() if re.match(r"\w", line)]
    assert {normal(one) for one in asked} <= {normal(name) for name, _, _ in DOCS_ENTRIES}
    versions = {normal(name): version for name, version, _ in ENTRIES}
    assert {name: version for name, version, _ in DOCS_ENTRIES if versions.get(normal(name), version) != version} == {}
