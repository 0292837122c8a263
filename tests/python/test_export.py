"""qlog and Perfetto: files that others read, and that say what the recording says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import lasthop
import pytest
from lasthop.views.export import perfetto, qlog
from lasthop.views.export.flows import tcp_flows
from lasthop.views.export.rows import AHEAD_NS, in_order
from lasthop.views.export.sequence import Numbers, Transmissions, ranges
from qlog_drafts import errors_of

pyarrow = pytest.importorskip("pyarrow")

SYN = 2

# Lost packets, SACK, several connections, UDP and TCP, several BSSs: each by itself is somewhere here.
LOSSY = """
name = "lossy"
duration = "2 s"
warmup = "0 s"
[channel]
path_loss = {{ kind = "log_distance", exponent = 3.0 }}
error_model = "nist"
[bss]
standard = "802.11n"
rate_control = "minstrel_ht"
[bss.ap]
queue = {{ kind = "fifo", limit = "30 packets" }}
[[station]]
name = "a"
count = 2
distance = "20 m"
[wired]
delay = "10 ms"
[tcp]
profile = "{profile}"
[[flow]]
station = "*"
direction = "both"
[[flow]]
station = "a1"
direction = "down"
transport = "udp"
rate = "2 Mbit/s"
[[flow]]
station = "a2"
direction = "down"
name = "many"
repeat = 100
size = "2 kB"
"""


@pytest.fixture(scope="module", params=["linux", "ns2"])
def lossy(request):
    """A run with losses, of which all is recorded."""
    scenario = lasthop.Scenario(LOSSY.format(profile=request.param))
    return lasthop.run(scenario, seeds=1, interval_s=None, record="all")


@pytest.fixture(scope="module")
def logs(lossy, tmp_path_factory):
    """Its qlog files by flow and host."""
    files = lossy.to_qlog(tmp_path_factory.mktemp("qlog"))
    names = [file.name.removesuffix(".qlog").rpartition(".") for file in files]
    return {
        (flow, host): json.loads(file.read_text(encoding="utf-8"))
        for (flow, _, host), file in zip(names, files, strict=True)
    }


def events(log, kind=None):
    return [event for event in log["traces"][0]["events"] if kind in (None, event["name"])]


ROWS = {}


def rows_of(lossy, table, flow=None, **where):
    """Rows of a table, of one flow if that is given."""
    key = id(lossy), table
    if key not in ROWS:
        found = ROWS[key] = lossy, defaultdict(list)
        for row in lossy.recording(table).to_pylist():
            found[1][None].append(row)
            if "flow" in row:
                found[1][row["flow"]].append(row)
    return [row for row in ROWS[key][1][flow] if all(row[name] == value for name, value in where.items())]


def acked(event):
    """Packets that its ACK frames name."""
    blocks = [
        block for frame in event["data"]["frames"] if frame["frame_type"] == "ack" for block in frame["acked_ranges"]
    ]
    return [packet for block in blocks for packet in range(block[0], block[-1] + 1)]


class TestQlog:
    def test_each_file_is_valid_by_the_schema_and_has_a_trace_that_qvis_takes(self, logs):
        for log in logs.values():
            times = [event["time"] for event in events(log)]
            assert times == sorted(times) and times
            assert errors_of(log) == []

    def test_the_schema_refuses_documents_that_are_not_qlog(self, logs):
        log = json.loads(json.dumps(next(iter(logs.values()))))
        del events(log)[100:]
        for change in ({"packet_type": "2RTT"}, {"packet_number": -1}, {"packet_no": 1}):
            header = events(log, "transport:packet_sent")[0]["data"]["header"]
            kept = dict(header)
            header.update(change)
            assert errors_of(log), change
            header.clear()
            header.update(kept)
        assert errors_of(log) == []

    def test_there_is_a_file_for_each_end_of_each_tcp_flow(self, lossy, logs):
        tcp = [flow["id"] for flow in lossy.runs[0]["flows"] if flow["transport"] == "tcp"]
        assert set(logs) == {(flow, host) for flow in tcp for host in ("station", "server")}
        assert len(tcp) == 5

    def test_the_opener_is_the_client(self, lossy, logs):
        for flow in {flow for flow, _ in logs}:
            opened = next(row for row in rows_of(lossy, "segment", flow) if row["flags"] & SYN and row["sent"])
            kinds = {host: logs[flow, host]["traces"][0]["vantage_point"]["type"] for host in ("station", "server")}
            assert kinds.pop(opened["host"]) == "client" and [*kinds.values()] == ["server"]

    def test_packets_are_the_segments_that_the_end_sends_and_gets(self, lossy, logs):
        for (flow, host), log in logs.items():
            for kind, sent in (("packet_sent", True), ("packet_received", False)):
                told = [
                    (event["time"], event["data"]["header"]["packet_number"], event["data"]["raw"]["payload_length"])
                    for event in events(log, f"transport:{kind}")
                ]
                rows = rows_of(lossy, "segment", flow, host=host, sent=sent)
                assert told == [(row["t_ns"] / 1e6, row["packet"], row["len"]) for row in rows]

    def test_lengths_of_packets_are_those_on_the_air(self, lossy, logs):
        on_air = {}
        for run in rows_of(lossy, "carries"):
            on_air[run["flow"], run["up"], run["packet"], run["packets"]] = run["data_bytes"] + run["ack_bytes"]
        lengths = {}
        for (flow, host), log in logs.items():
            for event in events(log, "transport:packet_sent"):
                key = flow, host == "station", event["data"]["header"]["packet_number"]
                lengths[key] = event["data"]["raw"]["length"]
        compared = 0
        for (flow, up, packet, packets), size in on_air.items():
            if (flow, up, packet) in lengths:
                assert sum(lengths[flow, up, packet + place] for place in range(packets)) == size
                compared += packets
        assert compared > 1000

    def test_a_recording_of_an_earlier_build_has_no_bytes_of_packets(self, tmp_path):
        lasthop.run(lasthop.Scenario(LOSSY.format(profile="linux-6.12")), seeds=1, record="all").save(tmp_path / "now")
        sizes = []
        for older in (False, True):
            if older:
                (file,) = (tmp_path / "now").glob("**/segment*.parquet")
                pyarrow.parquet.write_table(pyarrow.parquet.read_table(file).drop_columns(["packet_bytes"]), file)
            logs = lasthop.read(tmp_path / "now").to_qlog(tmp_path / f"qlog-{older}")
            texts = [json.loads(log.read_text(encoding="utf-8")) for log in logs]
            sizes.append(
                [event["data"]["raw"]["length"] for log in texts for event in events(log, "transport:packet_sent")]
            )
        assert sizes[0] == sizes[1]
        assert len(sizes[0]) > 1000

    def test_offsets_of_stream_frames_begin_at_0_and_leave_no_gap_at_the_receiver(self, lossy, logs):
        for flow in lossy.runs[0]["flows"]:
            if flow["transport"] != "tcp" or flow["id"].endswith("many"):
                continue
            host = "station" if flow["direction"] == "down" else "server"
            reached, pieces = 0, []
            for event in events(logs[flow["id"], host], "transport:packet_received"):
                pieces += [(f["offset"], f["length"]) for f in event["data"]["frames"] if f["frame_type"] == "stream"]
            for offset, length in sorted(pieces):
                if offset > reached:
                    break
                reached = max(reached, offset + length)
            assert reached == flow["bytes_delivered"] > 0

    def test_acknowledged_packets_have_arrived_and_are_listed_once(self, lossy, logs):
        arrived = {
            (r["flow"], r["up"], r["packet"]): r["t_ns"] / 1e6 for r in rows_of(lossy, "segment") if not r["sent"]
        }
        for (flow, host), log in logs.items():
            for kind, up in (("packet_sent", host == "server"), ("packet_received", host == "station")):
                told = Counter()
                for event in events(log, f"transport:{kind}"):
                    for packet in acked(event):
                        assert arrived[flow, up, packet] <= event["time"]
                        told[packet] += 1
                assert set(told.values()) <= {1}

    def test_all_data_is_acknowledged_but_the_last_that_were_sent(self, lossy, logs):
        for flow in lossy.runs[0]["flows"]:
            if flow["transport"] != "tcp" or flow["id"].endswith("many"):
                continue
            sender = "station" if flow["direction"] == "up" else "server"
            told = {
                packet
                for event in events(logs[flow["id"], sender], "transport:packet_received")
                for packet in acked(event)
            }
            rows = rows_of(lossy, "segment", flow["id"], host=sender, sent=True)
            got = {r["packet"] for r in rows_of(lossy, "segment", flow["id"], sent=False) if r["host"] != sender}
            ack = max(
                as_signed(r["ack"] - rows[0]["seq"])
                for r in rows_of(lossy, "segment", flow["id"], host=sender, sent=False)
            )
            below = {
                r["packet"]
                for r in rows
                if (r["len"] or r["flags"] & SYN) and as_signed(r["seq"] + r["len"] - rows[0]["seq"]) <= ack
            }
            assert below & got <= told and len(told) > 30

    def test_windows_are_those_recorded_in_bytes(self, lossy, logs):
        flows = tcp_flows(lossy.scenario, lossy.told_runs[0])
        for (flow, host), log in logs.items():
            told = [e for e in events(log, "recovery:metrics_updated") if "congestion_window" in e["data"]]
            rows = rows_of(lossy, "window", flow) if host == flows[flow].sender else []
            assert [(e["time"], e["data"]["bytes_in_flight"]) for e in told] == [
                (r["t_ns"] / 1e6, r["flight_bytes"]) for r in rows
            ]
            for event, row in zip(told, rows, strict=True):
                assert event["data"]["congestion_window"] == pytest.approx(
                    row["cwnd_segments"] * flows[flow].payload_bytes, abs=0.5
                )
                assert ("ssthresh" in event["data"]) == (row["ssthresh_segments"] is not None)
            rtts = [
                e["data"]["latest_rtt"] for e in events(log, "recovery:metrics_updated") if "latest_rtt" in e["data"]
            ]
            assert rtts == [r["rtt_ns"] / 1e6 for r in (rows_of(lossy, "rtt", flow) if rows else [])]

    def test_a_full_segment_has_the_payload_that_windows_are_counted_in(self, lossy):
        flows = tcp_flows(lossy.scenario, lossy.told_runs[0])
        for flow in flows.values():
            assert max(row["len"] for row in rows_of(lossy, "segment", flow.id)) == flow.payload_bytes

    def test_packets_taken_for_lost_were_sent_before_with_bytes_that_are_sent_again(self, lossy, logs):
        lost = 0
        for (flow, host), log in logs.items():
            rows = {row["packet"]: row for row in rows_of(lossy, "segment", flow, host=host, sent=True)}
            seen = set()
            again = defaultdict(list)
            for row in rows.values():
                if row["again"]:
                    again[row["t_ns"] / 1e6].append(row)
            for event in events(log, "recovery:packet_lost"):
                packet = rows[event["data"]["header"]["packet_number"]]
                assert packet["packet"] not in seen and packet["t_ns"] / 1e6 <= event["time"]
                seen.add(packet["packet"])
                assert any(
                    as_signed(new["seq"] - packet["seq"]) < packet["len"] + 1
                    and as_signed(packet["seq"] - new["seq"]) < new["len"] + 1
                    for new in again[event["time"]]
                )
            lost += len(seen)
        assert lost > 10

    def test_states_of_congestion_control_follow_one_another(self, logs):
        for log in logs.values():
            old = None
            for event in events(log, "recovery:congestion_state_updated"):
                assert event["data"].get("old") == old != event["data"]["new"]
                old = event["data"]["new"]

    def test_connections_of_a_flow_are_groups(self, lossy, logs):
        for (flow, host), log in logs.items():
            here = {row["connection"] for row in rows_of(lossy, "segment", flow, host=host)}
            are_several = len({row["connection"] for row in rows_of(lossy, "segment", flow)}) > 1
            groups = {event.get("group_id") for event in events(log)}
            assert groups == ({f"connection {number}" for number in here} if are_several else {None})
        assert any(len({row["connection"] for row in rows_of(lossy, "segment", flow)}) > 3 for flow, _ in logs)


def as_signed(number):
    return (number + 2**31) % 2**32 - 2**31


class TestSequences:
    def test_numbers_go_on_across_their_wrap_and_back(self):
        numbers = Numbers()
        assert [numbers.unwrapped(n) for n in (2**32 - 10, 5, 2**32 - 1, 2**31)] == [
            2**32 - 10,
            2**32 + 5,
            2**32 - 1,
            2**31,
        ]

    def test_an_ack_covers_earlier_ends_and_a_block_its_inside(self):
        sent = Transmissions()
        for packet, (start, end) in enumerate([(0, 10), (10, 20), (20, 30), (30, 40), (15, 30)], start=1):
            sent.add(start, end, packet)
        assert sent.take_covered(10, (20, 40)) == [1, 3, 4]
        assert sent.take_covered(19, None) == []
        assert sent.take_touched(29, 30) == [5]
        assert sent.take_touched(20, 30) == []
        assert sent.take_covered(20, None) == [2] and len(sent) == 0

    def test_ranges(self):
        assert ranges([1, 2, 3, 7, 9, 10]) == [[1, 3], [7], [9, 10]]
        assert ranges([]) == []


def test_early_rows_are_sorted_across_batches():
    times = [0, 5 * AHEAD_NS, 5 * AHEAD_NS - 7, 5 * AHEAD_NS, 9 * AHEAD_NS, 9 * AHEAD_NS - 1]
    batches = [pyarrow.table({"t": times[at : at + 2], "row": [at, at + 1]}) for at in range(0, 6, 2)]
    rows = [row for batch in in_order(iter(batches), "t") for row in batch.to_pylist()]
    assert [row["t"] for row in rows] == sorted(times)
    assert [row["row"] for row in rows] == [0, 2, 1, 3, 5, 4]


class Decoded:
    """A trace as Perfetto's own messages have it."""

    def __init__(self, file):
        messages = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
        self.trace = messages.Trace.FromString(Path(file).read_bytes())
        self.tracks, self.slices, self.counters, self.instants = {}, defaultdict(list), defaultdict(list), []
        self._names, self._arguments, self._open = {}, {}, {}
        for packet in self.trace.packet:
            assert not packet.ListFields() or packet.trusted_packet_sequence_id == 1
            self._take(packet)
        assert not self._open

    def _take(self, packet):
        for entry in packet.interned_data.event_names:
            self._names[entry.iid] = entry.name
        for entry in packet.interned_data.debug_annotation_names:
            self._arguments[entry.iid] = entry.name
        if packet.HasField("track_descriptor"):
            self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        elif packet.HasField("track_event"):
            self._event(packet.timestamp, packet.track_event)

    def name(self, uuid):
        track = self.tracks[uuid]
        return track.process.process_name or track.name

    def _event(self, at, event):
        track = self.name(event.track_uuid)
        if event.type == event.TYPE_COUNTER:
            which = "counter_value" if event.HasField("counter_value") else "double_counter_value"
            self.counters[track].append((at, getattr(event, which)))
        elif event.type == event.TYPE_SLICE_END:
            self.slices[track].append((*self._open.pop(track), at))
        else:
            arguments = {
                self._arguments[a.name_iid]: getattr(a, a.WhichOneof("value")) for a in event.debug_annotations
            }
            told = (at, self._names[event.name_iid], arguments, tuple(event.flow_ids))
            if event.type == event.TYPE_INSTANT:
                self.instants.append((track, *told))
            else:
                assert track not in self._open
                self._open[track] = told


