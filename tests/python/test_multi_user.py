"""PPDUs of several users: keys, refusals, quantities, closed forms; `tests/validation/test_several_users.py` is beside ns-3.44."""

from __future__ import annotations

import json
import math
import shutil
import subprocess

import lasthop
import pytest
from lasthop import _core

needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed: apt-get install tshark"
)

# The TCP of ns-3.44: CUBIC, ACKs of every second segment or after 200 ms, an RTO of 1 s at least, no probes and no small queues.
# Its server is the access point.
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
queue = { kind = "fifo", limit = "500 packets" }

[[station]]
count = 4
distance = "1 m"
queue = { kind = "fifo", limit = "500 packets" }

[wired]
rate = "1000 Gbit/s"
delay = "0 ms"

[tcp]
receive_window = "131072 B"
congestion_control = "cubic"
delayed_ack = "fixed"
delayed_ack_timeout = "200 ms"
quick_acks = 0
min_rto = "1 s"
small_queue = "off"
tail_loss_probe = false

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


def ns3(**options):
    return {"kind": "ns3_rr", "max_users": 4, "access_request": "off", **options}


def test_without_data_of_its_own_ns3_rr_asks_for_lengths_of_queues_and_never_for_data(tmp_path):
    """So MU EDCA, which begins with data of a trigger, has no effect on UDP uploads: as in ns-3."""
    text = CELL.replace('direction = "down"', 'direction = "up"') + UDP
    scenario = cell(tmp_path, text, bss__ap__multi_user=ns3(access_request="10 ms"), bss__mu_edca=MU_EDCA)
    ppdus = lasthop.run(scenario, seeds=1, record=["air"], progress=False).recording("ppdu").to_pandas()
    asked = ppdus[ppdus.kind == "BSRP"].start_ns
    assert "trigger" not in set(ppdus.kind) and len(asked) > 50
    # 10 ms after the latest access, which was the latest question; then it contends.
    assert asked.diff().min() >= 10e6


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
        ({"bss__ap__multi_user": "round"}, "airtime, ns3_rr, proportional_fair, python, mt76, qcn5054, bcm43684, off"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(tmp_path, settings, message):
    with pytest.raises(lasthop.ScenarioError, match=message.replace("(", "\\(")):
        cell(tmp_path, **{"bss__ap__multi_user": "airtime", **settings}).resolve()


def test_saturated_downloads_fill_their_units(tmp_path) -> None:
    run = once(cell(tmp_path, CELL + UDP, bss__ap__multi_user={"kind": "ns3_rr", "uplink": False}))
    ap, *stations = run["nodes"]
    assert ap["users_per_ppdu_down_mean"] == 4 and ap["users_per_ppdu_up_mean"] is None
    assert ap["ru_used_fraction"] == pytest.approx(4 * 242 / 996)
    assert 0 <= ap["padding_fraction"] < 0.05
    assert ap["several_users_airtime_fraction"] <= ap["airtime_fraction"]
    assert {station["triggered_fraction"] for station in stations} == {None}, "they send no data"


def test_quantities_of_several_users_are_left_out_where_nobody_takes_part(tmp_path) -> None:
    off, *_ = once(cell(tmp_path))["nodes"]
    assert "padding_fraction" not in off
    settings = {"bss__ap__multi_user": "airtime", "station__0__multi_user": False}
    _, station, *_ = once(cell(tmp_path, **settings))["nodes"]
    assert "triggered_fraction" not in station


def test_accounts_say_what_triggers_and_padding_took(tmp_path) -> None:
    text = CELL.replace('direction = "down"', 'direction = "up"')
    asked = {"bss__ap__multi_user": "airtime", "bss__mu_edca": MU_EDCA}
    held, free = (once(cell(tmp_path, text, **settings), explain=True) for settings in (asked, {}))
    assert all(node["triggered_fraction"] > 0.95 for node in held["nodes"][1:])
    for flow in held["account"]["flows"]:
        terms = flow["terms"]
        assert sum(terms.values()) == pytest.approx(held["account"]["covered_s"])
        assert terms["triggered_s"] > 10 * terms["own_data_s"], "but for what it sent before the first trigger"
        assert terms["waits_for_trigger_s"] > terms["backoff_and_spaces_s"]
        assert 0 < terms["padding_s"] < terms["triggered_s"]
        assert terms["unattributed_s"] == 0
        assert {other["name"] for other in flow["waiting_for"]} <= {"ap", "ap and several stations"} | {
            f"{node['name']}{to}" for node in held["nodes"] for to in ("", " to ap")
        } | {f"ap to {node['name']}" for node in held["nodes"]} | {"collisions of others"}
    assert not {"triggered_s", "padding_s", "waits_for_trigger_s"} & free["account"]["flows"][0]["terms"].keys()
    assert "padding_s" not in free["account"]["channels"][0]["nodes"][0]


def test_each_user_of_a_ppdu_has_a_row_in_a_recording(tmp_path) -> None:
    scenario = cell(tmp_path, bss__ap__multi_user="airtime", bss__mu_edca=MU_EDCA, duration="0.3 s", warmup="0.1 s")
    result = lasthop.run(scenario, seeds=1, record=["air"], progress=False)
    ppdus = result.recording("ppdu").to_pandas()
    units = ppdus[ppdus.ru_tones.notna()]
    assert {"A-MPDU", "BlockAck", "QoS Null"} <= set(units.kind)
    ended = units[units.decoded.notna()]
    assert len(ended) > 0.99 * len(units) and (ended.decoded == ended.mpdus).all(), "nothing is lost here"
    together = units.groupby(["start_ns", "initiator"])
    assert (together.ru_tones.sum() <= 996).all() and (together.duration_ns.nunique() == 1).all()
    assert (together.ru_place.nunique() == together.size()).all(), "no unit has two users"
    data = units[(units.kind == "A-MPDU") & (units.node == "ap")]
    rates = {bits * 1_000_000_000 // 16_000 for bits in (936, 1872, 3920)}
    assert set(data.rate_bps) <= rates, "MCS 5 in 242, 484 or, for one station, 996 tones"
    carried = result.recording("carries").to_pandas().merge(ppdus, on="ppdu")
    to = carried[(carried.node == "ap") & carried.ru_tones.notna()]
    assert (to.flow.astype(str) == to.to.astype(str) + ".down").all(), "a user carries the packets of its own station"


@needs_tshark
def test_wireshark_reads_triggers_answers_and_units(tmp_path) -> None:
    scenario = cell(tmp_path, bss__ap__multi_user="airtime", bss__mu_edca=MU_EDCA, duration="0.3 s", warmup="0.1 s")
    lasthop.run(scenario, seeds=1, pcap=tmp_path / "out", pcap_snap=0, progress=False)
    air = tmp_path / "out" / "air.pcapng"
    fields = ["wlan.fc.type_subtype", "radiotap.he.data_1.ppdu_format", "wlan.trigger.he.trigger_type"]
    fields += ["wlan.fcs.status", "_ws.malformed", "wlan.trigger.he.user_info.aid12", "wlan.ra", "frame.comment"]
    chosen = [option for field in fields for option in ("-e", field)]
    line = ["tshark", "-n", "-o", "wlan.check_checksum:TRUE", "-r", str(air), "-T", "fields", *chosen]
    text = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    rows = [row.split("\t") for row in text.splitlines()]
    whole = [row for row in rows if row[3] == "1"]
    assert not [row for row in whole if row[4]], "no frame is malformed"
    assert all("lost to" in row[7] for row in rows if row[3] != "1"), "other frames have arrived"
    rows = whole
    kinds = {(row[0], row[2]) for row in rows}
    assert {("0x0012", "0"), ("0x0012", "2"), ("0x0012", "4")} <= kinds, "Basic, MU-BAR and BSRP triggers"
    assert ("0x002c", "") in kinds, "QoS Null"
    assert {row[1] for row in rows if row[0] == "0x0028"} >= {"0x0002", "0x0003"}, "HE MU and HE TB"
    assert any(row[0] == "0x0019" and row[6] == "ff:ff:ff:ff:ff:ff" for row in rows), "Multi-STA BlockAck"
    assert {aid for row in rows for aid in row[5].split(",") if aid} == {f"0x{aid:016x}" for aid in (1, 2, 3, 4)}
    assert all(row[5] for row in rows if row[0] == "0x0012"), "a trigger names its stations"


@pytest.mark.parametrize(("units", "window"), [(3, 15), (4, 7), (2, 31)])
def test_random_access_agrees_with_its_closed_form(tmp_path, units, window) -> None:
    """m stations that a trigger does not name, with data at all times and a constant window: each sends every
    max(1, ceil(OBO / units)) triggers, so with probability tau, and a unit has one of them with m tau / M (1 - tau / M)^(m - 1)."""
    text = CELL.replace("count = 4", "count = 20").replace('direction = "down"', 'direction = "up"') + UDP
    text = text.replace('compat = "ns3"\n', "")
    # The access point nearly always wins the medium.
    slow = {"be": {"aifsn": 15, "cw_min": 1023, "cw_max": 1023}}
    first = {"kind": "edca", "be": {"aifsn": 2, "cw_min": 1, "cw_max": 1}}
    several = {
        "kind": "airtime",
        "access_request": "1 ms",
        "random_access": {"units": units, "ocw_min": window, "ocw_max": window},
    }
    scenario = cell(tmp_path, text, bss__ap__multi_user=several, bss__edca=slow, bss__ap__access=first, duration="4 s")
    ppdus = lasthop.run(scenario, seeds=1, record=["air"], progress=False).recording("ppdu").to_pandas()
    # A trigger that collides has no answers; otherwise stations that it names answer.
    triggers, named = ppdus[ppdus.kind == "QoS Null"].start_ns.nunique(), 8 - units
    drawn = ppdus[(ppdus.kind == "QoS Null") & (ppdus.ru_place >= named)]
    each = drawn.groupby(["start_ns", "ru_place"])
    waits = sum(max(1, math.ceil(backoff / units)) for backoff in range(window + 1))
    tau, others = (window + 1) / waits, 20 - named
    assert triggers > 1000
    assert len(drawn) / triggers == pytest.approx(others * tau, rel=0.03)
    expected = others * tau / units * (1 - tau / units) ** (others - 1)
    assert (each.size() == 1).sum() / (triggers * units) == pytest.approx(expected, rel=0.05)
    assert (drawn.decoded.eq(1) == each.node.transform("size").eq(1)).all(), (
        "stations in one unit collide, and others arrive"
    )


TRIGGERED = """
duration = "9 s"
warmup = "1 s"
[channel]
path_loss = "none"
[bss]
standard = "802.11ax"
channel_width = "80 MHz"
rate_control = { kind = "fixed", mcs = 11 }
aggregation = { max_mpdus = 256, max_duration = "5.484 ms" }
[bss.edca.be]
txop_limit = "0 us"
[bss.mu_edca]
be = { aifsn = 0, timer = "106.496 ms" }
[bss.ap]
multi_user = "airtime"
[[station]]
count = 4
queue = "backpressure"
[wired]
rate = "10 Gbit/s"
[[flow]]
station = "*"
direction = "up"
transport = "udp"
rate = "saturated"
"""


@pytest.mark.parametrize(
    ("settings", "users"),
    [
        ({"bss__ap__multi_user": {"bsrp": False}}, 4),
        ({}, 4),
        ({"bss__ap__multi_user": {"max_users": 16, "access_request": "25 ms"}}, 4),
        ({"bss__channel_width": "20 MHz", "bss__rate_control__mcs": 4, "station__0__count": 3}, 2),
        ({"bss__guard_interval": "3.2 us", "bss__spatial_streams": 2, "bss__ap__multi_user": {"max_users": 2}}, 2),
    ],
)
def test_triggered_uplinks_have_the_goodput_of_their_closed_form(tmp_path, settings, users) -> None:
    """The form is `lasthop theory`'s, from arithmetic on the standard's frames; 9 s, since backoffs of some 700 exchanges vary by 0.1 %."""
    scenario = cell(tmp_path, TRIGGERED, **settings)
    rows = json.loads(_core.theory_json(scenario.resolve()))["rows"]
    goodput, triggered = (row for row in rows if row["quantity"].startswith("Triggered uplink"))
    assert f" {users} users" in goodput["quantity"]
    assert (goodput["simulated_metric"], triggered["simulated_metric"]) == (
        "totals.goodput_bps",
        "nodes.sta1.triggered_fraction",
    )
    run = once(scenario)
    assert run["totals"]["goodput_bps"] == pytest.approx(goodput["closed_form"], rel=0.005)
    assert [node["triggered_fraction"] for node in run["nodes"][1:]] == [triggered["closed_form"]] * (
        len(run["nodes"]) - 1
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"bss__mu_edca__be__aifsn": 2},
        {"bss__ap__multi_user": "ns3_rr"},
        {"station__0__multi_user": False},
        {"bss__rate_control": "minstrel_ht"},
        {"bss__ap__multi_user": {"random_access": {}}},
        {"bss__edca__be__txop_limit": "2.528 ms"},
    ],
)
def test_closed_forms_of_triggers_are_compared_only_where_they_hold(tmp_path, settings) -> None:
    rows = json.loads(_core.theory_json(cell(tmp_path, TRIGGERED, **settings).resolve()))["rows"]
    found = [row["simulated_metric"] for row in rows if row["quantity"].startswith("Triggered uplink")]
    assert found == [None, None]


