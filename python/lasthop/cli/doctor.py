"""`lasthop doctor`: what is installed and whether it works, a line each."""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from .. import _core
from ..files import check_writable
from ..simulation import core_count

SUMMARY = "check the installation"
PACKAGES = ("duckdb", "numpy", "pandas", "pyarrow", "matplotlib", "rich")
PEERS = {"ns-2": "ns", "ns-3": "ns3"}


class Finding(NamedTuple):
    """One line: `ok`, `--` for something optional that is absent, or `!!` for what must be mended."""

    mark: str
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def execute(_arguments: argparse.Namespace) -> int:
    """Prints the findings; 1 if one must be mended."""
    findings = list(_findings())
    for finding in findings:
        sys.stdout.write(f"{finding.mark}  {finding.text}\n")
    return 1 if any(finding.mark == "!!" for finding in findings) else 0


def _findings() -> Iterator[Finding]:
    yield Finding("ok", f"lasthop {_core.__version__} in {Path(__file__).parent.parent}")
    yield Finding("ok", f"Python {platform.python_version()} on {platform.platform()}")
    yield Finding("ok", f"engine {_core.__file__}, {len(json.loads(_core.list_json()))} things to choose by name")
    yield _engine_build()
    yield _versions_agree()
    yield Finding("ok", f"{core_count()} cores for runs in parallel")
    for package in PACKAGES:
        yield _package(package)
    yield _writable(Path.cwd())
    for peer, command in PEERS.items():
        yield _peer(peer, command)


def _engine_build() -> Finding:
    if _core.profile_guided:
        return Finding("ok", "engine compiled with a profile of its own runs")
    return Finding("--", "engine compiled without a profile: `make fast` makes one that takes less time")


def _versions_agree() -> Finding:
    try:
        installed = metadata.version("lasthop")
    except metadata.PackageNotFoundError:
        return Finding("--", "not installed as a package; running from its source")
    if installed != _core.__version__:
        return Finding("!!", f"package {installed} beside engine {_core.__version__}: install again, e.g. `make build`")
    return Finding("ok", f"package {installed} fits the engine")


def _package(name: str) -> Finding:
    try:
        return Finding("ok", f"{name} {metadata.version(name)}")
    except metadata.PackageNotFoundError:
        return Finding("!!", f"{name} is not installed: `pip install {name}`")


def _writable(directory: Path) -> Finding:
    try:
        check_writable(directory / "lasthop")
    except OSError as error:
        return Finding("!!", f"{directory} cannot be written to: {error.strerror}")
    return Finding("ok", f"{directory} can be written to")


def _peer(name: str, command: str) -> Finding:
    path = shutil.which(command)
    if path is None:
        return Finding("--", f"{name} (`{command}`) is not installed; only comparing speed with it needs it")
    return Finding("ok", f"{name} at {path}")