@pytest.fixture(scope="module")
def trace(lossy, tmp_path_factory):
    """The trace of the run."""
    file = tmp_path_factory.mktemp("perfetto") / "trace.pftrace"
    lossy.to_perfetto(file)
    return Decoded(file)


class TestPerfetto:
    def test_every_ppdu_is_a_slice_of_its_node_with_its_row_of_the_table(self, lossy, trace):
        rows = defaultdict(list)
        for row in rows_of(lossy, "ppdu"):
            arguments = {name: row[name] for name in perfetto.ARGUMENTS if row[name] is not None}
            rows[row["node"]].append((row["start_ns"], row["kind"], arguments, row["start_ns"] + row["duration_ns"]))
        assert {node: [(a, k, args, b) for a, k, args, _, b in told] for node, told in trace.slices.items()} == rows

    def test_nodes_are_below_their_channel_in_their_order(self, lossy, trace):
        nodes = [node["name"] for node in lossy.runs[0]["nodes"]]
        found = sorted(
            (track.sibling_order_rank, track.name)
            for track in trace.tracks.values()
            if track.parent_uuid and trace.name(track.parent_uuid) == "channel 0" and not track.HasField("counter")
        )
        assert [name for _, name in found] == nodes

    def test_counters_are_the_queues_and_windows_recorded(self, lossy, trace):
        expected = defaultdict(list)
        for row in rows_of(lossy, "queue"):
            expected[f"{row['node']} queue"].append((row["t_ns"], row["packets"]))
            expected[f"{row['node']} queue, TCP ACKs"].append((row["t_ns"], row["tcp_acks"]))
        for row in rows_of(lossy, "window"):
            expected[f"{row['flow']} cwnd"].append((row["t_ns"], row["cwnd_segments"]))
            expected[f"{row['flow']} in flight"].append((row["t_ns"], row["flight_bytes"]))
        for row in rows_of(lossy, "rtt"):
            expected[f"{row['flow']} RTT"].append((row["t_ns"], row["rtt_ns"]))
        assert trace.counters == expected
        units = {
            trace.name(uuid): track.counter.unit_name
            for uuid, track in trace.tracks.items()
            if track.HasField("counter")
        }
        assert set(units) == set(expected) and units["ap queue"] == "packets" and units["a1.up RTT"] == "ns"

    def test_drops_are_instants_of_their_node(self, lossy, trace):
        rows = rows_of(lossy, "drop")
        expected = Counter(
            (row["node"], row["t_ns"], f"dropped: {row['reason']}", row["flow"], row["packet"]) for row in rows
        )
        assert (
            Counter((node, at, name, about["flow"], about["packet"]) for node, at, name, about, _ in trace.instants)
            == expected
        )
        assert rows

    def test_arrows_lead_from_a_lost_packet_to_its_retransmission(self, lossy, trace):
        flows = {flow["id"]: place for place, flow in enumerate(lossy.runs[0]["flows"])}
        held, sent_again = defaultdict(set), Counter()
        lost = set()
        for run in sorted(rows_of(lossy, "carries"), key=lambda run: run["ppdu"]):
            for packet in range(run["packet"], run["packet"] + run["packets"]):
                key = perfetto.arrow(flows[run["flow"]], run["up"], packet)
                if not run["decoded"] or key in lost:
                    held[run["ppdu"]].add(key)
                    sent_again[key] += 1
                (lost.discard if run["decoded"] else lost.add)(key)
        told = {
            about["ppdu"]: set(arrows)
            for slices in trace.slices.values()
            for _, _, about, arrows, _ in slices
            if arrows
        }
        assert told == {ppdu: keys for ppdu, keys in held.items() if keys}
        assert sum(count > 1 for count in sent_again.values()) > 100

    def test_its_bytes_are_those_that_perfettos_messages_take(self, trace, lossy, tmp_path):
        lossy.to_perfetto(tmp_path / "again.pftrace")
        assert trace.trace.ByteSize() == (tmp_path / "again.pftrace").stat().st_size


