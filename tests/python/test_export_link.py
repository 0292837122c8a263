"""`lasthop export link`: what a station's link lets through, in the formats of emulators."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import lasthop
import pytest
from lasthop.views.export.capacity import Link, formats
from lasthop.views.export.capacity.measure import PACKET_BYTES, with_sender
from test_mistakes import refused

# Losses of the air at both stations, another's traffic, and a wire.
CELL = """
duration = "3 s"
warmup = "1 s"
[bss]
standard = "802.11n"
rate_control = { kind = "fixed", mcs = 4 }
retry_limit = 2
[channel]
error_model = { kind = "fixed", data = 0.2 }
[wired]
delay = "5 ms"
[[station]]
name = "sta"
count = 2
[[flow]]
station = "*"
direction = "down"
"""


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> lasthop.Scenario:
    monkeypatch.chdir(tmp_path)
    Path("cell.toml").write_text(CELL)
    return lasthop.load("cell.toml")


def test_the_export_equals_the_goodput_of_a_saturating_flow(command, cell):
    done = command("export", "link", "cell.toml", "--station", "sta2", "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(Path("cell-sta2.json").read_text())
    for direction in ("up", "down"):
        link = told[direction]
        run = lasthop.run(with_sender(cell, "sta2", direction), seeds=1).runs[0]
        (flow,) = (flow for flow in run["flows"] if flow["id"] == "sta2.link")
        # A flow counts payload: 28 B of headers less a packet.
        packets = flow["goodput_bps"] * link["length_s"] / 8 / (PACKET_BYTES - 28)
        # Hosts have packets of the wire's delay later, which the edges of the measured time cut off.
        at_the_edges = link["rate_bps"] / 8 / PACKET_BYTES * 2 * link["wire_delay_s"]
        assert len(link["delivered_ns"]) == pytest.approx(packets, abs=at_the_edges + 64)
        assert link["delivered_ns"] == sorted(link["delivered_ns"])
        assert link["wire_delay_s"] == 0.005
        # Two retries, and each attempt is lost to noise, a fifth, or to a collision; some thousand packets.
        sender = {"up": "sta2", "down": "ap"}[direction]
        (collides,) = (node["collision_probability"] for node in run["nodes"] if node["name"] == sender)
        lost = 1 - 0.8 * (1 - collides)
        assert link["loss"] == pytest.approx(lost**3, rel=0.4), (direction, collides)
    assert set(cell.to_dict()) == set(with_sender(cell, "sta2", "up").to_dict())


def test_others_stay_and_its_own_flows_go(cell):
    flows = with_sender(cell, "sta2", "down").to_dict()["flow"]
    assert [(flow["station"], flow["transport"]) for flow in flows] == [("sta1", "tcp"), ("sta2", "udp")]


@pytest.mark.parametrize("file", sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"), key=str))
def test_every_ready_scenario_takes_a_sender_at_its_last_station(file):
    scenario = lasthop.load(file)
    station = scenario.resolve().stations()[-1]
    flows = with_sender(scenario, station, "up").to_dict()["flow"]
    assert flows[-1]["station"] == station
    assert all(flow["station"] != station for flow in flows[:-1])


def test_mahimahi_gets_a_line_for_each_packet(command, cell):
    done = command(
        "export", "link", "cell.toml", "--station", "sta1", "--format", "mahimahi", "--out", "trace", "--seed", "2"
    )
    assert done.returncode == 0, done.stderr
    for direction in ("up", "down"):
        lines = [int(line) for line in Path(f"trace.{direction}").read_text().splitlines()]
        assert lines == sorted(lines)
        assert lines[0] > 0 and lines[-1] <= 2000
        said = next(line for line in done.stderr.splitlines() if f" {direction}: " in line)
        assert f"{len(lines) * PACKET_BYTES * 8 / 2 / 1e6:.2f} Mbit/s" in said


def test_netem_has_the_rate_and_the_loss_of_each_interval():
    up = Link("sta", "up", 300_000_000, [1, 99_999_999, 100_000_000, 250_000_000], [150_000_000], 5_000_000)
    assert formats.binned(up, 100_000_000) == [(2, 0), (1, 1), (1, 0)]
    script = formats.netem([up], 100_000_000)
    assert [line.split() for line in script.splitlines() if line.startswith("    step")] == [
        ["step", "240", "0%".rstrip("%")],
        ["step", "120", "50"],
        ["step", "120", "0"],
    ]


@pytest.mark.skipif(shutil.which("tc") is None or os.geteuid() != 0, reason="tc and root are needed")
def test_tc_takes_the_script(command, cell):
    done = command("export", "link", "cell.toml", "--station", "sta1", "--format", "netem", "--interval", "500ms")
    assert done.returncode == 0, done.stderr
    text = Path("cell-sta1.sh").read_text()
    Path("once.sh").write_text(text.replace("while :; do", "").replace("\ndone\n", "\n"))
    inside = "ip link add name a type veth peer name b && DEV=a DOWN_DEV=b sh once.sh && tc qdisc show dev a"
    ran = subprocess.run(["unshare", "-n", "sh", "-c", inside], capture_output=True, text=True, timeout=60, check=False)
    if "qdisc kind is unknown" in ran.stderr:
        pytest.skip("this kernel has no netem")
    assert ran.returncode == 0, ran.stderr
    assert "delay 5ms" in ran.stdout and "rate" in ran.stdout


def test_standard_output_has_the_file_alone(command, cell):
    options = ("--station", "sta1", "--format", "json", "--out")
    shown, written = (
        command("export", "link", "cell.toml", *options, "-"),
        command("export", "link", "cell.toml", *options, "told"),
    )
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == Path("told.json").read_text()
    assert written.stdout == ""


def test_mistakes_are_reported(command, cell):
    refused(
        command("export", "link", "cell.toml", "--station", "sat1", "--format", "json"),
        "cell.toml: no station matches 'sat1'",
        "did you mean",
    )
    refused(
        command("export", "link", "cell.toml", "--station", "sta*", "--format", "json"), "'sta*' is a pattern", "sta1"
    )
    refused(
        command("export", "link", "cell.toml", "--station", "sta1", "--format", "netem", "--interval", "10 s"),
        "--interval: longer than the measured time",
    )
