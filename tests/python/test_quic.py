"""Captures of QUIC flows by tshark and by lasthop itself, and the list of congestion controls."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter

import lasthop
import pytest
import test_code_compiled
from lasthop.foreign.testbed import read
from qlog_drafts import errors_of
from test_code_compiled import BPF

libraries = test_code_compiled.libraries
SCENARIO = """
duration = "2 s"
[bss]
standard = "802.11n"
rate_control = { kind = "fixed", mcs = 7 }
[bss.ap]
queue = { kind = "fq_codel" }
[[station]]
[wired]
rate = "20 Mbit/s"
delay = "10 ms"
[[flow]]
transport = "quic"
direction = "down"
[[flow]]
transport = "quic"
size = "20 kB"
repeat = 3
"""
# Of the client: an Initial with its hello, one with an ACK, a Handshake with an ACK and one with Finished. Of the server: an
# Initial with a Handshake, and two of Handshake for 3000 B.
LONG_HEADERS_OF_A_HANDSHAKE = range(6, 13)


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """A result, and the folder of its captures with all bytes."""
    folder = tmp_path_factory.mktemp("quic")
    file = folder / "quic.toml"
    file.write_text(SCENARIO)
    return lasthop.run(file, seeds=1, interval_s=None, pcap=folder, pcap_snap=0), folder


def test_a_flow_over_quic_has_metrics_of_its_own(captured):
    run = json.loads(captured[0].to_json())["runs"][0]
    down, up = sorted(run["flows"], key=lambda flow: flow["direction"])
    assert (down["transport"], down["congestion_control"]) == ("quic", "cubic")
    assert 15e6 < down["goodput_bps"] < 20e6
    assert up["transfers_completed"] == 3 and up["bytes_delivered"] == 60_000
    assert down["segments_retransmitted"] is None and down["packets_declared_lost"] >= 0


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_quic_with_good_checksums(captured):
    fields = ["udp.checksum.status", "quic.header_form", "quic.version", "udp.stream"]
    command = ["tshark", "-r", captured[1] / "server.pcapng", "-n", "-o", "udp.check_checksum:TRUE", "-T", "fields"]
    command += [part for field in fields for part in ("-e", field)]
    read = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in read.splitlines()]
    assert {row[0] for row in rows} == {"1"}
    forms = Counter(row[1].split(",")[0] for row in rows)
    # Every datagram is QUIC; the four connections have a handshake each, and all else has short headers.
    assert set(forms) == {"0", "1"} and forms["1"] / 4 in LONG_HEADERS_OF_A_HANDSHAKE, forms
    assert {row[2].split(",")[0] for row in rows if row[1].startswith("1")} == {"0x00000001"}


def test_own_reader_counts_the_packets_of_each_way(captured, command):
    done = command("analyze", captured[1] / "air.pcapng", "--json", "-")
    flows = [flow for flow in json.loads(done.stdout)["runs"][0]["capture"]["flows"] if flow.get("quic")]
    assert len(flows) == 4, flows


def test_the_list_of_controllers_has_their_transports(command):
    entries = json.loads(command("list", "congestion_control", "--json").stdout)
    over = {entry["name"]: entry["over"] for entry in entries}
    apart, of_the_stack = {"bbr", "bbr3", "dctcp", "prague"}, {"quinn_cubic", "quinn_newreno"}
    assert {name for name, of in over.items() if of == "TCP"} == apart
    assert {name for name, of in over.items() if of == "QUIC"} == of_the_stack
    assert {of for name, of in over.items() if name not in apart | of_the_stack} == {"TCP, QUIC"}
    assert {"python", "c", "bpf"} <= over.keys()
    assert command("list", "congestion_control").stdout.splitlines()[0].endswith("over")


MINE = """
import lasthop

class Mine(lasthop.CongestionControl):
    rate_samples = NEEDS_RATES

    def on_ack(self, ack):
        if ack.now_s > FAILS_AT:
            raise ArithmeticError("enough")
        self.window += ack.avoidance_credit / self.window

    def on_congestion(self, event):
        self.ssthresh = self.window = max(2.0, event.window / 2)
