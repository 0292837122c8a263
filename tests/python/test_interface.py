"""The scenario format and the result, key by key: what is accepted shows in the result, and numbers fit one another."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path

import lasthop
import pytest
from lasthop import _core

ROOT = Path(__file__).resolve().parents[2]

ONE_LINK = """\
duration = "3 s"
warmup = "1 s"
[bss]
standard = "802.11b"
basic_rates = ["1 Mbit/s", "2 Mbit/s"]
rate_control = { kind = "fixed", rate = "11 Mbit/s" }
[[station]]
name = "sta"
[[flow]]
station = "*"
"""
SATURATED = {"flow.0.transport": "udp", "flow.0.rate": "saturated"}


def scenario(settings=(), text=ONE_LINK):
    described = lasthop.Scenario(text)
    for path, value in dict(settings).items():
        described = described.set(path, value)
    return described


def simulated(settings=(), text=ONE_LINK, seed=1):
    """The one run of `text` with `settings` over it."""
    (run,) = lasthop.run(scenario(settings, text), seeds=[seed], interval_s=None).runs
    return run


def goodput_mbps(settings=(), text=ONE_LINK):
    return simulated(settings, text)["totals"]["goodput_bps"] / 1e6


def fixed(mbps):
    return {"kind": "fixed", "rate": f"{mbps} Mbit/s"}


def link(run, node, peer="ap"):
    return next(row for row in run["links"] if (row["node"], row["peer"]) == (node, peer))


def node(run, name):
    return next(row for row in run["nodes"] if row["name"] == name)


# Results.


@pytest.fixture(scope="module")
def both():
    """Two uploads and two downloads with all that a result holds."""
    settings = {"station.0.count": 2, "flow.0.direction": "both", "duration": "9 s", "wired.delay": "10 ms"}
    return lasthop.run(scenario(settings), seeds=2)


def test_every_key_of_the_format_is_there(both):
    flow = "id station direction transport congestion_control goodput_bps bytes_delivered completion_time_s"
    flow += " cwnd_mean_segments cwnd_max_segments rtt_mean_s rtt_p95_s segments_sent segments_retransmitted timeouts"
    flow += " ack_losses_detected starved_s"
    totals = "goodput_bps goodput_up_bps goodput_down_bps jain_index jain_index_up jain_index_down"
    node_keys = "name queue_drops queue_drops_tcp_ack queue_drops_data queue_mean_packets queue_max_packets queue_marks"
    node_keys += " frames_sent frames_retried frames_dropped_retry_limit mean_data_rate_bps mpdus_per_ampdu_mean"
    node_keys += " airtime_fraction"
    links = "node peer mean_data_rate_bps mpdus_per_ampdu_mean retry_fraction airtime_fraction delay_p50_s delay_p95_s"
    medium = "collision_probability idle_fraction busy_fraction collision_fraction contending_stations_mean"
    for run in both.runs:
        for rows, keys in ((run["flows"], flow), (run["nodes"], node_keys), (run["links"], links)):
            assert rows and all(set(keys.split()) <= set(row) for row in rows)
        assert set(totals.split()) <= set(run["totals"])
        assert set(medium.split()) <= set(run["medium"])
        assert {"events", "wall_s"} <= set(run["simulator"])


def test_goodput_is_bytes_over_the_window(both):
    for flow in (flow for run in both.runs for flow in run["flows"]):
        assert flow["goodput_bps"] == pytest.approx(flow["bytes_delivered"] * 8 / 8.0)


def test_totals_and_jain_follow_from_the_flows(both):
    for run in both.runs:
        for key, directions in (("", ("up", "down")), ("_up", ("up",)), ("_down", ("down",))):
            shares = [flow["goodput_bps"] for flow in run["flows"] if flow["direction"] in directions]
            assert len(shares) == 2 * len(directions)
            jain = sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares))
            assert run["totals"][f"jain_index{key}"] == pytest.approx(jain)
            assert run["totals"][f"goodput{key}_bps"] == pytest.approx(sum(shares))


def test_airtime_busy_and_collision_fractions_fit_one_another(both):
    for run in both.runs:
        medium, air = run["medium"], sum(row["airtime_fraction"] for row in run["nodes"])
        assert medium["busy_fraction"] + medium["idle_fraction"] == pytest.approx(1)
        # Overlaps are mostly of two: those seconds are on the air twice and busy once.
        assert medium["busy_fraction"] + medium["collision_fraction"] <= air + 1e-9
        assert air == pytest.approx(medium["busy_fraction"] + medium["collision_fraction"], abs=0.005)
        assert sum(row["airtime_fraction"] for row in run["links"]) == pytest.approx(air)
        for row in run["nodes"]:
            assert row["frames_retried"] <= row["frames_sent"]
            assert row["queue_drops"] == row["queue_drops_tcp_ack"] + row["queue_drops_data"]
            assert row["queue_mean_packets"] <= row["queue_max_packets"] <= 50
        for row in run["links"]:
            # At least one data frame: an ACK of 40 B and its headers at 11 Mbit/s after the long preamble of 192 us.
            assert 192e-6 < row["delay_p50_s"] <= row["delay_p95_s"] < 0.5
        for flow in run["flows"]:
            assert flow["rtt_mean_s"] > 0.02 and flow["rtt_mean_s"] < 2 * flow["rtt_p95_s"]
            assert 0 < flow["starved_s"] <= 8
            assert flow["segments_retransmitted"] <= flow["segments_sent"]


def test_series_of_goodput_add_up_to_the_bytes_delivered(both):
    series = both.timeseries
    series = series[(series["metric"] == "goodput_bps") & (series["time_s"] > 1.0)]
    for run, flow in ((one, flow) for one in both.runs for flow in one["flows"]):
        own = series[(series["seed"] == run["seed"]) & (series["entity"] == flow["id"])]
        assert len(own) == 8
        assert own["value"].sum() / 8 == pytest.approx(flow["bytes_delivered"])


def test_series_of_queues_stay_within_the_limit(both):
    series = both.timeseries
    queue = series[series["metric"] == "queue_packets"]["value"]
    assert queue.min() >= 0 and 40 < queue.max() <= 50
    acks = series[series["metric"] == "queue_tcp_ack_packets"]["value"]
    assert (acks.to_numpy() <= queue.to_numpy()).all()


def test_columns_without_values_keep_their_types(both, tmp_path):
    import pyarrow.parquet

    both.save(tmp_path)
    table = pyarrow.parquet.read_table(tmp_path / "flows.parquet").to_pandas()
    for frame in (both.flows, table):
        # No flow has a size, so none has a completion time.
        assert frame["completion_time_s"].isna().all()
        assert frame["completion_time_s"].dtype == frame["goodput_bps"].dtype == "float64"
        assert frame["bytes_delivered"].dtype == "int64"


# The scenario format.


def test_rate_control_is_the_stations_before_the_aps_before_the_bss():
    text = ONE_LINK.replace('name = "sta"', "count = 2")
    text += 'direction = "both"\n[[station]]\nname = "own"\nrate_control = { kind = "fixed", rate = "5.5 Mbit/s" }\n'
    text += '[[station]]\nname = "split"\nrate_control = { kind = "fixed", rate = "5.5 Mbit/s" }\n'
    text += 'downlink_rate_control = { kind = "fixed", rate = "2 Mbit/s" }\n'
    run = simulated({"bss.ap.rate_control": fixed(1)}, text)
    rates = {(row["node"], row["peer"]): row["mean_data_rate_bps"] / 1e6 for row in run["links"]}
    assert rates["sta1", "ap"] == 11 and rates["ap", "sta1"] == 1
    assert rates["own", "ap"] == rates["ap", "own"] == 5.5
    assert rates["split", "ap"] == 5.5 and rates["ap", "split"] == 2


def test_retry_limit_is_the_stations_before_the_bss():
    losses = {
        **SATURATED,
        "flow.0.direction": "both",
        "channel.error_model": {"kind": "fixed", "frame_error_rate": 0.2},
    }
    run = simulated({**losses, "bss.retry_limit": 0})
    assert node(run, "sta")["frames_retried"] == node(run, "ap")["frames_retried"] == 0
    assert node(run, "sta")["frames_dropped_retry_limit"] > 0
    run = simulated({**losses, "bss.retry_limit": 0, "station.0.retry_limit": 7})
    assert node(run, "sta")["frames_retried"] > 0 == node(run, "ap")["frames_retried"]
    run = simulated({**losses, "bss.ap.retry_limit": 0, "bss.retry_limit": "unlimited"})
    assert node(run, "sta")["frames_dropped_retry_limit"] == 0 < node(run, "ap")["frames_dropped_retry_limit"]


@pytest.mark.parametrize(
    ("station", "ids"),
    [
        ("a1", ["a1.up"]),
        ("a*", ["a1.up", "a2.up"]),
        ("?", ["b.up"]),
        (["b", "a2"], ["b.up", "a2.up"]),
        ("*", ["a1.up", "a2.up", "b.up"]),
    ],
)
def test_a_flow_is_for_a_name_a_glob_or_a_list(station, ids):
    text = ONE_LINK.replace('name = "sta"', 'name = "a"\ncount = 2\n[[station]]\nname = "b"')
    assert [flow["id"] for flow in simulated({"flow.0.station": station}, text)["flows"]] == ids


def test_a_flow_overrides_the_tcp_section():
    text = ONE_LINK.replace('name = "sta"', "count = 2").replace('"*"', '"sta1"')
    text += '[[flow]]\nstation = "sta2"\ncongestion_control = "cubic"\nreceive_window = "2 packets"\n'
    first, second = simulated({"tcp.congestion_control": "newreno", "wired.delay": "50 ms"}, text)["flows"]
    assert (first["congestion_control"], second["congestion_control"]) == ("newreno", "cubic")
    assert second["goodput_bps"] < first["goodput_bps"] / 2


def test_transfers_with_a_size_are_counted_and_timed():
    settings = {"flow.0.size": "30 kB", "flow.0.repeat": 4, "warmup": "0 s"}
    run = simulated(settings)
    (flow,) = run["flows"]
    assert flow["bytes_delivered"] == 4 * 30_000
    assert flow["transfers_completed"] == 4
    assert 30_000 * 8 / 6e6 < flow["completion_time_s"] < 0.5


def test_a_flow_starts_at_its_start():
    settings = {"warmup": "0 s", "flow.0.start": "2 s"}
    assert simulated(settings)["flows"][0]["starved_s"] == pytest.approx(2, abs=0.05)
    late = [
        simulated({**settings, "flow.0.start_jitter": "500 ms"}, seed=seed)["flows"][0]["starved_s"]
        for seed in (1, 2, 3)
    ]
    assert len(set(late)) == 3 and all(2 <= start < 2.55 for start in late)


def test_a_queue_in_bytes_holds_fewer_large_packets():
    udp = {"flow.0.transport": "udp", "flow.0.rate": "8 Mbit/s"}
    for limit, most in (("3000 B", 2), ("4 packets", 4)):
        assert (
            node(simulated({**udp, "station.0.queue": {"kind": "fifo", "limit": limit}}), "sta")["queue_max_packets"]
            == most
        )


def test_backpressure_never_drops():
    udp = {"flow.0.transport": "udp", "flow.0.rate": "8 Mbit/s"}
    assert node(simulated(udp), "sta")["queue_drops"] > 0
    run = simulated({**udp, "station.0.queue": "backpressure"})
    assert node(run, "sta")["queue_drops"] == 0
    assert run["flows"][0]["loss_fraction"] < 0.01


def test_the_wired_link_has_its_rate_delay_and_queue():
    slow = simulated(
        {"wired.rate": "1 Mbit/s", "flow.0.direction": "down", "wired.queue": {"kind": "fifo", "limit": "5 packets"}}
    )
    assert 0.8 < slow["totals"]["goodput_bps"] / 1e6 < 1
    assert node(slow, "ap")["wired_queue_drops"] > 0


def test_udp_below_capacity_arrives_whole_and_above_it_does_not():
    # A payload of 1472 B in every IP packet of 1500 B.
    run = simulated({"flow.0.transport": "udp", "flow.0.rate": "3 Mbit/s"})
    assert run["totals"]["goodput_bps"] == pytest.approx(3e6 * 1472 / 1500, rel=0.005)
    assert run["flows"][0]["loss_fraction"] == 0
    run = simulated({"flow.0.transport": "udp", "flow.0.rate": "9 Mbit/s", "duration": "9 s"})
    assert run["flows"][0]["loss_fraction"] == pytest.approx(1 - goodput_mbps(SATURATED) / (9 * 1472 / 1500), abs=0.02)


SCENARIOS = ("khademi2011-uplink-11b", "khademi2011-uplink-11g-delay", "hashimoto2008-updown-11a")


def test_the_schema_accepts_running_scenarios_and_no_unknown_key():
    jsonschema = pytest.importorskip("jsonschema")
    import tomllib

    schema = json.loads(_core.schema_json())
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    for name in SCENARIOS:
        file = ROOT / f"scenarios/{name}.toml"
        if not file.exists():
            continue
        document = tomllib.loads(file.read_text())
        lasthop.load(file)
        assert kind(schema).is_valid(document), name
        for section in (document, document["bss"], document["bss"]["ap"], document["station"][0], document["flow"][0]):
            section["colour"] = 1
            assert not kind(schema).is_valid(document)
            del section["colour"]


def test_keys_with_a_default_show_it_in_the_schema():
    sections = json.loads(_core.schema_json())["properties"]
    assert sections["duration"]["default"] == "60 s"
    resolved = lasthop.Scenario(ONE_LINK).to_dict()
    for section in ("channel", "wired", "tcp"):
        for key, entry in sections[section]["properties"].items():
            assert key not in resolved[section] or "default" in entry, key


# Physical limits.


def ceiling_mbps(rate, preamble_us, ack_mbps):
    """One saturated station of 802.11b: DIFS, mean backoff, data, SIFS, ACK. [802.11-2020 §10.3.2.3, §16.3]"""
    data = preamble_us + 8 * (1500 + 36) / rate
    return 8 * 1472 / (50 + 310 + data + 10 + preamble_us + 112 / ack_mbps)


@pytest.mark.parametrize(("rate", "preamble"), [*product((1, 2, 5.5, 11), ("long", "short"))])
def test_one_station_of_11b_reaches_the_frame_exchange_ceiling(rate, preamble):
    # 1 Mbit/s has no short preamble, neither as data nor as ACK.
    expected = ceiling_mbps(rate, 192 if preamble == "long" or rate == 1 else 96, min(rate, 2))
    settings = {**SATURATED, "bss.rate_control": fixed(rate), "bss.preamble": preamble, "duration": "21 s"}
    assert goodput_mbps(settings) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("standard", "rate"), [*product(("802.11a", "802.11g"), (6, 9, 12, 18, 24, 36, 48, 54))])
def test_one_station_of_ofdm_reaches_the_frame_exchange_ceiling(standard, rate):
    extension, sifs = (6, 10) if standard == "802.11g" else (0, 16)

    def ppdu(size, mbps):  # [802.11-2020 §17.4.3]
        return 20 + 4 * math.ceil((16 + 8 * size + 6) / (4 * mbps)) + extension

    ack = max(basic for basic in (6, 12, 24) if basic <= rate)
    cycle = sifs + 2 * 9 + 7.5 * 9 + ppdu(1536, rate) + sifs + ppdu(14, ack)
    text = ONE_LINK.replace("802.11b", standard).replace('basic_rates = ["1 Mbit/s", "2 Mbit/s"]', "")
    settings = {**SATURATED, "bss.rate_control": fixed(rate), "duration": "11 s"}
    assert goodput_mbps(settings, text) == pytest.approx(8 * 1472 / cycle, rel=0.01)


@pytest.mark.parametrize(("ack", "per_ack"), [("every_segment", 1), ("delayed", 2)])
@pytest.mark.parametrize("direction", ["up", "down"])
def test_one_tcp_flow_lies_between_the_ceilings(ack, per_ack, direction):
    # Serial: each frame pays half of CW, 310 us; zero backoff: none does. DIFS, frame, SIFS and ACK at 2 Mbit/s last
    # 50 + 192 + 8 * 1536 / 11 + 10 + 248 = 1617 us for data, and 564 us for a TCP ACK of 52 B.
    data, reply = 1617.09, 564.0
    serial, least = (8 * 1448 * per_ack / (per_ack * (data + wait) + reply + wait) for wait in (310, 0))
    settings = {"tcp.profile": "linux", "tcp.ack": ack, "flow.0.direction": direction, "duration": "11 s"}
    assert serial * 0.995 < goodput_mbps(settings) < least


@pytest.mark.parametrize("delay_ms", [10, 100])
def test_a_window_over_the_rtt_bounds_the_goodput(delay_ms):
    window = {"tcp.receive_window": "20 packets", "wired.delay": f"{delay_ms} ms", "duration": "11 s"}
    text = ONE_LINK.replace("802.11b", "802.11a").replace('basic_rates = ["1 Mbit/s", "2 Mbit/s"]', "")
    run = simulated({**window, "bss.rate_control": fixed(54)}, text)
    (flow,) = run["flows"]
    assert 2e-3 * delay_ms < flow["rtt_mean_s"] < 2e-3 * delay_ms + 0.005
    payload = 8 * 20 * 1448  # timestamps take 12 of 1460 B
    assert flow["goodput_bps"] == pytest.approx(payload / flow["rtt_mean_s"], rel=0.01)


def test_hidden_stations_collide_and_rts_rescues_them():
    pair = {**SATURATED, "station.0.count": 2, "duration": "11 s"}
    hidden = {**pair, "channel.hidden": [["sta1", "sta2"]]}
    seen, unseen, rescued = (
        goodput_mbps(settings) for settings in (pair, hidden, {**hidden, "bss.rts_threshold": "500 B"})
    )
    assert unseen < 0.75 * seen
    assert rescued > 1.1 * unseen


def test_capture_favours_the_near_station():
    text = ONE_LINK.replace(
        'name = "sta"', 'name = "near"\ndistance = "1 m"\n[[station]]\nname = "far"\ndistance = "30 m"'
    )
    settings = {**SATURATED, "channel.path_loss": "two_ray_ground", "duration": "21 s"}
    far, near = (node(simulated({**settings, "channel.capture": {}}, text), name) for name in ("far", "near"))
    assert near["collision_probability"] < 0.2 * far["collision_probability"]
    far, near = (node(simulated(settings, text), name) for name in ("far", "near"))
    assert near["collision_probability"] == pytest.approx(far["collision_probability"], rel=0.2)


def test_pifs_gives_the_access_point_more():
    cell = {**SATURATED, "station.0.count": 5, "flow.0.direction": "both", "duration": "11 s"}
    difs, pifs = (
        simulated({**cell, "bss.ap.access": access})["totals"]["goodput_down_bps"] for access in ("difs", "pifs")
    )
    assert pifs > 1.1 * difs


def test_frame_errors_hit_both_ways():
    # One attempt: nine in ten data frames arrive, and nine in ten of these are acknowledged.
    settings = {**SATURATED, "bss.retry_limit": 0, "duration": "31 s"}
    run = simulated({**settings, "channel.error_model": {"kind": "fixed", "frame_error_rate": 0.1}})
    sender = node(run, "sta")
    assert run["flows"][0]["loss_fraction"] == pytest.approx(0.1, abs=0.01)
    assert sender["frames_dropped_retry_limit"] / sender["frames_sent"] == pytest.approx(0.19, abs=0.01)
    assert run["medium"]["collision_probability"] == 0


def test_beacons_cost_their_airtime():
    # 20 ms apart and at 1 Mbit/s: 192 us and some tens of bytes, and DIFS with its backoff.
    with_beacons, without = (simulated({**SATURATED, "bss.beacons": every}) for every in ("20 ms", "off"))
    share = node(with_beacons, "ap")["airtime_fraction"] - node(without, "ap")["airtime_fraction"] * (
        with_beacons["totals"]["goodput_bps"] / without["totals"]["goodput_bps"]
    )
    assert 192e-6 / 0.02 < share < 1.5e-3 / 0.02
    assert with_beacons["totals"]["goodput_bps"] < (1 - share) * 1.02 * without["totals"]["goodput_bps"]


@pytest.mark.parametrize(("protection", "overhead_us"), [("cts_to_self", 248 + 10), ("rts_cts", 272 + 10 + 248 + 10)])
def test_protection_costs_its_airtime(protection, overhead_us):
    # CTS and RTS at 2 Mbit/s after the long preamble: 192 + 56 and 192 + 80 us.
    settings = {**SATURATED, "bss.rate_control": fixed(54), "duration": "11 s"}
    text = ONE_LINK.replace("802.11b", "802.11g")
    bare, protected = (8 * 1472 / goodput_mbps({**settings, "bss.protection": p}, text) for p in ("none", protection))
    assert protected - bare == pytest.approx(overhead_us, abs=6)


def test_out_of_range_warns_and_delivers_nothing():
    settings = {**SATURATED, "channel.path_loss": "two_ray_ground", "station.0.distance": "3 km"}
    result = lasthop.run(scenario(settings), seeds=1, interval_s=None)
    assert result.summary["totals.goodput_bps"]["mean"] == 0
    assert "nothing passes between them" in result.warnings[0] and "sta " in result.warnings[0]


def test_the_exact_words_of_a_warning_for_a_hidden_access_point():
    (warning,) = scenario({"channel.hidden": [["sta", "ap"]]}).resolve().warnings()
    assert str(warning) == "station sta is hidden from its access point: nothing passes between them"
