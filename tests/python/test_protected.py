"""Captures of a protected BSS: tshark sees CCMP and no payload, and `analyze` counts frames without their content."""

from __future__ import annotations

import lasthop
import pytest
from lasthop.foreign.analysis import analyze
from test_pcap import needs_tshark, nothing_wrong, read

SCENARIO = """
duration = "1 s"
warmup = "0 s"
[bss]
standard = "802.11n"
beacons = "100 TU"
security = "ccmp"
[[station]]
count = 2
distance = "20 m"
[[flow]]
station = "*"
direction = "both"
"""

FIELDS = [
    "wlan.fc.type_subtype",
    "wlan.fc.protected",
    "wlan.ccmp.extiv",
    "wlan.ta",
    "wlan.ra",
    "wlan.fc.retry",
    "frame.len",
    "radiotap.length",
    "tcp.len",
    "ip.len",
    "wlan.rsn.pcs.type",
    "wlan.fixed.capabilities.privacy",
]
QOS_DATA, BEACON = "0x0028", "0x0008"


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    directory = tmp_path_factory.mktemp("protected")
    result = lasthop.run(lasthop.Scenario(SCENARIO, "protected.toml"), seeds=1, interval_s=None, pcap=directory)
    return result, next(directory.rglob("air.pcapng"))


@needs_tshark
def test_tshark_reads_ccmp_and_no_payload(captured):
    _, file = captured
    found = read(file, FIELDS)
    nothing_wrong(found)
    data = [frame for frame in found.frames if frame["wlan.fc.type_subtype"] == QOS_DATA]
    assert len(data) > 1000
    assert all(frame["wlan.fc.protected"] == "1" and frame["wlan.ccmp.extiv"] for frame in data)
    assert not any(frame["tcp.len"] or frame["ip.len"] for frame in found.frames)
    others = [frame for frame in found.frames if frame["wlan.fc.type_subtype"] != QOS_DATA]
    assert others and not any(frame["wlan.fc.protected"] == "1" for frame in others)
    beacons = [frame for frame in others if frame["wlan.fc.type_subtype"] == BEACON]
    assert beacons and all(frame["wlan.rsn.pcs.type"] == "4" for frame in beacons)


@needs_tshark
def test_full_segments_are_sixteen_octets_longer(captured):
    _, file = captured
    sizes = [
        int(frame["frame.len"]) - int(frame["radiotap.length"])
        for frame in read(file, FIELDS).frames
        if frame["wlan.fc.type_subtype"] == QOS_DATA
    ]
    # 26 + 8 + 1500 + 4 B without protection.
    assert max(sizes) == 1538 + 16


@needs_tshark
def test_packet_numbers_of_new_frames_grow_by_one(captured):
    _, file = captured
    by_ends: dict[tuple[str, str], list[int]] = {}
    for frame in read(file, FIELDS).frames:
        if frame["wlan.fc.type_subtype"] == QOS_DATA and frame["wlan.fc.retry"] == "0":
            number = int(frame["wlan.ccmp.extiv"], 16)
            by_ends.setdefault((frame["wlan.ta"], frame["wlan.ra"]), []).append(number)
    assert len(by_ends) == 4
    for numbers in by_ends.values():
        assert numbers == list(range(1, len(numbers) + 1))


def test_analyze_counts_frames_and_reads_no_tcp(captured):
    _, file = captured
    read_back = analyze([file], None, None, None).runs[0]
    links = [row for row in read_back["capture"]["links"] if row["mpdus_protected"]]
    assert len(links) == 4
    assert sum(row["mpdus_protected"] for row in links) > 1000
    assert read_back["capture"]["flows"] == []


def test_a_wire_beside_encrypted_air_shows_flows_in_their_directions(captured):
    """Stations are known by their addresses on Ethernet: no packet of the air can be read."""
    result, file = captured
    told = analyze([file, file.with_name("server.pcapng")], 0.0, 1.0, None).runs[0]
    simulated = {flow["id"]: flow for flow in result.runs[0]["flows"]}
    assert {flow["id"] for flow in told["flows"]} == set(simulated)
    for flow in told["flows"]:
        assert flow["direction"] == simulated[flow["id"]]["direction"]
        # Data of the last round trip is not acknowledged before the capture ends.
        last = simulated[flow["id"]]["rtt_mean_s"] or 0.0
        assert flow["goodput_bps"] == pytest.approx(simulated[flow["id"]]["goodput_bps"], rel=0.02 + last), flow["id"]
