"""Recordings: what they hold agrees with the result, which is the same with them as without."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest
import recording_page

import lasthop
from lasthop import _core, recording

pytest.importorskip("pyarrow")

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
RUN_S = 0.6
SYN, FIN = 2, 1

needs_scenarios = pytest.mark.skipif(not SCENARIOS, reason="not in a source tree")


def short(file):
    """A ready scenario, short, whose flows begin at once and whose summary covers all of the run."""
    scenario = lasthop.load(file)
    for index, flow in enumerate(json.loads(scenario.resolve().to_json())["flow"]):
        if flow["start"] != "0 s":
            scenario = scenario.set(f"flow.{index}.start", "0 s")
        if flow["start_jitter"] != "0 s":
            scenario = scenario.set(f"flow.{index}.start_jitter", "10 ms")
    return scenario.set("duration", f"{RUN_S} s").set("warmup", "0 s")


def without_simulator(run):
    return {key: value for key, value in run.items() if key != "simulator"}


@pytest.fixture(scope="module", params=SCENARIOS, ids=lambda file: file.stem)
def recorded(request):
    """A result of each ready scenario with all that can be recorded, and the same without."""
    scenario = short(request.param)
    plain = lasthop.run(scenario, seeds=1, interval_s=None)
    return lasthop.run(scenario, seeds=1, interval_s=None, record="all"), plain


@needs_scenarios
class TestOnEveryReadyScenario:
    def test_the_result_is_the_same(self, recorded):
        result, plain = recorded
        assert without_simulator(result.runs[0]) == without_simulator(plain.runs[0])

    def test_ppdus_add_up_to_the_airtime(self, recorded):
        result, _ = recorded
        end = round(RUN_S * 1e9)
        on = defaultdict(int)
        for ppdu in result.recording("ppdu").to_pylist():
            on[ppdu["node"]] += min(ppdu["start_ns"] + ppdu["duration_ns"], end) - ppdu["start_ns"]
        for node in result.runs[0]["nodes"]:
            assert on[node["name"]] / end == pytest.approx(node["airtime_fraction"], abs=1e-9)

    def test_ppdus_of_a_node_do_not_overlap(self, recorded):
        ends = defaultdict(int)
        for ppdu in recorded[0].recording("ppdu").to_pylist():
            assert ppdu["start_ns"] >= ends[ppdu["node"]]
            ends[ppdu["node"]] = ppdu["start_ns"] + ppdu["duration_ns"]

    def test_ppdus_are_numbered_in_order_and_have_an_end(self, recorded):
        rows = recorded[0].recording("ppdu").to_pylist()
        assert [row["ppdu"] for row in rows] == list(range(len(rows)))
        end = round(RUN_S * 1e9)
        for row in rows:
            assert (row["decoded"] is None) == (row["start_ns"] + row["duration_ns"] >= end)
            if row["decoded"] is not None:
                assert 0 <= row["decoded"] <= row["mpdus"]
                assert (row["lost_to"] is None) == (row["decoded"] == row["mpdus"])

    def test_frames_sent_are_data_that_was_not_announced_and_announcements(self, recorded):
        result, _ = recorded
        rows = result.recording("ppdu").to_pylist()
        links = {(link["node"], link["peer"]): link for link in result.runs[0]["links"]}
        begun = {row["exchange"]: row["kind"] for row in reversed(rows)}
        decoded = sum(row["decoded"] or 0 for row in rows if row["kind"] in ("data", "A-MPDU"))
        assert bool(decoded) == any(link["airtime_fraction"] for link in links.values())
        assert {kind for kind in begun.values()} <= {"RTS", "CTS-to-self", "data", "A-MPDU", "BlockAckReq", "beacon"}

    def test_bytes_that_arrive_in_order_are_those_delivered(self, recorded):
        result, _ = recorded
        arrived, acked = streams(result)
        for flow in result.runs[0]["flows"]:
            if flow["transport"] == "tcp":
                assert arrived[flow["id"]] == flow["bytes_delivered"]
                assert acked[flow["id"]] <= flow["bytes_delivered"]

    def test_what_arrived_over_the_air_was_in_a_ppdu_that_was_decoded(self, recorded):
        result, _ = recorded
        ends = {row["ppdu"]: row["start_ns"] + row["duration_ns"] for row in result.recording("ppdu").to_pylist()}
        held = defaultdict(list)
        for run in result.recording("carries").to_pylist():
            for packet in range(run["packet"], run["packet"] + run["packets"]):
                held[run["flow"], run["up"], packet].append(run)
        there = [row for row in result.recording("step").to_pylist() if row["what"] == "received"]
        for row in random.Random(1).sample(there, min(len(there), 1000)):
            through = [run["ppdu"] for run in held[row["flow"], row["up"], row["packet"]] if run["decoded"]]
            assert min(map(ends.get, through)) <= row["t_ns"]

    def test_bytes_in_ppdus_are_those_of_packets_and_headers(self, recorded):
        result, _ = recorded
        held = defaultdict(int)
        packets, decoded = defaultdict(int), defaultdict(int)
        for run in result.recording("carries").to_pylist():
            decoded[run["ppdu"]] += run["packets"] * run["decoded"]
            held[run["ppdu"]] += run["data_bytes"] + run["ack_bytes"]
            packets[run["ppdu"]] += run["packets"]
        for row in result.recording("ppdu").to_pylist():
            if row["kind"] not in ("data", "A-MPDU") or row["decoded"] is None:
                assert row["ppdu"] not in held
                continue
            assert packets[row["ppdu"]] >= row["mpdus"]
            if packets[row["ppdu"]] == row["mpdus"]:
                assert decoded[row["ppdu"]] == row["decoded"]
            # Of each MPDU header, LLC and FCS, 36 bytes or more, and at most 52 with delimiter, subframe and padding.
            over = row["bytes"] - held[row["ppdu"]]
            assert 12 * packets[row["ppdu"]] <= over <= 52 * packets[row["ppdu"]]

    def test_each_step_of_a_packet_follows_the_one_before(self, recorded):
        order = {"sent": 0, "queue_in": 1, "queue_out": 2, "received": 3}
        last = {}
        for row in recorded[0].recording("step").to_pylist():
            if row["what"] in order:
                key = row["flow"], row["up"], row["packet"]
                assert order[row["what"]] >= last.get(key, -1) or row["what"] == "queue_in"
                last[key] = order[row["what"]]
        counted = defaultdict(int)
        for row in recorded[0].recording("step").to_pylist():
            counted[row["what"]] += 1
        assert counted["sent"] >= counted["received"] and counted["queue_in"] >= counted["queue_out"] >= counted["mac_done"]

    def test_windows_and_rtts_are_those_of_the_result(self, recorded):
        result, _ = recorded
        largest, samples = defaultdict(float), defaultdict(list)
        for row in result.recording("window").to_pylist():
            largest[row["flow"]] = max(largest[row["flow"]], row["cwnd_segments"])
        for row in result.recording("rtt").to_pylist():
            samples[row["flow"]].append(row["rtt_ns"] / 1e9)
        for flow in result.runs[0]["flows"]:
            if samples[flow["id"]]:
                assert sum(samples[flow["id"]]) / len(samples[flow["id"]]) == pytest.approx(flow["rtt_mean_s"], rel=1e-6)
                assert largest.get(flow["id"]) == flow["cwnd_max_segments"]

    def test_drops_are_those_of_the_result(self, recorded):
        result, _ = recorded
        drops = defaultdict(int)
        for row in result.recording("drop").to_pylist():
            drops[row["node"]] += row["layer"] == "interface"
        for node in result.runs[0]["nodes"]:
            assert drops[node["name"]] == node["queue_drops"]

    def test_backoffs_are_drawn_from_their_windows(self, recorded):
        rows = recorded[0].recording("backoff").to_pylist()
        assert rows and all(row["slots"] <= row["cw"] for row in rows)


def streams(result):
    """Bytes that have arrived in order at the receiver of each TCP flow, and that ACKs have told its sender of."""
    starts, got, acked = {}, defaultdict(dict), defaultdict(int)
    source = {flow["id"]: "station" if flow["direction"] == "up" else "server" for flow in result.runs[0]["flows"]}
    for row in result.recording("segment").to_pylist():
        stream = row["flow"], row["connection"]
        is_data = (row["host"] == source[row["flow"]]) == row["sent"]
        if is_data and row["flags"] & SYN:
            starts[stream] = (row["seq"] + 1) % 2**32
        elif is_data and not row["sent"] and row["len"]:
            first = (row["seq"] - starts[stream]) % 2**32
            got[stream][first] = max(got[stream].get(first, 0), row["len"])
        elif not is_data and not row["sent"] and stream in starts:
            acked[stream] = max(acked[stream], as_signed(row["ack"] - starts[stream]))
    arrived, told = defaultdict(int), defaultdict(int)
    for stream, pieces in got.items():
        reached = 0
        for first, length in sorted(pieces.items()):
            if first > reached:
                break
            reached = max(reached, first + length)
        arrived[stream[0]] += reached
        told[stream[0]] += min(acked[stream], reached)
    return arrived, told


def as_signed(number):
    return (number + 2**31) % 2**32 - 2**31


@needs_scenarios
def test_a_whole_ampdu_that_is_lost_tells_how_many_mpdus_it_held():
    scenario = lasthop.load(ROOT / "scenarios/office-11ax.toml").set("duration", "2 s").set("warmup", "0 s")
    table = lasthop.run(scenario, seeds=1, interval_s=None, record="ppdu").recording("ppdu").to_pylist()
    lost = [row["mpdus"] for row in table if row["kind"] == "A-MPDU" and row["decoded"] == 0]
    assert len(lost) > 10 and max(lost) > 20


def test_segments_sent_again_are_those_counted(small):
    text = small.read_text().replace("[wired]", '[bss.ap]\nqueue = { kind = "fifo", limit = "5 packets" }\n\n[wired]')
    small.write_text(text.replace('direction = "up"', 'direction = "down"').replace("500 ms", "0 s"))
    result = lasthop.run(small, seeds=1, interval_s=None, record="segment,drop")
    rows = result.recording("segment").to_pylist()
    for flow in result.runs[0]["flows"]:
        again = sum(row["again"] for row in rows if row["flow"] == flow["id"] and row["sent"] and row["len"])
        assert again == flow["segments_retransmitted"] > 0


@needs_scenarios
def test_an_account_is_the_same_beside_a_recording():
    scenario = short(ROOT / "scenarios/office-11ax.toml")
    plain = lasthop.run(scenario, seeds=1, interval_s=0.1, explain=True)
    both = lasthop.run(scenario, seeds=1, interval_s=0.1, explain=True, record="all")
    assert without_simulator(both.runs[0]) == without_simulator(plain.runs[0])
    assert both.timeseries.equals(plain.timeseries)
    alone = lasthop.run(scenario, seeds=1, record="all")
    for table in recording.table_names():
        assert both.recording(table).equals(alone.recording(table))


def test_a_window_holds_what_begins_in_it(small):
    whole = lasthop.run(small, seeds=1, record=["air", "queue"])
    part = lasthop.run(small, seeds=1, record=["air", "queue"], record_from_s=0.5, record_for_s=0.25)
    for table, at in [("ppdu", "start_ns"), ("queue", "t_ns")]:
        rows, expected = part.recording(table).to_pylist(), whole.recording(table).to_pylist()
        drop = {"ppdu", "exchange"}
        inside = [row for row in expected if 500_000_000 <= row[at] < 750_000_000]
        assert [without(row, drop) for row in rows] == [without(row, drop) for row in inside] and rows


def without(row, names):
    return {name: value for name, value in row.items() if name not in names}


def test_seeds_have_folders_of_their_own_and_what_was_recorded_goes_where_the_result_goes(small, tmp_path):
    result = lasthop.run(small, seeds=[3, 5], record="rate,rtt")
    with pytest.raises(LookupError, match="2 seeds are recorded; say which, e.g. seed=3"):
        result.recording("rtt")
    with pytest.raises(LookupError, match="holds no recording of 'ppdu'; run again with --record ppdu"):
        result.recording("ppdu", 3)
    with pytest.raises(LookupError, match="no table 'air'; it has ppdu, carries"):
        result.recording("air", 3)
    result.save(tmp_path / "kept")
    read = lasthop.read(tmp_path / "kept")
    assert read.recording("rtt", 5).equals(result.recording("rtt", 5))
    with pytest.raises(LookupError, match="seed 4 is not recorded; recorded are 3, 5"):
        read.recording("rtt", 4)
    read.save(tmp_path / "again")
    assert lasthop.read(tmp_path / "again").recording("rtt", 3).equals(result.recording("rtt", 3))
    # A result that replaces another takes its recordings away.
    lasthop.run(small, seeds=1).save(tmp_path / "kept")
    assert not (tmp_path / "kept" / "recording").exists()


def test_what_is_recorded_for_a_result_that_is_forgotten_is_removed(small):
    result = lasthop.run(small, seeds=1, record="rtt")
    directory = result._stored_recordings().directory
    assert directory.is_dir()
    del result
    assert not directory.exists()


def test_the_command_records(command, small, tmp_path):
    done = command("run", small, "--seed", 2, "--out", "o", "--record", "air,backoff", "--record-from", "0s")
    assert done.returncode == 0, done.stderr
    files = sorted(path.name for path in (tmp_path / "o/recording/seed-2").iterdir())
    assert files == ["backoff.parquet", "carries.parquet", "ppdu.parquet"]
    assert lasthop.read("o").recording("ppdu").num_rows > 100
    assert not list((tmp_path / "o").glob(".*"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--record", "air"], "--record: needs --out DIR, which is where the recording goes"),
        (["--out", "o", "--record", "airs"], "--record: unknown 'airs'; did you mean 'air'? one or more of: air (ppdu and"),
        (["--out", "o", "--record", ","], "--record: nothing is named; one or more of: air"),
        (["--out", "o", "--record-from", "1s"], "--record-from: has no effect without --record TABLES"),
        (["--out", "o", "--record-for", "1s"], "--record-for: has no effect without --record TABLES"),
        (["--out", "o", "--record", "air", "--record-from", "2s"], "--record-from: from 2 s on there is nothing to record of a run of 2 s"),
        (["--out", "o", "--record", "air", "--record-for", "0s"], "'0s' is not a length of time"),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_anything_runs(command, small, options, said):
    done = command("run", small, "--seed", 1, *options)
    assert done.returncode == 2
    assert said in done.stderr and len(done.stderr.splitlines()) == 1
    assert not Path("o/result.json").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"record": "sky"}, "record: unknown 'sky'; one or more of: air"),
        ({"record": []}, "record: nothing is named"),
        ({"record_for_s": 1}, "have no effect without record"),
        ({"record": "all", "record_from_s": 2}, "record: from 2 s on there is nothing"),
        ({"record": "all", "record_from_s": -1}, "record: from -1 s on"),
        ({"record": "all", "record_for_s": 0}, "record: for 0 s nothing is recorded"),
        ({"record": "all", "record_from_s": float("nan")}, "record: from nan s on"),
    ],
)
def test_the_same_from_python(small, arguments, said):
    with pytest.raises(ValueError, match=said):
        lasthop.run(small, seeds=1, **arguments)


def test_a_run_that_is_interrupted_leaves_no_half_recording(small):
    small.write_text(small.read_text().replace('"2 s"', '"20000 s"'))
    line = [sys.executable, "-m", "lasthop", "run", str(small), "--seed", "1", "--out", "o", "--record", "all"]
    running = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if any(Path("o").glob(".recording.*/seed-1/ppdu.parquet")):
            break
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == 130
    assert list(Path("o").rglob("*.parquet")) == []
    assert list(Path("o").glob(".*")) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_disk_that_is_full_ends_the_run_with_a_sentence(small, tmp_path):
    resolved = lasthop.load(small).set("duration", "1000 s").resolve()
    (tmp_path / "seed-1").mkdir()
    (tmp_path / "seed-1" / "step.parquet").symlink_to("/dev/full")
    campaign = _core.Campaign(resolved, [1], 1, None, False, _core.Recording(tmp_path, ["step"]))
    began = time.monotonic()
    while not campaign.is_done() and time.monotonic() - began < 60:
        time.sleep(0.05)
    (outcome,) = campaign.take_finished()
    assert outcome.json is None
    assert "step.parquet: cannot be written: No space left on device" in outcome.error


def test_names_of_tables_and_groups():
    assert recording.chosen(" air, tcp,air ") == ("air", "tcp")
    assert recording.groups()["tcp"] == ["segment", "window", "rtt"]
    assert {"ppdu", "step"} <= set(recording.table_names())


@pytest.mark.skipif(not (ROOT / "docs/formats.md").exists(), reason="not in a source tree")
def test_the_page_of_formats_has_every_column():
    text = recording_page.PAGE.read_text(encoding="utf-8")
    assert recording_page.page(text) == text, "make docs writes them"
    assert all(f"`{name}`" in text for _, _, columns in _core.recording_tables() for name, _, _ in columns)


HIDDEN = """
name = "hidden"
duration = "1 s"
warmup = "0 s"
[channel]
hidden = [["a1", "a2"]]
[[bss]]
name = "bss1"
standard = "{standard}"
rts_threshold = "1 B"
[[station]]
name = "a"
bss = "bss1"
count = 2
[[flow]]
station = "*"
direction = "up"
transport = "udp"
rate = "saturated"
"""


@pytest.mark.parametrize("standard", ["802.11a", "802.11n"])
def test_retried_counts_what_was_on_the_air_before_and_not_announcements_that_failed(standard):
    scenario = lasthop.Scenario(HIDDEN.format(standard=standard))
    result = lasthop.run(scenario, seeds=1, interval_s=None, record="air")
    ppdus = {row["ppdu"]: row for row in result.recording("ppdu").to_pylist()}
    lost_announcements = sum(row["kind"] == "RTS" and row["decoded"] == 0 for row in ppdus.values())
    before, seen_again, held = set(), 0, defaultdict(set)
    for row in result.recording("carries").to_pylist():
        held[row["ppdu"]].update((row["flow"], row["packet"] + place) for place in range(row["packets"]))
    for ppdu, packets in sorted(held.items()):
        assert ppdus[ppdu]["retried"] == len(packets & before), ppdus[ppdu]
        seen_again += ppdus[ppdu]["retried"]
        before |= packets
    assert lost_announcements > 100
    assert standard == "802.11a" or seen_again > 0