class TestFromThePythonSide:
    def test_a_missing_recording_is_an_error(self, small, tmp_path):
        result = lasthop.run(small, seeds=[1, 2], record="window")
        with pytest.raises(
            LookupError, match="holds no recording of any of segment, quic; run again with --record segment,quic"
        ):
            result.to_qlog(tmp_path / "q", 1)
        with pytest.raises(LookupError, match="2 seeds are recorded; choose one, e.g. seed=1"):
            result.to_perfetto(tmp_path / "p")
        with pytest.raises(LookupError, match="seed 4 is not recorded; recorded are 1, 2"):
            result.to_perfetto(tmp_path / "p", 4)
        assert not (tmp_path / "q").exists() and not (tmp_path / "p").exists()

    def test_a_result_that_was_read_gives_the_same(self, small, tmp_path):
        result = lasthop.run(small, seeds=2, record="tcp,air")
        result.save(tmp_path / "kept")
        there = lasthop.read(tmp_path / "kept")
        for number, of in enumerate((result, there)):
            of.to_perfetto(tmp_path / f"{number}.pftrace", 2)
            of.to_qlog(tmp_path / str(number), 2)
        assert (tmp_path / "0.pftrace").read_bytes() == (tmp_path / "1.pftrace").read_bytes()
        for file in (tmp_path / "0").iterdir():
            assert file.read_text(encoding="utf-8").replace("kept", "small") == (tmp_path / "1" / file.name).read_text(
                encoding="utf-8"
            )

    def test_progress_goes_from_0_to_1(self, small, tmp_path):
        result = lasthop.run(small, seeds=1, record="all")
        for write in (
            lambda show: result.to_qlog(tmp_path / "q", show=show),
            lambda show: result.to_perfetto(tmp_path / "p", show=show),
        ):
            seen = []
            write(seen.append)
            assert seen == sorted(seen) and seen[-1] == 1.0

    def test_of_many_connections_those_that_spoke_last_are_remembered(self, lossy, monkeypatch):
        monkeypatch.setattr(qlog, "CONNECTIONS", 3)
        flow = next(flow for flow in tcp_flows(lossy.scenario, lossy.told_runs[0]).values() if flow.id.endswith("many"))
        files = qlog.Files(Path("nowhere"), qlog.ExitStack())
        opened = qlog.Opened(True, None)
        track = qlog.Track(flow, {host: qlog.End(flow, host, opened, "t", files) for host in ("station", "server")})
        spoke = []
        for row in qlog.Reader(lossy._recordings, 1, qlog.TABLES).rows("segment", qlog.SEGMENT):
            if row[1] == flow.id:
                track.take("segment", row)
                spoke = [*(number for number in spoke if number != row[2]), row[2]]
                assert [*track._connections] == spoke[-3:]
        assert len(spoke) > 3


