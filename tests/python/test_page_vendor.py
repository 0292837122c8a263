"""What others wrote of the page lies there as it came, with its licence, and is made of pinned versions."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import lasthop

ROOT = Path(__file__).resolve().parents[2]
VENDOR = Path(lasthop.__file__).parent / "page" / "static" / "vendor"
SUMS = "SHA256SUMS"


def test_each_file_is_the_one_that_was_looked_at() -> None:
    listed = dict(reversed(line.split()) for line in (VENDOR / SUMS).read_text().splitlines())
    there = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in VENDOR.iterdir() if file.name != SUMS}
    assert there == listed


def test_each_part_has_its_licence() -> None:
    parts = {file.name.split(".")[0] for file in VENDOR.iterdir()} - {SUMS, "VERSIONS"}
    for part in parts:
        assert "opyright" in (VENDOR / f"{part}.LICENSE").read_text()


def test_the_editor_is_made_of_pinned_versions() -> None:
    package = json.loads((ROOT / "page" / "package.json").read_text())
    asked = package["dependencies"] | package["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in asked.values())
    locked = json.loads((ROOT / "page" / "package-lock.json").read_text())["packages"]
    for name, version in asked.items():
        assert locked[f"node_modules/{name}"]["version"] == version
    assert all("integrity" in each for path, each in locked.items() if path)


def test_versions_beside_the_files_are_those_of_the_lock() -> None:
    package = json.loads((ROOT / "page" / "package.json").read_text())
    asked = package["dependencies"] | package["devDependencies"]
    text = (VENDOR / "VERSIONS").read_text()
    assert all(re.search(rf"{name} +{re.escape(version)}(\s|$)", text) for name, version in asked.items())
    scripts = {file.name for file in VENDOR.iterdir() if file.suffix in (".js", ".css")}
    assert all(name in text for name in scripts)


def test_licences_cover_every_part_of_the_editor() -> None:
    locked = json.loads((ROOT / "page" / "package-lock.json").read_text())["packages"]
    parts = [path.removeprefix("node_modules/") for path, each in locked.items() if path and not each.get("dev")]
    heads = re.findall(r"^== (.*)$", (VENDOR / "codemirror.LICENSE").read_text(), re.MULTILINE)
    told = {
        f"{scope}/{name}"
        for head in heads
        if ":" in head
        for scope, names in [head.split(": ")]
        for name in names.split(", ")
    }
    told |= {head for head in heads if ":" not in head}
    assert told == set(parts)