"""


def scenario_with(control, folder, **replaced):
    """The scenario with a controller of its own over QUIC."""
    text = MINE.replace("NEEDS_RATES", replaced.get("needs", "False")).replace("FAILS_AT", replaced.get("fails", "1e9"))
    (folder / "mine.py").write_text(text)
    (folder / "own.toml").write_text(SCENARIO)
    return lasthop.load(folder / "own.toml").set("quic.congestion_control", control)


def flows_of(scenario):
    """The rows of flows of one run, without what names the controller."""
    run = json.loads(lasthop.run(scenario, seeds=1, interval_s=None).to_json())["runs"][0]
    own = ("congestion_control", "congestion_control_validation")
    return {flow["id"]: {key: of for key, of in flow.items() if key not in own} for flow in run["flows"]}


def test_a_controller_in_python_controls_quic(tmp_path):
    path = {"kind": "python", "file": str(tmp_path / "mine.py"), "class": "Mine"}
    down = flows_of(scenario_with(path, tmp_path))["sta.down"]
    assert 10e6 < down["goodput_bps"] < 20e6
    # From ten segments, one for each window: slower than CUBIC's slow start.
    assert down["cwnd_max_segments"] < flows_of(scenario_with("cubic", tmp_path))["sta.down"]["cwnd_max_segments"]


@pytest.mark.parametrize("name", ["newreno", "cubic"])
def test_controllers_in_c_and_bpf_do_over_quic_as_the_built_in_ones(name, libraries, tmp_path):
    built_in = flows_of(scenario_with(name, tmp_path))
    assert flows_of(scenario_with({"kind": "c", "library": str(libraries / f"{name}.so")}, tmp_path)) == built_in
    linux = {"kind": name, "era": "linux", **({"hystart": "classic"} if name == "cubic" else {})}
    of_linux = flows_of(scenario_with(linux, tmp_path))
    assert flows_of(scenario_with({"kind": "bpf", "object": str(BPF / f"{name}.bpf.o")}, tmp_path)) == of_linux


def test_a_controller_that_needs_what_quic_does_not_measure_is_refused_once_it_is_loaded(tmp_path):
    path = {"kind": "python", "file": str(tmp_path / "mine.py"), "class": "Mine"}
    with pytest.raises(lasthop.ScenarioError, match="does not work over QUIC: it works with delivery rates"):
        lasthop.run(scenario_with(path, tmp_path, needs="True"), seeds=1, interval_s=None)


def test_a_controller_that_fails_over_quic_ends_the_run_with_its_reason(tmp_path):
    path = {"kind": "python", "file": str(tmp_path / "mine.py"), "class": "Mine"}
    with pytest.raises(RuntimeError, match=r"flow sta\.(up|down) at .* s: .*enough"):
        lasthop.run(scenario_with(path, tmp_path, fails="0.5"), seeds=1, interval_s=None)


def test_pages_over_tcp_and_quic_are_compared_by_a_pattern_of_flows(command):
    line = ("compare", "office-11ax", "office-11ax", "--set-b", "flow.web*.transport=quic", "--seeds", 2)
    line += ("--set", "duration=4 s", "--set", "warmup=1 s", "--explain", "--json", "-")
    done = command(*line)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    rows = {row["metric"]: row for row in told["rows"]}
    load = rows["page load time, mean of all pages"]
    assert load["a"]["n"] == load["b"]["n"] == load["difference"]["n"] == 2
    assert load["difference"]["ci95_low"] < load["difference"]["ci95_high"]
    terms = {change["term"]: change for change in told["explanation"]["flows"]}
    assert len(terms) > 8 and {change["difference"]["n"] for change in terms.values()} == {2}


LOSSY = (
    SCENARIO
    + """
