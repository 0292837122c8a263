"""Captures of a BSS of 802.11n with a station of 802.11b: tshark sees its rates, its PHY, and the CTS that protect others."""

from __future__ import annotations

import lasthop
import pytest
from test_pcap import PHYS, needs_tshark, nothing_wrong, read

SCENARIO = """
duration = "2 s"
warmup = "0 s"
[bss]
standard = "802.11n"
channel = 1
beacons = "100 TU"
[[station]]
name = "fast"
distance = "10 m"
[[station]]
name = "slow"
distance = "10 m"
standard = "802.11b"
rate_control = { kind = "fixed", rate = "1 Mbit/s" }
[[flow]]
station = "*"
direction = "both"
"""

FIELDS = ["wlan.fc.type_subtype", "wlan.ta", "wlan.ra", "wlan_radio.data_rate", "wlan_radio.phy"]
DATA, QOS_DATA, BEACON, CTS, ACK, BLOCK_ACK = "0x0020", "0x0028", "0x0008", "0x001c", "0x001d", "0x0019"
AP, SLOW = "02:00:00:00:00:01", "02:00:00:00:00:03"


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    directory = tmp_path_factory.mktemp("older")
    lasthop.run(lasthop.Scenario(SCENARIO, "older.toml"), seeds=1, interval_s=None, pcap=directory)
    found = read(next(directory.rglob("air.pcapng")), FIELDS)
    nothing_wrong(found)
    return found.frames


def seen(frames):
    """Types, PHYs and rates."""
    return {
        (frame["wlan.fc.type_subtype"], PHYS[frame["wlan_radio.phy"]], float(frame["wlan_radio.data_rate"]))
        for frame in frames
    }


@needs_tshark
def test_frames_of_the_older_station_are_plain_data_at_one_megabit(frames):
    ends = [frame for frame in frames if SLOW in (frame["wlan.ta"], frame["wlan.ra"])]
    # The AP answers at the same rate; ACKs to the station have it as their receiver.
    assert seen(ends) == {(DATA, "802.11b", 1.0), (ACK, "802.11b", 1.0)}


@needs_tshark
def test_beacons_go_at_a_rate_that_all_know(frames):
    assert seen(frame for frame in frames if frame["wlan.fc.type_subtype"] == BEACON) == {(BEACON, "802.11b", 1.0)}


@needs_tshark
def test_every_aggregate_is_announced_by_a_cts_at_a_dsss_rate(frames):
    others = [frame for frame in frames if SLOW not in (frame["wlan.ta"], frame["wlan.ra"])]
    assert {entry for entry in seen(others) if entry[0] == CTS} == {(CTS, "802.11b", 11.0)}
    # Answers to an MCS are of OFDM, though the basic rates are of DSSS.
    assert {phy for kind, phy, _ in seen(others) if kind == BLOCK_ACK} == {"802.11g"}
    assert {phy for kind, phy, _ in seen(others) if kind == QOS_DATA} == {"802.11n"}
    kinds = [frame["wlan.fc.type_subtype"] for frame in frames]
    starts = [i for i, kind in enumerate(kinds) if kind == QOS_DATA and kinds[i - 1] not in (QOS_DATA, BLOCK_ACK)]
    assert len(starts) > 50
    # A frame of another node may collide with the CTS, whose sender goes on.
    assert all(CTS in kinds[i - 2 : i] for i in starts)
    assert sum(kinds[i - 1] == CTS for i in starts) > 0.8 * len(starts)
