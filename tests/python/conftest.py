"""A small scenario, and the command as a user types it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_server import CommandServer

SMALL = """\
name = "small"
duration = "2 s"
warmup = "500 ms"

[bss]
standard = "802.11b"
rate_control = { kind = "fixed", rate = "11 Mbit/s" }

[[station]]
count = 2
distance = "10 m"

[wired]
rate = "100 Mbit/s"
delay = "10 ms"

[tcp]
congestion_control = "newreno"

[[flow]]
station = "*"
direction = "up"
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario file in a directory of its own, which is the current one."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return file


@pytest.fixture(scope="session")
def command_server() -> Iterator[CommandServer]:
    """Starts commands for all tests of this process."""
    server = CommandServer()
    yield server
    server.close()


@pytest.fixture
def command(command_server: CommandServer):
    """Runs `lasthop` with the given arguments and returns the finished process."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return command_server.run([*map(str, arguments)])

    return run


@pytest.fixture
def without_wall_clock():
    """A result's JSON text as a document, less the one thing in which two runs may differ."""

    def strip(text: str) -> dict:
        document = json.loads(text)
        for run in document["runs"]:
            del run["simulator"]["wall_s"]
        return document

    return strip
