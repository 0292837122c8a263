"""PPDUs of several users: keys, refusals, and goodput beside ns-3.44 where both must agree."""

from __future__ import annotations

import lasthop
import pytest

CELL = """
duration = "1.5 s"
warmup = "0.5 s"

[bss]
standard = "802.11ax"
channel_width = "80 MHz"
guard_interval = "3.2 us"
rate_control = { kind = "fixed", mcs = 5 }
compat = "ns3"
retry_limit = 6
aggregation = { max_mpdus = 64, max_bytes = "65535 B" }

[bss.ap]
queue = "fq_codel"

[[station]]
count = 4
distance = "1 m"
queue = "fq_codel"

[wired]
rate = "10 Gbit/s"
delay = "0 ms"

[tcp]
receive_window = "131072 B"
congestion_control = "newreno"

[[flow]]
station = "*"
direction = "down"
"""
UDP = 'transport = "udp"\nrate = "61 Mbit/s"\npacket_size = "1476 B"\n'
MU_EDCA = {category: {"aifsn": 0, "timer": "106.496 ms"} for category in ("vo", "vi", "be", "bk")}


def cell(tmp_path, text=CELL, **settings):
    file = tmp_path / "cell.toml"
    file.write_text(text)
    scenario = lasthop.load(file)
    for path, value in settings.items():
        scenario = scenario.set(path.replace("__", "."), value)
    return scenario


def once(scenario, **options):
    return lasthop.run(scenario, seeds=1, interval_s=None, progress=False, **options).runs[0]


def goodput(scenario) -> float:
    return once(scenario)["totals"]["goodput_bps"] / 1e6


def ns3(**options):
    return {"kind": "ns3_rr", "max_users": 4, "access_request": "off", **options}


@pytest.mark.parametrize(
    ("acknowledge", "measured"), [(None, 209.4), ("mu_bar", 208.5), ("bar", 201.1), ("aggregated", 209.6)]
)
def test_udp_downloads_are_those_of_ns3(tmp_path, acknowledge, measured):
    # wifi-he-network of ns-3.44 with its stations on a circle, means of two seeds.
    several = "off" if acknowledge is None else ns3(uplink=False, acknowledge=acknowledge)
    found = goodput(cell(tmp_path, CELL + UDP, bss__ap__multi_user=several))
    assert found == pytest.approx(measured, rel=0.03)


def test_tcp_downloads_lose_by_downlink_alone_and_win_it_back_by_triggers_and_mu_edca(tmp_path):
    # ns-3.44: 177, 129, 154 and 177 Mbit/s.
    alone = goodput(cell(tmp_path))
    downlink = goodput(cell(tmp_path, bss__ap__multi_user=ns3(uplink=False)))
    both = goodput(cell(tmp_path, bss__ap__multi_user=ns3()))
    held = goodput(cell(tmp_path, bss__ap__multi_user=ns3(), bss__mu_edca=MU_EDCA))
    assert downlink < 0.92 * alone
    assert downlink < both < held
    assert held == pytest.approx(176.9, rel=0.07)


def test_off_is_the_same_as_nothing(tmp_path):
    plain, off = once(cell(tmp_path)), once(cell(tmp_path, bss__ap__multi_user="off"))
    assert (plain["totals"], plain["flows"], plain["nodes"]) == (off["totals"], off["flows"], off["nodes"])


def test_an_account_and_a_recording_change_nothing(tmp_path):
    scenario = cell(tmp_path, bss__ap__multi_user="airtime", bss__mu_edca=MU_EDCA, duration="1 s")
    plain = once(scenario)
    told = once(scenario, explain=True, record="ppdu")
    assert (plain["totals"], plain["nodes"]) == (told["totals"], told["nodes"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bss__standard": "802.11ac", "bss__guard_interval": "long"}, "802.11ac has no PPDUs of several users"),
        ({"bss__aggregation": "off"}, "aggregation is off"),
        ({"bss__ap__driver": "ath9k", "bss__compat": "none"}, "a driver prepares A-MPDUs for one station each"),
        ({"bss__ap__queue": "sfq"}, "does not know for which stations packets wait"),
        ({"bss__ap__multi_user": {"max_users": 1}}, "from 2 to 74"),
        ({"bss__ap__multi_user": {"uplink": False}, "bss__mu_edca": MU_EDCA}, "no trigger asks stations for data"),
        ({"bss__mu_edca": {"be": {"timer": "100 ms"}}}, "8.192 ms"),
        ({"bss__mu_edca": {"be": {"aifsn": 1}}}, "0, or from 2 to 15 slots"),
        ({"bss__ap__multi_user": "round"}, "airtime, ns3_rr, off"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(tmp_path, settings, message):
    with pytest.raises(lasthop.ScenarioError, match=message.replace("(", "\\(")):
        cell(tmp_path, **{"bss__ap__multi_user": "airtime", **settings}).resolve()


def test_captures_are_refused(tmp_path):
    scenario = cell(tmp_path, bss__ap__multi_user="airtime", duration="600 ms")
    with pytest.raises(Exception, match="captures of PPDUs of several users are not there yet"):
        once(scenario, pcap=tmp_path / "air")