@pytest.mark.parametrize("txop_limit", ["0 us", "2.528 ms"])
def test_questions_are_control_frames_in_the_account_of_a_channel(tmp_path, txop_limit) -> None:
    """QoS Nulls are received: no time is booked as collisions, and theirs is within the control frames. With a limit a trigger
    for data follows them in the same exchange."""
    scenario = cell(tmp_path, TRIGGERED, duration="3 s", bss__edca__be__txop_limit=txop_limit)
    result = lasthop.run(scenario, seeds=1, explain=True, record=["air"], interval_s=None, progress=False)
    ppdus = result.recording("ppdu").to_pandas()
    nulls = (
        ppdus[(ppdus.kind == "QoS Null") & (ppdus.start_ns > 1e9)].groupby("start_ns").duration_ns.first().sum() / 1e9
    )
    stations = result.runs[0]["account"]["channels"][0]["nodes"][1:]
    assert nulls > 0.01 and sum(station["collided_s"] for station in stations) == 0
    assert sum(station["control_s"] for station in stations) == pytest.approx(nulls, rel=0.02)


def test_random_access_needs_triggers_and_a_unit_with_a_name(tmp_path) -> None:
    with pytest.raises(lasthop.ScenarioError, match="no trigger asks stations"):
        cell(tmp_path, bss__ap__multi_user={"uplink": False, "random_access": {}}).resolve()
    with pytest.raises(lasthop.ScenarioError, match="none is left for a station with a name"):
        cell(tmp_path, bss__ap__multi_user={"max_users": 4, "random_access": {"units": 4}}).resolve()
    with pytest.raises(lasthop.ScenarioError, match="a power of two less one"):
        cell(tmp_path, bss__ap__multi_user={"random_access": {"ocw_min": 6}}).resolve()


def test_access_points_of_products_use_the_directions_that_are_known_of_them(tmp_path) -> None:
    """mt76 and Qualcomm's firmware of 2020 send no triggers for data, Broadcom's does [OpenWrt 2024, Higgins 2020]."""

    def kinds(product) -> set[str]:
        scenario = cell(tmp_path, bss__ap__multi_user=product, duration="0.4 s", warmup="0.1 s")
        return set(lasthop.run(scenario, seeds=1, record=["air"], progress=False).recording("ppdu").to_pandas().kind)

    assert "trigger" in kinds("bcm43684")
    for product in ("mt76", "qcn5054"):
        assert "MU-BAR" in kinds(product) and not {"trigger", "BSRP"} & kinds(product)
