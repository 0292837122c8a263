"""The locks of the Python packages: complete, each with the hashes of its files, and of one mind."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The packages of a demo, of all layers, of the tests, and of the site's build.
DEMO, LAYERS, TESTS, DOCS = (
    (ROOT / "python" / f"requirements{name}.txt").read_text(encoding="utf-8") for name in ("", "-all", "-test", "-docs")
)
# The initial packages of an environment, and the package itself.
OWN = {"pip", "setuptools", "lasthop"}
# Packages for tests, stores, clusters and the page only.
NOT_FOR_A_DEMO = {
    "dask",
    "distributed",
    "duckdb",
    "httpx",
    "perfetto",
    "playwright",
    "pytest",
    "starlette",
    "uvicorn",
    "xarray",
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def entries(lock: str) -> list[tuple[str, str, str]]:
    return re.findall(r"^([A-Za-z0-9._-]+)==(\S+)(.*(?:\n .*)*)", lock, re.MULTILINE)


def versions(lock: str) -> set[tuple[str, str]]:
    return {(normal(name), version) for name, version, _ in entries(lock)}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirements: list[str]) -> set[str]:
    asked = {normal(re.match(r"[\w.-]+", one)[0]) for one in requirements if not one.startswith("#")}
    return asked - OWN


@pytest.mark.parametrize(("lock", "least"), [(DEMO, 15), (LAYERS, 30), (TESTS, 40), (DOCS, 20)])
def test_each_entry_has_hashes(lock, least):
    assert len(entries(lock)) == len(re.findall(r"^\w", lock, re.MULTILINE)) > least
    for name, version, rest in entries(lock):
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", rest), f"{name}=={version}"


def test_each_lock_adds_to_the_one_before():
    assert versions(DEMO) < versions(LAYERS) < versions(TESTS)


def test_a_demo_needs_no_package_of_tests_and_layers():
    assert not {name for name, _ in versions(DEMO)} & NOT_FOR_A_DEMO
    assert {name for name, _ in versions(TESTS)} >= NOT_FOR_A_DEMO


def test_installed_packages_are_in_the_lock():
    if Path(sys.prefix) not in (ROOT / ".venv", ROOT / "dist" / "venv"):
        pytest.skip("these tests run in an environment that make has not made")
    installed = {(normal(one.name), one.version) for one in distributions()}
    assert {one for one in installed if one[0] not in OWN} <= versions(TESTS) | versions(DOCS)


def test_requirements_of_the_package_are_in_the_locks():
    asked = [(ROOT / "python" / f"requirements{name}.in").read_text().splitlines() for name in ("", "-test")]
    layers = [one for extra in PROJECT["optional-dependencies"].values() for one in extra]
    for lock, wanted in (
        (DEMO, [*PROJECT["dependencies"], *asked[0]]),
        (LAYERS, [*PROJECT["dependencies"], *asked[0], *layers]),
        (TESTS, [*PROJECT["dependencies"], *asked[0], *layers, *asked[1]]),
    ):
        assert names(wanted) <= {name for name, _ in versions(lock)}


def test_requirements_of_the_site_are_in_its_lock_and_change_no_other_version():
    asked = (ROOT / "python" / "requirements-docs.in").read_text().splitlines()
    assert {normal(line) for line in asked if re.match(r"\w", line)} <= {name for name, _ in versions(DOCS)}
    tests = dict(versions(TESTS))
    assert {name: version for name, version in versions(DOCS) if tests.get(name, version) != version} == {}
