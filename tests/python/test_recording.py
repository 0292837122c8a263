"""Recordings: what they hold agrees with the result, which is the same with them as without."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from itertools import groupby
from pathlib import Path

import lasthop
import pytest
from lasthop import _core
from lasthop.data import recording

pytest.importorskip("pyarrow")

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
RUN_S = 0.5
WARM_S, WARMED_S = 0.2, 0.5
FIN, SYN, RST, ACK = 1, 2, 4, 16
# Length of IPv4 and UDP headers.
UDP_HEADERS = 28

needs_scenarios = pytest.mark.skipif(not SCENARIOS, reason="not in a source tree")


def short(file, run_s=RUN_S, warmup_s=0):
    """A ready scenario, short, whose flows begin at once and whose summary covers all of the run after `warmup_s`."""
    scenario = lasthop.load(file)
    for index, flow in enumerate(json.loads(scenario.resolve().to_json())["flow"]):
        if flow["start"] != "0 s":
            scenario = scenario.set(f"flow.{index}.start", "0 s")
        if flow["start_jitter"] != "0 s":
            scenario = scenario.set(f"flow.{index}.start_jitter", "10 ms")
    return scenario.set("duration", f"{run_s} s").set("warmup", f"{warmup_s} s")


def without_simulator(run):
    return {key: value for key, value in run.items() if key != "simulator"}


@pytest.fixture(scope="module", params=SCENARIOS, ids=lambda file: file.stem)
def recorded(request):
    """A result of each ready scenario with all that can be recorded, and the same without."""
    scenario = short(request.param)
    plain = lasthop.run(scenario, seeds=1, interval_s=None)
    return lasthop.run(scenario, seeds=1, interval_s=None, record="all"), plain


@pytest.fixture(scope="module", params=SCENARIOS, ids=lambda file: file.stem)
def warmed(request):
    """A result of each ready scenario whose summary begins after a while, with all that can be recorded."""
    return lasthop.run(short(request.param, WARMED_S, WARM_S), seeds=1, interval_s=None, record="all")


@needs_scenarios
class TestAfterAWarmUpOnEveryReadyScenario:
    """A recording begins with the run, the summary with the end of the warm-up."""

    def test_ppdus_add_up_to_the_airtime_within_the_measured_time(self, warmed):
        begin, end = round(WARM_S * 1e9), round(WARMED_S * 1e9)
        on = time_on_air(warmed, begin, end)
        for node in warmed.runs[0]["nodes"]:
            assert on[node["name"]] / (end - begin) == pytest.approx(node["airtime_fraction"], abs=1e-9)

    def test_bytes_that_arrive_in_order_after_the_warm_up_are_those_delivered(self, warmed):
        before, after = delivered(warmed, WARM_S), delivered(warmed, WARMED_S)
        for flow in warmed.runs[0]["flows"]:
            if flow["traffic"] != "ping":
                assert after[flow["id"]] - before[flow["id"]] == flow["bytes_delivered"], flow["id"]


def ppdus_of(result):
    """The PPDUs of a recording, each with its parts: users of a PPDU of several have rows of their own."""
    rows = result.recording("ppdu").to_pylist()
    return groupby(rows, lambda row: (row["start_ns"], row["initiator"]) if row["ru_tones"] else row["ppdu"])


def time_on_air(result, begin: int, end: int) -> dict[str, int]:
    """Nanoseconds between two times by node; of PPDUs of several users each part has its share, by tones."""
    on: dict[str, int] = defaultdict(int)
    for _, parts in ((key, list(group)) for key, group in ppdus_of(result)):
        start = parts[0]["start_ns"]
        spent = max(0, min(start + parts[0]["duration_ns"], end) - max(start, begin))
        tones = [part["ru_tones"] or 1 for part in parts]
        for place, part in enumerate(parts):
            before, after = (spent * sum(tones[:count]) // sum(tones) for count in (place, place + 1))
            on[part["node"]] += after - before
    return on


@needs_scenarios
class TestOnEveryReadyScenario:
    def test_the_result_is_the_same(self, recorded):
        result, plain = recorded
        assert without_simulator(result.runs[0]) == without_simulator(plain.runs[0])

    def test_ppdus_add_up_to_the_airtime(self, recorded):
        result, _ = recorded
        end = round(RUN_S * 1e9)
        on = time_on_air(result, 0, end)
        for node in result.runs[0]["nodes"]:
            assert on[node["name"]] / end == pytest.approx(node["airtime_fraction"], abs=1e-9)

    def test_ppdus_of_a_node_do_not_overlap(self, recorded):
        ends = defaultdict(int)
        for _, group in ppdus_of(recorded[0]):
            parts = list(group)
            for node in {part["node"] for part in parts}:
                assert parts[0]["start_ns"] >= ends[node]
                ends[node] = parts[0]["start_ns"] + parts[0]["duration_ns"]

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
        of_several = {"BSRP", "trigger"} if any(row["ru_tones"] for row in rows) else set()
        assert set(begun.values()) <= {"RTS", "CTS-to-self", "data", "A-MPDU", "BlockAckReq", "beacon"} | of_several

    def test_bytes_that_arrive_in_order_are_those_delivered(self, recorded):
        """Of TCP by sequence numbers, without SYN and FIN; of UDP by the packets that got to their host."""
        result, _ = recorded
        got = delivered(result, RUN_S)
        for flow in result.runs[0]["flows"]:
            if flow["traffic"] != "ping":
                assert got[flow["id"]] == flow["bytes_delivered"], flow["id"]

    def test_acks_cover_exactly_the_delivered_bytes(self, recorded):
        """Every ACK that a receiver sends: then nothing but its delay keeps the sender from knowing of all that is delivered."""
        result, _ = recorded
        arrivals = Arrivals(result)
        told = defaultdict(int)
        for row in result.recording("segment").to_pylist():
            arrivals.take(row)
            if row["sent"] and row["flags"] & ACK and not arrivals.is_data(row) and not row["flags"] & (SYN | RST):
                number = arrivals.stream_of(row)
                closed = arrivals.is_closed(number)
                acked = (row["ack"] - arrivals.starts[number]) % 2**32
                assert acked == arrivals.in_order[number] + closed
                told[row["flow"]] = max(told[row["flow"]], acked)
        assert bool(told) == any(flow["transport"] == "tcp" for flow in result.runs[0]["flows"])

    def test_packets_that_arrived_were_in_a_decoded_ppdu(self, recorded):
        result, _ = recorded
        ends = {row["ppdu"]: row["start_ns"] + row["duration_ns"] for row in result.recording("ppdu").to_pylist()}
        first = {}
        for run in result.recording("carries").to_pylist():
            if run["decoded"]:
                for packet in range(run["packet"], run["packet"] + run["packets"]):
                    key = run["flow"], run["up"], packet
                    first[key] = min(first.get(key, ends[run["ppdu"]]), ends[run["ppdu"]])
        received = [row for row in result.recording("step").to_pylist() if row["what"] == "received"]
        assert received
        for row in received:
            assert first[row["flow"], row["up"], row["packet"]] <= row["t_ns"]

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
            # Header, LLC and FCS of each MPDU, 36 bytes or more, and at most 52 with delimiter, subframe and padding.
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
        assert (
            counted["sent"] >= counted["received"]
            and counted["queue_in"] >= counted["queue_out"] >= counted["mac_done"]
        )

    def test_windows_and_rtts_are_those_of_the_result(self, recorded):
        result, _ = recorded
        largest, samples = defaultdict(float), defaultdict(list)
        for row in result.recording("window").to_pylist():
            largest[row["flow"]] = max(largest[row["flow"]], row["cwnd_segments"])
        for row in result.recording("rtt").to_pylist():
            samples[row["flow"]].append(row["rtt_ns"] / 1e9)
        for flow in result.runs[0]["flows"]:
            if samples[flow["id"]]:
                assert sum(samples[flow["id"]]) / len(samples[flow["id"]]) == pytest.approx(
                    flow["rtt_mean_s"], rel=1e-6
                )
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


class Arrivals:
    """Bytes that have arrived in order at the receiver of each connection, from rows of `segment` one after another."""

    def __init__(self, result):
        self._source = {
            row["id"]: "station" if row["direction"] == "up" else "server" for row in result.runs[0]["flows"]
        }
        self.starts, self.in_order = {}, defaultdict(int)
        self._waiting, self._ends = defaultdict(dict), {}

    def is_data(self, row):
        """Whether it goes from the sender of the flow to its receiver."""
        return (row["host"] == self._source[row["flow"]]) == row["sent"]

    def stream_of(self, row):
        return row["flow"], row["connection"]

    def is_closed(self, stream):
        """Whether the FIN has arrived, and all before it."""
        return self._ends.get(stream) == self.in_order[stream]

    def take(self, row):
        stream = self.stream_of(row)
        if not self.is_data(row):
            return
        if row["flags"] & SYN:
            self.starts[stream] = (row["seq"] + 1) % 2**32
        elif not row["sent"]:
            first = as_signed(row["seq"] - self.starts[stream] - self.in_order[stream]) + self.in_order[stream]
            waiting = self._waiting[stream]
            waiting[first] = max(waiting.get(first, 0), row["len"])
            if row["flags"] & FIN:
                self._ends[stream] = first + row["len"]
            self._go_on(stream, waiting)

    def _go_on(self, stream, waiting):
        for first, length in sorted(waiting.items()):
            if first > self.in_order[stream]:
                break
            self.in_order[stream] = max(self.in_order[stream], first + length)
            del waiting[first]


def delivered(result, until_s):
    """Bytes that each flow has delivered up to a time: of TCP those in order, of UDP those of packets that arrived."""
    until = round(until_s * 1e9)
    arrivals, got = Arrivals(result), defaultdict(int)
    for row in result.recording("segment").to_pylist():
        if row["t_ns"] < until:
            arrivals.take(row)
    for (flow, _), count in arrivals.in_order.items():
        got[flow] += count
    up = {flow["id"]: flow["direction"] == "up" for flow in result.runs[0]["flows"] if flow["transport"] == "udp"}
    sizes = {}
    for run in result.recording("carries").to_pylist() if up else ():
        for packet in range(run["packet"], run["packet"] + run["packets"]):
            sizes[run["flow"], run["up"], packet] = run["data_bytes"] // run["packets"] - UDP_HEADERS
    for row in result.recording("step").to_pylist() if up else ():
        if row["what"] == "received" and row["t_ns"] < until and up.get(row["flow"]) == row["up"]:
            got[row["flow"]] += sizes[row["flow"], row["up"], row["packet"]]
    return got


def as_signed(number):
    return (number + 2**31) % 2**32 - 2**31


@needs_scenarios
def test_a_lost_ampdu_has_its_number_of_mpdus():
    scenario = lasthop.load(ROOT / "scenarios/office-11ax.toml").set("duration", "2 s").set("warmup", "0 s")
    table = lasthop.run(scenario, seeds=1, interval_s=None, record="ppdu").recording("ppdu").to_pylist()
    lost = [row["mpdus"] for row in table if row["kind"] == "A-MPDU" and row["decoded"] == 0]
    assert len(lost) > 10 and max(lost) > 20


@needs_scenarios
@pytest.mark.parametrize("name", ["office-11ax", "khademi2011-uplink-11b"])
def test_two_readers_of_parquet_find_the_same_in_every_table(name):
    """Some columns are nothing but null, some have no rows, some numbers are small and some too large for an array."""
    import duckdb

    result = lasthop.run(short(ROOT / f"scenarios/{name}.toml", 1.0), seeds=1, interval_s=None, record="all")
    largest = 0
    for table in recording.table_names():
        file = result.recordings.file(table, 1)
        with duckdb.connect() as connection:
            rows = connection.execute(f"SELECT * FROM read_parquet('{file}')").fetchall()
        assert [tuple(row.values()) for row in result.recording(table).to_pylist()] == rows
        largest = max([largest, *(row[15] for row in rows if table == "ppdu")])
    assert (largest >= 1 << 16) == (name == "office-11ax")


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


def test_a_window_holds_the_ppdus_that_begin_in_it(small):
    whole = lasthop.run(small, seeds=1, record=["air", "queue"])
    part = lasthop.run(small, seeds=1, record=["air", "queue"], record_from_s=0.5, record_for_s=0.25)
    for table, at in [("ppdu", "start_ns"), ("queue", "t_ns")]:
        rows, expected = part.recording(table).to_pylist(), whole.recording(table).to_pylist()
        drop = {"ppdu", "exchange"}
        inside = [row for row in expected if 500_000_000 <= row[at] < 750_000_000]
        assert [without(row, drop) for row in rows] == [without(row, drop) for row in inside] and rows


def without(row, names):
    return {name: value for name, value in row.items() if name not in names}


def test_seeds_have_their_own_folders_and_recordings_follow_the_result(small, tmp_path):
    result = lasthop.run(small, seeds=[3, 5], record="rate,rtt")
    with pytest.raises(LookupError, match="2 seeds are recorded; choose one, e.g. seed=3"):
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


def test_recordings_of_a_discarded_result_are_removed(small):
    result = lasthop.run(small, seeds=1, record="rtt")
    directory = result.recordings.directory
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
        (
            ["--out", "o", "--record", "airs"],
            "--record: unknown 'airs'; did you mean 'air'? one or more of: air (ppdu and",
        ),
        (["--out", "o", "--record", ","], "--record: no table is named; give one or more of: air"),
        (["--out", "o", "--record-from", "1s"], "--record-from: has no effect without --record TABLES"),
        (["--out", "o", "--record-for", "1s"], "--record-for: has no effect without --record TABLES"),
        (["--out", "o", "--record", "air", "--record-from", "2s"], "--record-from: 2 s is outside the run of 2 s"),
        (["--out", "o", "--record", "air", "--record-for", "0s"], "'0s' is not a length of time"),
    ],
)
def test_impossible_recordings_are_refused_before_a_run(command, small, options, said):
    done = command("run", small, "--seed", 1, *options)
    assert done.returncode == 2
    assert said in done.stderr and len(done.stderr.splitlines()) == 1
    assert not Path("o/result.json").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"record": "sky"}, "record: unknown 'sky'; one or more of: air"),
        ({"record": []}, "record: no table is named"),
        ({"record_for_s": 1}, "have no effect without record"),
        ({"record": "all", "record_from_s": 2}, "record_from_s: 2 s is outside the run"),
        ({"record": "all", "record_from_s": -1}, "record_from_s: -1 s is outside the run"),
        ({"record": "all", "record_for_s": 0}, "record_for_s: a recording cannot last 0 s"),
        (
            {"record": "all", "record_from_s": float("nan")},
            "record_from_s: a number of seconds, such as 0.5, is needed, not nan",
        ),
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
        if Path("o/unfinished/recording/seed-1/ppdu.parquet").exists():
            break
        time.sleep(0.05)
    else:
        pytest.fail("no recording was begun")
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
    assert outcome.run is None
    assert "step.parquet: cannot be written: No space left on device" in outcome.error


def test_names_of_tables_and_groups():
    assert recording.chosen(" air, tcp,air ") == ("air", "tcp")
    assert recording.groups()["tcp"] == ["segment", "window", "rtt"]
    assert {"ppdu", "step"} <= set(recording.table_names())


@pytest.mark.skipif(not (ROOT / "docs/formats.md").exists(), reason="not in a source tree")
def test_the_page_of_formats_and_the_list_have_every_column(monkeypatch, command):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    from reference import tables

    text = tables.filled((ROOT / "docs" / "formats.md").read_text(encoding="utf-8"))
    columns = [(table, *column) for table, _, of in _core.recording_tables() for column in of]
    assert len(columns) > 50 and all(f"| `{name}` | {kind} |" in text for _, name, kind, _ in columns)
    rows = json.loads(command("list", "recording", "--json").stdout)
    assert [(row["table"], row["column"], row["type"], row["content"]) for row in rows] == columns


HIDDEN = """
name = "hidden"
duration = "3 s"
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
def test_retried_counts_mpdus_sent_before_and_no_failed_announcements(standard):
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
