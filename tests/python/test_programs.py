"""Scenarios whose flows programs carry: nothing but `lasthop emulate` starts one."""

from __future__ import annotations

from pathlib import Path

import lasthop
import pytest
from conftest import SMALL
from lasthop import _core
from page_bench import Page
from test_mistakes import refused

# Without a distance, which would cause a warning.
QUIET = SMALL.replace('distance = "10 m"\n', "")


@pytest.fixture
def started(tmp_path: Path) -> Path:
    """What the command of the scenario would make."""
    return tmp_path / "started"


@pytest.fixture
def commanded(small: Path, started: Path) -> str:
    """A scenario with a command, in the current directory."""
    text = f'{QUIET}application = {{ kind = "command", client = "touch {started}", server = "touch {started}" }}\n'
    small.write_text(text + '[sweep]\n"station.0.count" = [1, 2]\n')
    return small.read_text()


@pytest.mark.parametrize(
    "line", [("run",), ("run", "--record", "air", "--out", "out"), ("sweep", "--store", "runs.duckdb"), ("theory",)]
)
def test_every_simulating_command_refuses_programs_and_starts_none(command, commanded, small, started, line):
    before = sorted(path.name for path in small.parent.iterdir())
    done = command(line[0], "small.toml", *line[1:])
    refused(
        done,
        "small.toml:",
        "flow[0].application: a command runs under `lasthop emulate` only",
        'write application = "iperf3"',
    )
    assert sorted(path.name for path in small.parent.iterdir()) == before
    assert not started.exists()


def test_python_refuses_it_likewise(commanded, started):
    scenario = lasthop.Scenario(commanded)
    for begin in (lambda: lasthop.run(scenario, seeds=1), lambda: lasthop.open(scenario, seed=1)):
        with pytest.raises(lasthop.ScenarioError, match="`lasthop emulate` only"):
            begin()
    assert not started.exists()


def test_it_can_be_read_and_checked(commanded, started):
    resolved = lasthop.Scenario(commanded).resolve()
    assert '"kind":"command"' in resolved.to_json()
    assert resolved.warnings() == []
    _core.theory_json(resolved)
    assert not started.exists()


def test_the_page_checks_it_but_runs_it_only_where_code_is_allowed(commanded, small, started):
    page = Page(small.parent)
    try:
        assert page.post("/api/check", {"text": commanded})["problems"] == []
        said = page.refused("POST", "/api/runs", 422, json={"text": commanded})
        assert "a command is a program" in said and "`lasthop serve --allow-code`" in said
        page.desk.library.allows_code = True
        assert "`lasthop emulate` only" in page.refused("POST", "/api/runs", 422, json={"text": commanded})
        plain = page.post("/api/runs", {"text": SMALL, "record": False})
        assert page.ended(plain)["state"] == "done"
    finally:
        page.desk.close()
    assert not started.exists()


def test_a_flow_of_iperf3_is_simulated_as_the_bulk_data_that_it_is(small):
    def goodputs(text: str) -> list[float]:
        return [flow["goodput_bps"] for flow in lasthop.run(lasthop.Scenario(text), seeds=1).runs[0]["flows"]]

    assert goodputs(SMALL + 'application = "iperf3"\n') == goodputs(SMALL)