[[flow]]
transport = "quic"
direction = "down"
traffic = { kind = "web", think_time = "200 ms" }
"""
)


@pytest.fixture(scope="module")
def lossy():
    """A run with losses, recorded."""
    scenario = lasthop.Scenario(LOSSY).set("wired.loss", {"kind": "random", "share": 0.01})
    return lasthop.run(scenario, seeds=1, interval_s=None, record="all")


@pytest.fixture(scope="module")
def logs(lossy, tmp_path_factory):
    """The qlog files of its ends."""
    files = lossy.to_qlog(tmp_path_factory.mktemp("qlog"))
    return {file.name: json.loads(file.read_text(encoding="utf-8")) for file in files}


def events(log, name):
    """The events of a log with this name."""
    return [event for event in log["traces"][0]["events"] if event["name"] == name]


def test_qlog_of_quic_is_valid_by_the_drafts(logs):
    assert set(logs) == {f"sta.{flow}.{end}.qlog" for flow in ("down", "down.2", "up") for end in ("server", "station")}
    frames = set()
    for log in logs.values():
        trace = log["traces"][0]
        assert trace["common_fields"]["protocol_type"] == ["QUIC"]
        times = [event["time"] for event in trace["events"]]
        assert times == sorted(times)
        packets = [event for event in trace["events"] if event["name"].startswith("transport:")]
        frames |= {frame["frame_type"] for event in packets for frame in event["data"]["frames"]}
        assert errors_of(log) == []
    seen = {
        "crypto",
        "stream",
        "ack",
        "padding",
        "max_stream_data",
        "new_connection_id",
        "retire_connection_id",
    }
    assert seen | {"handshake_done", "connection_close"} <= frames, frames


def test_qlog_has_each_packet_with_its_type_and_number_and_who_opened(lossy, logs):
    for name, opener in (("sta.up", "station"), ("sta.down.2", "station"), ("sta.down", "server")):
        ends = {end: logs[f"{name}.{end}.qlog"] for end in ("station", "server")}
        kinds = {end: log["traces"][0]["vantage_point"]["type"] for end, log in ends.items()}
        assert kinds == {opener: "client", "server" if opener == "station" else "station": "server"}
        for end, other in (("station", "server"), ("server", "station")):
            sent, got = (
                Counter(
                    (event.get("group_id"), *event["data"]["header"].values(), event["data"]["raw"]["length"])
                    for event in events(ends[of], f"transport:packet_{what}")
                )
                for of, what in ((end, "sent"), (other, "received"))
            )
            assert max(sent.values()) == 1, "a number was used twice"
            assert not got - sent, "a packet arrives that was not sent"
            # One in a hundred is lost on the wire, and some are on their way at the end.
            assert 0 <= sum((sent - got).values()) <= 60 + 0.05 * sum(sent.values())


def test_lost_packets_of_qlog_are_those_that_the_stack_counts_and_were_not_received(lossy, logs):
    run = {flow["id"]: flow for flow in lossy.runs[0]["flows"]}
    for flow, sender in (("sta.up", "station"), ("sta.down", "server")):
        lost = events(logs[f"{flow}.{sender}.qlog"], "recovery:packet_lost")
        assert len(lost) == run[flow]["packets_declared_lost"] or flow == "sta.up"
        # Every packet that a server declares lost on a path without reordering was lost.
        receiver = logs[f"{flow}.{'server' if sender == 'station' else 'station'}.qlog"]
        arrived = {
            (event.get("group_id"), *event["data"]["header"].values())
            for event in events(receiver, "transport:packet_received")
        }
        assert not [event for event in lost if (event.get("group_id"), *event["data"]["header"].values()) in arrived]
    lost = events(logs["sta.down.server.qlog"], "recovery:packet_lost")
    assert len(lost) > 10 and {event["data"]["trigger"] for event in lost} <= {"reordering_threshold", "time_threshold"}


def test_qlog_of_quic_is_read_back(lossy, logs, tmp_path):
    (tmp_path / "down.qlog").write_text(json.dumps(logs["sta.down.server.qlog"]))
    (result,) = read([tmp_path / "down.qlog"]).values()
    (flow,) = result.runs[0]["flows"]
    run = next(of for of in lossy.runs[0]["flows"] if of["id"] == "sta.down")
    assert flow["bytes_delivered"] == pytest.approx(run["bytes_delivered"], rel=0.03)
    assert flow["rtt_mean_s"] == pytest.approx(run["rtt_mean_s"], rel=0.01)


def test_the_page_draws_packet_numbers(lossy):
    from lasthop.page.air import Air
    from lasthop.page.curves import curves_of
    from lasthop.page.frames import packet_facts
    from lasthop.page.recorded import Recorded

    recorded = Recorded(lossy, 1, lossy.recordings)
    sent, lost, acked, _ = curves_of(recorded, "sequence", recorded.flow_of["sta.down"])
    assert len(set(sent.low.tolist())) == len(sent.low) > 500
    assert set(lost.low.tolist()) < set(sent.low.tolist()) and len(lost.low) > 5
    assert acked.low.max() <= sent.high.max() and (acked.low[1:] >= acked.low[:-1]).all()
    facts = packet_facts(recorded, Air(recorded), recorded.flow_of["sta.down"], False, int(sent.packet[100]))
    of_packet = {(told["host"], told["sent"]): told for told in facts["quic"]}
    assert of_packet["server", True]["number"] == sent.low[100]
    assert of_packet["server", True]["frames"][-1].startswith("stream ") and len(facts["ppdus"]) > 0
    window = curves_of(recorded, "window", recorded.flow_of["sta.down"])
    assert window[0].low.max() > 10