class TestTheCommand:
    def test_without_out_and_record(self, command, small, tmp_path):
        done = command("run", small, "--seed", 3, "--qlog", "q", "--perfetto", "p.pftrace")
        assert done.returncode == 0, done.stderr
        assert sorted(file.name for file in (tmp_path / "q/seed-3").iterdir()) == [
            f"sta{n}.up.{host}.qlog" for n in (1, 2) for host in ("server", "station")
        ]
        assert len(Decoded("p.pftrace").slices["ap"]) > 100
        assert sorted(os.listdir()) == ["p.pftrace", "q", "small.toml"]
        plain = command("run", small, "--seed", 3)
        assert plain.stdout == done.stdout

    def test_only_requested_files_are_kept_with_out(self, command, small):
        done = command("run", small, "--seeds", 2, "--out", "o", "--record", "rate", "--perfetto", "p.x", "--qlog", "q")
        assert done.returncode == 0, done.stderr
        assert sorted(str(file) for file in Path("o/recording").rglob("*.parquet")) == [
            f"o/recording/seed-{seed}/rate.parquet" for seed in (1, 2)
        ]
        assert sorted(os.listdir()) == ["o", "p-seed-1.x", "p-seed-2.x", "q", "small.toml"]
        assert not list(Path("o").glob(".*"))
        assert command("run", small, "--seed", 1, "--out", "o", "--perfetto", "p.x").returncode == 0
        assert not Path("o/recording").exists()

    def test_a_part_of_the_run(self, command, small):
        done = command(
            "run", small, "--seed", 1, "--perfetto", "p", "--qlog", "q", "--record-from", "1s", "--record-for", "100ms"
        )
        assert done.returncode == 0, done.stderr
        starts = [told[0] for slices in Decoded("p").slices.values() for told in slices]
        assert starts and min(starts) >= 1_000_000_000 and max(starts) < 1_100_000_000
        for file in Path("q/seed-1").iterdir():
            log = json.loads(file.read_text(encoding="utf-8"))
            assert all(1000 <= event["time"] < 1100 for event in events(log))
            assert log["traces"][0]["vantage_point"]["type"] == "unknown"

    def test_udp_has_no_qlog_and_the_command_reports_it(self, command, small):
        small.write_text(small.read_text() + 'transport = "udp"\nrate = "1 Mbit/s"\n')
        done = command("run", small, "--seed", 1, "--qlog", "q")
        assert done.returncode == 0, done.stderr
        assert "--qlog: no TCP segment and no QUIC packet was recorded" in done.stderr

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["--qlog", "small.toml"], "--qlog small.toml: cannot be written: "),
            (["--qlog", ""], "--qlog: the name of a directory is needed"),
            (["--perfetto", "absent/p"], "--perfetto absent/p: cannot be written: No such file or directory"),
            (["--perfetto", "."], "--perfetto .: is a directory; give the name of a file"),
            (["--perfetto", "-"], "--perfetto -: cannot write a trace to standard output; give the name of a file"),
            (["--perfetto", "p", "--record-from", "2s"], "--record-from: 2 s is outside the run of 2 s"),
        ],
    )
    def test_an_unwritable_target_is_refused_before_the_run(self, command, small, options, said):
        done = command("run", small, "--seed", 1, *options)
        assert done.returncode == 2
        assert said in done.stderr and len(done.stderr.splitlines()) == 1
        assert os.listdir() == ["small.toml"]

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
    def test_a_disk_that_is_full_leaves_the_result(self, command, small):
        done = command("run", small, "--seed", 1, "--perfetto", "/dev/full", "--out", "o")
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == "lasthop: /dev/full: No space left on device"
        assert lasthop.read("o").seeds == [1]

    def test_an_export_that_is_interrupted_leaves_the_result_and_no_half_file(self, small):
        small.write_text(small.read_text().replace('"2 s"', '"60 s"'))
        line = [
            sys.executable,
            "-m",
            "lasthop",
            "run",
            str(small),
            "--seed",
            "1",
            "--out",
            "o",
            "--perfetto",
            "p",
            "--qlog",
            "q",
        ]
        running = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
        for _ in range(1200):
            if list(Path("q").glob("seed-1/.*.part")):
                break
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        assert running.returncode == 130
        assert lasthop.read("o").seeds == [1]
        assert list(Path("q").rglob("*.*")) == [] and not Path("p").exists()
        assert sorted(os.listdir()) == ["o", "q", "small.toml"]


