"""What a sniffer inside the emulation captures, analysed: the emulator's own numbers of its sockets."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from emulator import CELL, emulate, runs_of, some_kernel_or_skip
from lasthop.foreign.analysis import analyze

SIZES = {"up": 4_000_000, "down": 2_000_000}
# Both transfers end before the sniffers do. A server begins before its client, and so must sniff for longer.
SNIFFED = """
[[flow]]
station = "sta1"
direction = "up"
size = "4 MB"

[[flow]]
station = "sta2"
direction = "down"
size = "2 MB"

[[flow]]
name = "sniffed"
station = "sta1"
direction = "down"
[flow.application]
kind = "command"
client = "exec dumpcap -q -a duration:3.5 -i any -w {place}/sta1.pcapng"
server = "exec dumpcap -q -a duration:600 -i eth0 -w {place}/server.pcapng"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the result of an emulation and with what was captured in it."""
    some_kernel_or_skip()
    if shutil.which("dumpcap") is None:
        pytest.skip("dumpcap is not installed: apt-get install tshark")
    directory = tmp_path_factory.mktemp("captured")
    cell = CELL.replace('"1500 ms"', '"4 s"').replace('"500 ms"', '"0 s"')
    (directory / "cell.toml").write_text(cell + SNIFFED.format(place=directory))
    done = emulate("cell.toml", "--out", "out", cwd=directory)
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture(scope="module")
def flows(place: Path) -> dict[str, dict[str, Any]]:
    """What the emulator tells of its flows, by direction."""
    (run,) = runs_of(place / "out/result.json")
    return {flow["direction"]: flow for flow in run["flows"] if "sniffed" not in flow["id"]}


def read(file: Path) -> dict[str, tuple[dict[str, Any], dict[str, Any], float]]:
    """Flows of a capture, each with what captures alone tell and the mean of its smoothed RTT, by direction."""
    result = analyze([file], interval_s=None, record="rtt")
    (run,) = result.runs
    samples = result.recording("rtt").to_pylist()
    pairs = zip(run["flows"], run["capture"]["flows"], strict=True)
    # Without a capture of the air, the opener of a connection is taken for the station: here that is the sender.
    return {
        "down" if flow["id"].startswith("10.0.0.1") else "up": (
            flow,
            told,
            smoothed_mean_s([(row["t_ns"], row["rtt_ns"]) for row in samples if row["flow"] == flow["id"]]),
        )
        for flow, told in pairs
    }


def smoothed_mean_s(samples: list[tuple[int, int]]) -> float:
    """The mean over time of the RTT that a sender has smoothed by an eighth [RFC 6298 §2]."""
    (began, smoothed), *later = samples
    before, integral = began, 0.0
    for at, rtt in later:
        integral += smoothed * (at - before)
        smoothed += (rtt - smoothed) / 8
        before = at
    return integral / (before - began) / 1e9


def assert_same_timeouts(told: dict[str, Any], flow: dict[str, Any]) -> None:
    # A kernel before 6.7 does not count them.
    assert flow["timeouts"] in (told["timeouts_seen"], None)


def test_at_the_server_both_flows_are_those_of_the_sockets(place, flows):
    captured = read(place / "server.pcapng")
    for direction, own in flows.items():
        assert captured[direction][0]["bytes_delivered"] == own["bytes_delivered"] == SIZES[direction]
    seen, told, smoothed_s = captured["down"]
    assert seen["segments_sent"] == flows["down"]["segments_sent"]
    assert seen["segments_retransmitted"] == flows["down"]["segments_retransmitted"]
    assert_same_timeouts(told, flows["down"])
    # The emulator reads the smoothed RTT ten times a second at least.
    assert smoothed_s == pytest.approx(flows["down"]["rtt_mean_s"], rel=0.03)


def test_at_the_station_its_upload_is_that_of_its_socket(place, flows):
    # The form of `tcpdump -i any`, with Linux's header for all interfaces.
    seen, told, smoothed_s = read(place / "sta1.pcapng")["up"]
    assert seen["bytes_delivered"] == SIZES["up"]
    assert seen["segments_sent"] == flows["up"]["segments_sent"]
    assert seen["segments_retransmitted"] == flows["up"]["segments_retransmitted"]
    assert_same_timeouts(told, flows["up"])
    assert smoothed_s == pytest.approx(flows["up"]["rtt_mean_s"], rel=0.03)
