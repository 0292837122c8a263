"""qlog files of TCP and QUIC: valid by the drafts, frame by frame, and as qvis's loader demands."""

from __future__ import annotations

import json

import lasthop
import pytest
from qlog_drafts import DRAFTS, FRAMES, errors_of

pytest.importorskip("pyarrow")

from lasthop.views.export import quic

SCENARIO = """
duration = "1500 ms"
warmup = "0 s"
[bss]
standard = "802.11a"
[[station]]
name = "sta"
[wired]
delay = "10 ms"
loss = { kind = "random", share = 0.01 }
[quic]
handshake = { server = "2 kB" }
[[flow]]
direction = "both"
transport = "quic"
[[flow]]
direction = "both"
[[flow]]
transport = "quic"
direction = "down"
traffic = { kind = "web", think_time = "200 ms" }
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> dict[str, dict]:
    result = lasthop.run(lasthop.Scenario(SCENARIO), seeds=1, interval_s=None, record="all")
    files = result.to_qlog(tmp_path_factory.mktemp("qlog"))
    return {file.name: json.loads(file.read_text(encoding="utf-8")) for file in files}


def test_files_are_valid_by_the_cddl_of_the_drafts(logs):
    kinds = {tuple(log["traces"][0]["common_fields"]["protocol_type"]) for log in logs.values()}
    assert kinds == {("QUIC",), ("TCP",)} and len(logs) == 10
    for name, log in logs.items():
        assert errors_of(log) == [], name
    names = {event["name"] for log in logs.values() for event in log["traces"][0]["events"]}
    assert {"transport:packet_sent", "transport:packet_received", "recovery:packet_lost"} < names
    assert {"recovery:metrics_updated", "recovery:congestion_state_updated"} < names


def test_each_kind_of_frame_is_valid():
    row = dict.fromkeys(quic.COLUMNS, 0) | {
        "flow": "f",
        "host": "station",
        "event": "sent",
        "space": "1RTT",
        "fin": True,
    }
    for kind, rule in FRAMES.items():
        frames = quic.frames_of([quic.Row(**{**row, "frame": kind, "stream": 2, "acked_first": 1, "acked_last": 3})])
        assert [DRAFTS.errors(frame, rule) for frame in frames] == [[]], kind


def test_a_mistake_has_its_place(logs):
    log = json.loads(json.dumps(logs["sta.down.server.qlog"]))
    events = log["traces"][0]["events"]
    sent = next(event for event in events if event["name"] == "transport:packet_sent")
    sent["data"]["header"]["packet_number"] = -1
    sent["data"]["size"] = 3
    del next(event for event in events if event["name"] == "recovery:congestion_state_updated")["data"]["new"]
    log["traces"][0]["vantage_point"]["type"] = "host"
    found = errors_of(log)
    assert any("TransportPacketSent.header.packet_number: -1" in error for error in found)
    assert {"TransportPacketSent.size: is unknown", "RecoveryCongestionStateUpdated.new: is missing"} <= set(found)
    assert any("QlogFile.traces[0].vantage_point.type" in error for error in found)


def test_qvis_takes_the_files(logs):
    """The demands of qvis at 72c8c4b: src/data/QlogLoaderV2.ts, QlogSchema02.ts, components/filemanager/data/FileLoader.ts.

    It reads qlog up to 0.3, in files whose beginning names version and format, with events in the order of time. It divides a trace by
    `group_id` if its first event has one. It complains of sizes in headers and of a packet type outside them.
    """
    for log in logs.values():
        assert (
            log["qlog_version"] in ("draft-02", "draft-02-RC1", "qlog-03-WIP", "0.3") and log["qlog_format"] == "JSON"
        )
        assert {"qlog_version", "qlog_format"} <= set(list(log)[:2])
        (trace,) = log["traces"]
        assert trace["common_fields"]["time_format"] == "relative" and trace["common_fields"]["reference_time"] == 0
        times = [event["time"] for event in trace["events"]]
        assert times == sorted(times) and len(times) > 50
        assert len({"group_id" in event for event in trace["events"]}) == 1
        for event in trace["events"]:
            header = event["data"].get("header", {})
            assert "packet_type" not in event["data"] and not {"packet_size", "payload_length"} & set(header)
            if event["name"].startswith("transport:packet_"):
                # The diagram of packets ignores one without these.
                assert event["data"]["raw"]["length"] > 0 and header["packet_type"]
