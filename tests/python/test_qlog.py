"""qlog files become results: what an end logged of its window, RTT, losses and bytes, and nothing more."""

from __future__ import annotations

import json

import lasthop
import pytest
from lasthop.foreign.testbed import Unreadable, kind_of, read
from lasthop.foreign.testbed.ranges import Ranges

PACKET = 1200
HEAD = {"qlog_version": "0.3", "qlog_format": "JSON", "title": "made by hand"}


def sent(time, number, offset, length=1000):
    frames = [{"frame_type": "stream", "stream_id": 0, "offset": offset, "length": length}]
    header = {"packet_type": "1RTT", "packet_number": number}
    return [time, "packet_sent", {"header": header, "raw": {"length": PACKET}, "frames": frames}]


def acked(time, number, *ranges):
    header = {"packet_type": "1RTT", "packet_number": number}
    return [
        time,
        "packet_received",
        {"header": header, "raw": {"length": 40}, "frames": [{"frame_type": "ack", "acked_ranges": ranges}]},
    ]


# A second at a sender: 20 packets of 1000 bytes, of which number 3 is lost and its bytes are sent again as number 20. All but the last are acknowledged.
EVENTS = [
    [0, "parameters_set", {"max_datagram_size": 1200}],
    *(sent(40 * n, n, 1000 * n) for n in range(20)),
    [400, "metrics_updated", {"congestion_window": 12_000, "bytes_in_flight": 6000, "smoothed_rtt": 50, "latest_rtt": 40, "min_rtt": 30}],
    [500, "packet_lost", {"header": {"packet_type": "1RTT", "packet_number": 3}, "trigger": "reordering_threshold"}],
    [600, "metrics_updated", {"congestion_window": 6000, "ssthresh": 6000, "latest_rtt": 60}],
    sent(800, 20, 3000),
    acked(900, 0, [0, 2], [4, 18]),
    acked(950, 1, [0, 2], [4, 18], [20, 20]),
    [1000, "connection_closed", {}],
]  # fmt: skip


def document(prefix="{}", **common):
    names = {"metrics_updated": "recovery", "packet_lost": "recovery", "parameters_set": "recovery"}
    events = [
        {"time": time, "name": f"{names.get(name, 'transport')}:{name}", "data": data} for time, name, data in EVENTS
    ]
    trace = {
        "vantage_point": {"type": "client"},
        "common_fields": {"time_format": "relative", **common},
        "events": events,
    }
    return json.loads(json.dumps({**HEAD, "traces": [trace]}))


def contained():
    return json.dumps(document())


def absolute():
    found = document(time_format="absolute")
    for event in found["traces"][0]["events"]:
        event["time"] += 1.7e12
    return json.dumps(found)


def delta():
    found, before = document(time_format="delta"), 0.0
    for event in found["traces"][0]["events"]:
        event["time"], before = event["time"] - before, event["time"]
    return json.dumps(found)


def sequence(separator="\x1e"):
    head = {
        "qlog_version": "0.3",
        "qlog_format": "JSON-SEQ",
        "trace": {"vantage_point": {"type": "client"}, "common_fields": {"time_format": "relative"}},
    }
    events = document()["traces"][0]["events"]
    return "".join(f"{separator}{json.dumps(each)}\n" for each in (head, *events))


def latest():
    """The names of later drafts."""
    trace = {
        "common_fields": {
            "time_format": "relative_to_epoch",
            "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
        },
        "vantage_point": {"type": "client"},
    }
    head = {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "trace": trace,
    }
    moved = {"metrics_updated": "recovery_metrics_updated", "parameters_set": "recovery_parameters_set"}
    events = [{"time": time, "name": f"quic:{moved.get(name, name)}", "data": data} for time, name, data in EVENTS]
    return "".join(f"\x1e{json.dumps(each)}\n" for each in (head, *events))


def of_2020():
    """Events as lists, numbers as texts, and the size of a packet in its header."""
    events = []
    for time, name, data in EVENTS:
        data = json.loads(json.dumps(data))
        if "header" in data:
            data["header"]["packet_number"] = str(data["header"]["packet_number"])
            data["header"]["packet_size"] = data.pop("raw", {}).get("length")
        events.append([time, "transport", name, data])
    trace = {
        "vantage_point": {"type": "client"},
        "event_fields": ["relative_time", "category", "event", "data"],
        "events": events,
    }
    return json.dumps({"qlog_version": "draft-01", "traces": [trace]})


@pytest.mark.parametrize("text", [contained(), absolute(), delta(), sequence(), sequence(""), latest(), of_2020()])
def test_every_form_of_qlog_has_the_same_connection(tmp_path, text):
    file = tmp_path / "c.qlog"
    file.write_text(text)
    assert kind_of(str(file)) == "qlog"
    (result,) = read([file]).values()
    run = result.runs[0]
    (flow,) = run["flows"]
    # Bytes 0 to 19,000 arrived within a second, those of the lost packet in the second try.
    assert (flow["direction"], flow["bytes_delivered"], flow["goodput_bps"]) == ("up", 19_000, pytest.approx(152e3))
    assert run["totals"]["goodput_bps"] == pytest.approx(152e3)
    # One of 21 packets was lost; windows of 12,000 and 6,000 bytes are 10 and 5 datagrams of 1,200.
    assert (flow["segments_sent"], flow["loss_fraction"], flow["cwnd_max_segments"]) == (21, pytest.approx(1 / 21), 10)
    assert (flow["rtt_mean_s"], flow["rtt_min_s"]) == (pytest.approx(0.05), pytest.approx(0.03))
    table = result.timeseries
    series = {metric: rows["value"].tolist() for metric, rows in table.groupby("metric")}
    assert series["cwnd_segments"] == [10, 5] and series["flight_size"] == [6000] and series["smoothed_rtt_s"] == [0.05]
    # 18 packets of 1,000 bytes are acknowledged at 0.9 s and one at 0.95 s, in the last of ten steps.
    assert series["goodput_bps"][-1] == pytest.approx(8 * 19_000 / 0.1) and sum(series["goodput_bps"][:-1]) == 0
    assert sum(series["packets_bps"]) * 0.1 == pytest.approx(8 * 21 * PACKET)