class TestExportOfARecordedResult:
    """`lasthop export` writes the bytes of `lasthop run --qlog` and `--perfetto`."""

    @pytest.fixture
    def recorded(self, command, small):
        """Seeds 1 and 2 in `o`, with the exports of the run beside it."""
        line = ("run", small, "--seeds", 2, "--record", "air,queue,tcp", "--qlog", "q", "--perfetto", "p.x")
        assert command(*line, "--out", "o").returncode == 0
        return small.parent

    def test_of_all_seeds(self, command, recorded):
        assert command("export", "qlog", "o", "--out", "again").returncode == 0
        written = {file.relative_to("q"): file.read_bytes() for file in Path("q").rglob("*.qlog")}
        assert len(written) == 8
        assert {file.relative_to("again"): file.read_bytes() for file in Path("again").rglob("*.qlog")} == written
        assert command("export", "perfetto", "o", "--out", "again.x").returncode == 0
        for seed in (1, 2):
            assert Path(f"again-seed-{seed}.x").read_bytes() == Path(f"p-seed-{seed}.x").read_bytes()

    def test_of_one_seed(self, command, recorded):
        assert command("export", "qlog", "o", "--seed", 2, "--out", "again").returncode == 0
        assert [folder.name for folder in Path("again").iterdir()] == ["seed-2"]
        assert command("export", "perfetto", "o", "--seed", 2, "--out", "again.x").returncode == 0
        assert Path("again.x").read_bytes() == Path("p-seed-2.x").read_bytes()
        assert command("export", "perfetto", "o", "--seed", 1).returncode == 0
        assert Path("trace.pftrace").read_bytes() == Path("p-seed-1.x").read_bytes()

    def test_refusals(self, command, recorded):
        assert command("run", "small.toml", "--seed", 1, "--out", "bare").returncode == 0
        for line, words in (
            (["qlog", "o", "--seed", "7"], "seed 7 is not recorded; recorded are 1, 2"),
            (
                ["qlog", "bare"],
                "holds no recording of any of segment, quic; run again with --record segment,quic --out DIR",
            ),
            (["perfetto", "bare"], "holds no recording of any of ppdu, carries, queue"),
            (["perfetto", "o", "--out", "-"], "--out -: cannot write a trace to standard output"),
            (["qlog", "o", "--out", "small.toml"], "--out small.toml: cannot be written: "),
            (["qlog", "absent"], "absent: No such file or directory"),
        ):
            done = command("export", *line)
            assert done.returncode == 2
            assert words in done.stderr and len(done.stderr.splitlines()) == 1