def test_a_receiver_counts_each_byte_once(tmp_path):
    # The server sends; the client logs: bytes 0 to 20,000, of which 10,000 to 15,000 come twice.
    spans = [(n, 1000 * n) for n in range(20)] + [(20 + n, 10_000 + 1000 * n) for n in range(5)]
    events = [
        {"time": 10 * n, "name": "transport:packet_received", "data": sent(0, n, offset)[2]} for n, offset in spans
    ]
    trace = {
        "vantage_point": {"type": "client"},
        "common_fields": {"time_format": "relative"},
        "events": [*events, {"time": 1000, "name": "x", "data": {}}],
    }
    (tmp_path / "r.qlog").write_text(json.dumps({**HEAD, "traces": [trace]}))
    (result,) = read([tmp_path / "r.qlog"]).values()
    (flow,) = result.runs[0]["flows"]
    assert (flow["direction"], flow["bytes_delivered"], flow["cwnd_mean_segments"]) == ("down", 20_000, None)


def test_without_frames_goodput_is_unknown_and_says_so(tmp_path):
    found = document()
    for event in found["traces"][0]["events"]:
        event["data"].pop("frames", None)
    (tmp_path / "f.qlog").write_text(json.dumps(found))
    (result,) = read([tmp_path / "f.qlog"]).values()
    up = result.runs[0]["flows"][0]
    assert (up["goodput_bps"], up["cwnd_max_segments"]) == (None, 10)
    assert any("goodput is unknown" in warning for warning in result.warnings)


def test_connections_of_one_trace_are_flows_of_their_own(tmp_path):
    found = document()
    events = found["traces"][0]["events"]
    found["traces"][0]["events"] = [{**event, "group_id": group} for event in events for group in ("a", "b")]
    (tmp_path / "g.qlog").write_text(json.dumps(found))
    (result,) = read([tmp_path / "g.qlog"]).values()
    assert [flow["bytes_delivered"] for flow in result.runs[0]["flows"]] == [19_000, 19_000]


def test_a_sequence_that_was_cut_off_is_read_up_to_there(tmp_path):
    text = sequence()
    (tmp_path / "cut.sqlog").write_text(text[: text.index("packet_lost") + 3])
    (result,) = read([tmp_path / "cut.sqlog"]).values()
    assert any("1 records are not complete JSON" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (contained()[:600], "line 1: is not complete JSON"),
        ('{"qlog_version": "0.3", "traces": 4}', "has no list of traces"),
        ('{"qlog_version": "0.3", "traces": [{"events": []}]}', "has no packets and no recovery metrics"),
        ('\x1e{"qlog_version": "0.3", "x": 1}\n', "its first record has no trace"),
    ],
)
def test_a_bad_log_gives_one_sentence(tmp_path, text, said):
    (tmp_path / "bad.qlog").write_text(text)
    with pytest.raises(Unreadable, match=said):
        read([tmp_path / "bad.qlog"])


def test_ranges_count_each_number_once():
    ranges = Ranges()
    # [0, 10), [20, 30), then [5, 25) adds 10 to 20, and [10, 20) nothing.
    assert [ranges.add(*each) for each in ((0, 10), (20, 30), (5, 25), (10, 20), (30, 30))] == [10, 10, 10, 0, 0]
    assert ranges.count == 30


SCENARIO = """
duration = "2 s"
warmup = "0 s"
[bss]
standard = "802.11a"
[bss.ap]
queue = { kind = "fifo", limit = "20 packets" }
[wired]
delay = "10 ms"
[[station]]
name = "sta"
[[flow]]
station = "sta"
direction = "down"
"""


def test_what_export_writes_is_read_back(tmp_path):
    pytest.importorskip("pyarrow")
    simulated = lasthop.run(lasthop.Scenario(SCENARIO), seeds=1, interval_s=None, record="tcp")
    files = {file.name: file for file in simulated.to_qlog(tmp_path)}
    run = simulated.runs[0]["flows"][0]
    station, server = (next(iter(read([files[f"sta.down.{end}.qlog"]]).values())) for end in ("station", "server"))
    (received,), (sender,) = station.runs[0]["flows"], server.runs[0]["flows"]
    # The host that opens the connection is qlog's client, here the sender.
    assert [flow["direction"] for flow in (received, sender)] == ["up", "up"]
    # A run counts bytes in order; at its end at most a queue of 20 packets waits behind a hole.
    assert 0 <= received["bytes_delivered"] - run["bytes_delivered"] <= 20 * 1448
    # At the sender the last ACKs are still on their way: half of an RTT, below 60 ms of 2 s.
    assert sender["bytes_delivered"] == pytest.approx(run["bytes_delivered"], rel=0.03)
    assert sender["cwnd_max_segments"] == pytest.approx(run["cwnd_max_segments"], rel=0.01)
    assert sender["rtt_mean_s"] == pytest.approx(run["rtt_mean_s"], rel=0.01)
    assert sender["transport"] == "tcp"
