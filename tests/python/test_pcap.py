"""Captures: tshark reads them without complaint and finds in them what the recording of the same run holds."""

from __future__ import annotations

import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import lasthop
import pytest
from lasthop import _core
from lasthop.data import recording
from test_recording import SCENARIOS, SYN, needs_scenarios, short, without_simulator

pytest.importorskip("pyarrow")

needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed: apt-get install tshark"
)

CHECKS = (
    "ip.check_checksum:TRUE",
    "tcp.check_checksum:TRUE",
    "udp.check_checksum:TRUE",
    "tcp.relative_sequence_numbers:FALSE",
)
EXPERT = re.compile(r"^ +\d+ +\S+ +(?P<protocol>\S+) +(?P<summary>.+)$")
TCP_FINDINGS = [
    "Previous segment",
    "This frame is a (suspected) out-of-order segment",
    "ACKed segment that wasn't captured",
    "D-SACK Sequence",
    "TCP Zero Window segment",
    "TCP window specified by the receiver is now completely full",
    "Connection reset (RST)",
    "TCP Port numbers reused",
    "This session reuses previously negotiated keys",
]


class Read(NamedTuple):
    """What tshark says of a file: the fields of each frame, and what its experts warn of, with protocols."""

    frames: list[dict[str, str]]
    warnings: set[tuple[str, str]]


def read(file, fields, preferences=CHECKS):
    names = [*fields, "_ws.malformed", "frame.number"]
    line = ["tshark", "-n", "-r", str(file), "-T", "fields", "-E", "separator=|", "-z", "expert,warn"]
    line += [part for preference in preferences for part in ("-o", preference)]
    line += [part for name in names for part in ("-e", name)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    frames, warnings = [], set()
    for text in done.stdout.splitlines():
        values = text.split("|")
        if len(values) == len(names):
            frames.append(
                dict(zip(names, (value.replace("True", "1").replace("False", "0") for value in values), strict=True))
            )
        elif found := EXPERT.match(text):
            warnings.add((found["protocol"], found["summary"].strip()))
    assert [int(frame["frame.number"]) for frame in frames] == list(range(1, len(frames) + 1))
    return Read(frames, warnings)


def nothing_wrong(found):
    """No frame is malformed, and only what TCP itself thinks of its segments is warned of."""
    assert [frame["frame.number"] for frame in found.frames if frame["_ws.malformed"]] == []
    others = [(protocol, summary) for protocol, summary in found.warnings if protocol != "TCP"]
    others += [(p, s) for p, s in found.warnings if p == "TCP" and not s.startswith(tuple(TCP_FINDINGS))]
    assert others == []


def nanoseconds(frame):
    seconds, fraction = frame["frame.time_epoch"].split(".")
    return int(seconds) * 10**9 + int(fraction)


PHYS = {"4": "802.11b", "5": "802.11a", "6": "802.11g", "7": "802.11n", "8": "802.11ac", "11": "802.11ax"}
AIR = [
    "frame.time_epoch",
    "wlan.fc.retry",
    "wlan.duration",
    "wlan.ta",
    "wlan.ra",
    "wlan_radio.duration",
    "wlan_radio.aggregate.duration",
    "radiotap.ampdu.reference",
    "radiotap.flags.badfcs",
    "wlan_radio.frequency",
    "wlan_radio.phy",
    "wlan_radio.data_rate",
    "frame.comment",
]
SERVER = [
    "frame.time_epoch",
    "ip.proto",
    "ip.id",
    "ip.dsfield.ecn",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.len",
    "tcp.flags",
    "tcp.window_size_value",
    "tcp.options.sack_le",
    "tcp.options.sack.count",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
]


class Captured(NamedTuple):
    """A run with its captures, and what tshark reads of them."""

    result: lasthop.Result
    plain: lasthop.Result
    directory: Path
    air: Read
    server: Read

    def ppdus(self):
        """PPDUs that have ended, in the order in which they began."""
        ended = [row for row in self.result.recording("ppdu").to_pylist() if row["decoded"] is not None]
        return sorted(ended, key=lambda row: row["start_ns"])

    def frames_of_ppdus(self):
        """The frames of each PPDU in `air.pcapng`."""
        together, before = [], None
        for frame in self.air.frames:
            key = (frame["frame.time_epoch"], frame["radiotap.ampdu.reference"])
            if key == before and frame["radiotap.ampdu.reference"]:
                together[-1].append(frame)
            else:
                together.append([frame])
            before = key
        return together


def captured_of(scenario, directory):
    plain = lasthop.run(scenario, seeds=1, interval_s=None)
    result = lasthop.run(scenario, seeds=1, interval_s=None, record="air,tcp", pcap=directory)
    return Captured(
        result, plain, directory, read(directory / "air.pcapng", AIR), read(directory / "server.pcapng", SERVER)
    )


VHT = """
name = "vht"
duration = "200 ms"
warmup = "0 s"
[bss]
standard = "802.11ac"
channel_width = "80 MHz"
spatial_streams = 2
beacons = "100 TU"
{bss}
[[station]]
count = 3
distance = "25 m"
[wired]
rate = "1 Gbit/s"
delay = "2 ms"
[[flow]]
station = "*"
direction = "both"
[[flow]]
station = "sta1"
direction = "up"
transport = "udp"
traffic = "voip"
dscp = "EF"
"""
SEVERAL = """
name = "several"
duration = "200 ms"
warmup = "0 s"
[[bss]]
name = "left"
standard = "802.11g"
channel = 1
beacons = "100 TU"
protection = "cts_to_self"
[[bss]]
name = "right"
standard = "802.11n"
channel = 1
[bss.ap]
position = ["30 m", "0 m"]
[[bss]]
name = "far"
standard = "802.11ax"
channel = 36
channel_width = "80 MHz"
[[station]]
name = "l"
count = 2
bss = "left"
[[station]]
name = "r"
count = 2
bss = "right"
[[station]]
name = "f"
count = 2
bss = "far"
[wired]
rate = "1 Gbit/s"
delay = "2 ms"
[[flow]]
station = "*"
direction = "both"
"""
LOSSY = """
name = "lossy"
duration = "2 s"
warmup = "0 s"
[bss]
standard = "802.11n"
retry_limit = 1
[channel]
error_model = { kind = "fixed", frame_error_rate = 0.1 }
[[station]]
count = 2
[wired]
rate = "30 Mbit/s"
delay = "10 ms"
queue = { kind = "fifo", limit = "15 packets" }
[[flow]]
station = "*"
direction = "both"
"""
OWN = {
    "lossy": LOSSY,
    "vht-amsdu": VHT.format(bss='aggregation = { amsdu = "7000 B" }'),
    "vht-single": VHT.format(bss='aggregation = "off"\nrts_threshold = "500 B"'),
    "several-bss": SEVERAL,
}


@pytest.fixture(scope="module", params=[*SCENARIOS, *OWN], ids=lambda of: of if isinstance(of, str) else of.stem)
def captured(request, tmp_path_factory):
    """Each ready scenario, short, and some of other standards."""
    directory = tmp_path_factory.mktemp("pcap")
    if request.param in OWN:
        file = directory / "own.toml"
        file.write_text(OWN[request.param])
        scenario = lasthop.load(file)
    else:
        scenario = short(request.param).set("duration", "0.2 s")
    found = captured_of(scenario, directory / "into")
    yield found
    shutil.rmtree(directory)


def symbols(bits, per_symbol, short_guard):
    count = -(-bits // per_symbol)
    return (count * 36 + 5) // 10 if short_guard else 4 * count


def as_tshark_computes(ppdu, phy, mhz):
    """How long tshark 4.0 takes a PPDU to last, in µs, which is not always how long it lasts; None where it computes nothing.

    Of DSSS it rounds up. It leaves out the signal extension of the 2.4 GHz band. Of HT it takes twice the bits of a symbol
    at 20 MHz for those at 40 MHz, rounds to µs and not to symbols of 4 µs, and leaves out the last delimiter. Of VHT it counts
    no symbols and leaves out VHT-SIG-B. Of HE it computes nothing.
    """
    if ppdu["mcs"] is None:
        return math.ceil(ppdu["duration_ns"] / 1000) - (6 if mhz < 3000 and ppdu["gi_ns"] else 0)
    bits, streams, mcs = 8 * (ppdu["bytes"] - 4), ppdu["nss"], ppdu["mcs"]
    if PHYS[phy] == "802.11n":
        per_symbol = (26, 52, 78, 104, 156, 208, 234, 260)[mcs % 8] * streams * (2 if ppdu["width_mhz"] == 40 else 1)
        training = {1: 0, 2: 4, 3: 12, 4: 12}[streams]
        if ppdu["kind"] == "data":
            bits += 32  # it has no delimiter
        return 36 + training + symbols(bits + 22, per_symbol, ppdu["gi_ns"] == 400)
    if PHYS[phy] == "802.11ac":
        return 32 + 4 * streams + (bits + 16) * 10**6 // ppdu["rate_bps"]
    return None


@needs_scenarios
@needs_tshark
class TestOnEveryReadyScenario:
    def test_the_result_is_the_same(self, captured):
        assert without_simulator(captured.result.runs[0]) == without_simulator(captured.plain.runs[0])

    def test_nothing_is_malformed_and_nothing_but_tcp_gives_cause_for_warnings(self, captured):
        nothing_wrong(captured.air)
        nothing_wrong(captured.server)
        nodes = sorted(captured.directory.glob("*.pcapng"), key=lambda file: file.stat().st_size)
        assert {file.stem for file in nodes} == {
            "air",
            "server",
            *(row["name"] for row in captured.result.runs[0]["nodes"]),
        }
        for file in (nodes[0], nodes[-1]):
            nothing_wrong(read(file, ["frame.time_epoch"]))

    def test_the_air_holds_each_ppdu_with_its_mpdus(self, captured):
        ppdus, frames = captured.ppdus(), captured.frames_of_ppdus()
        assert len(frames) == len(ppdus) > 30
        for ppdu, mpdus in zip(ppdus, frames, strict=True):
            assert (nanoseconds(mpdus[0]), len(mpdus)) == (ppdu["start_ns"], ppdu["mpdus"])
            assert sum(frame["radiotap.flags.badfcs"] == "0" for frame in mpdus) == ppdu["decoded"]
            if ppdu["decoded"] == 0:
                assert (
                    mpdus[0]["frame.comment"]
                    == f"lost to {'a ' if ppdu['lost_to'] == 'collision' else ''}{ppdu['lost_to']}"
                )

    def test_retries_and_durations_are_those_of_the_recording(self, captured):
        for ppdu, mpdus in zip(captured.ppdus(), captured.frames_of_ppdus(), strict=True):
            if ppdu["kind"] in ("data", "A-MPDU"):
                assert sum(frame["wlan.fc.retry"] == "1" for frame in mpdus) == ppdu["retried"]
            assert {int(frame["wlan.duration"]) for frame in mpdus} == {math.ceil(ppdu["nav_ns"] / 1000)}
            last = mpdus[-1]
            seen = last["wlan_radio.aggregate.duration"] or last["wlan_radio.duration"]
            expected = as_tshark_computes(ppdu, last["wlan_radio.phy"], int(last["wlan_radio.frequency"]))
            assert seen == ("" if expected is None else str(expected)), ppdu

    def test_rates_are_those_of_the_recording(self, captured):
        for ppdu, mpdus in zip(captured.ppdus(), captured.frames_of_ppdus(), strict=True):
            for frame in mpdus:
                assert float(frame["wlan_radio.data_rate"]) == pytest.approx(
                    ppdu["rate_bps"] / 1e6, rel=1e-2, abs=0.051
                )

    def test_each_segment_at_the_server_is_there_with_its_numbers(self, captured):
        segments = [row for row in captured.result.recording("segment").to_pylist() if row["host"] == "server"]
        packets = [frame for frame in captured.server.frames if frame["ip.proto"] == "6"]
        assert len(packets) == len(segments)
        for row, frame in zip(segments, packets, strict=True):
            assert (nanoseconds(frame), int(frame["ip.id"], 16)) == (row["t_ns"], row["packet"] % 65536)
            numbers = [int(frame[f"tcp.{name}"]) for name in ("seq_raw", "len")]
            assert numbers == [row["seq"], row["len"]]
            assert int(frame["tcp.flags"], 16) == row["flags"]
            if row["flags"] & 0x10:
                assert int(frame["tcp.ack_raw"]) == row["ack"]
            if frame["tcp.options.sack.count"]:
                edges = [int(edge) for edge in frame["tcp.options.sack_le"].split(",")]
                assert (len(edges), edges[0]) == (row["sack_blocks"], row["sack_left"])

    def test_retransmissions_of_tshark_are_retransmissions(self, captured):
        """Where it says "out of order" it guesses by time, and is wrong, as nothing comes to a server out of order here. That a
        SYN is one that was sent again it cannot know where the first was lost on its way."""
        rows = captured.result.recording("segment").to_pylist()
        again = {(row["flow"], row["up"], row["packet"]) for row in rows if row["sent"] and row["again"]}
        at_server = [row for row in rows if row["host"] == "server"]
        packets = [frame for frame in captured.server.frames if frame["ip.proto"] == "6"]
        marked = 0
        for row, frame in zip(at_server, packets, strict=True):
            found = frame["tcp.analysis.retransmission"] or frame["tcp.analysis.out_of_order"]
            was_again = (row["flow"], row["up"], row["packet"]) in again
            if was_again and not found:
                assert row["flags"] & SYN and not row["sent"]
            else:
                assert bool(found) == was_again, (row, frame)
            marked += bool(found)
        assert captured.result.name != "lossy" or marked > 50


def command_line(*arguments):
    return subprocess.run([sys.executable, "-m", "lasthop", *arguments], capture_output=True, text=True, check=False)


@needs_tshark
def test_each_frame_has_an_fcs_as_its_flag_says(small, tmp_path):
    lasthop.run(small, seeds=1, interval_s=None, pcap=tmp_path, pcap_snap=0)
    fields = ["wlan.fcs.status", "radiotap.flags.badfcs", "frame.len", "frame.cap_len", "tcp.checksum.status"]
    air = read(tmp_path / "air.pcapng", fields, (*CHECKS, "wlan.check_checksum:TRUE"))
    assert all(frame["frame.len"] == frame["frame.cap_len"] for frame in air.frames)
    seen = Counter((frame["wlan.fcs.status"], frame["radiotap.flags.badfcs"]) for frame in air.frames)
    assert set(seen) == {("1", "0"), ("0", "1")} and min(seen.values()) > 10
    assert {frame["tcp.checksum.status"] for frame in air.frames if frame["wlan.fcs.status"] == "1"} <= {"1", ""}
    server = read(tmp_path / "server.pcapng", ["tcp.checksum.status", "ip.checksum.status"])
    assert {tuple(frame.values())[:2] for frame in server.frames} == {("1", "1")}


@needs_tshark
def test_a_node_has_its_sent_and_decoded_frames(small, tmp_path):
    result = lasthop.run(small, seeds=1, interval_s=None, record="ppdu", pcap=tmp_path)
    ended = [row for row in result.recording("ppdu").to_pylist() if row["decoded"] is not None]
    for node in {row["node"] for row in ended}:
        frames = read(tmp_path / f"{node}.pcapng", ["frame.packet_flags_direction", "frame.time_epoch"]).frames
        sent = sorted(nanoseconds(frame) for frame in frames if frame["frame.packet_flags_direction"] == "0x00000002")
        assert sent == sorted(row["start_ns"] for row in ended if row["node"] == node)
        # All hear one another here.
        got = sorted(nanoseconds(frame) for frame in frames if frame["frame.packet_flags_direction"] == "0x00000001")
        assert got == sorted(row["start_ns"] for row in ended if row["node"] != node and row["decoded"])


@needs_tshark
def test_names_and_the_measured_interval_are_in_the_capture(small, tmp_path):
    lasthop.run(small, seeds=[4], interval_s=None, pcap=tmp_path)
    for name in ("air", "server", "sta1"):
        file = str(tmp_path / f"{name}.pcapng")
        hosts = subprocess.run(
            ["tshark", "-r", file, "-q", "-z", "hosts"], capture_output=True, text=True, check=False
        ).stdout
        assert "10.0.0.1\tserver" in hosts and "10.1.0.1\tap" in hosts and "10.1.0.2\tsta1" in hosts
        assert b"seed 4; measured from 0.5 s to 2 s" in Path(file).read_bytes()


def test_several_seeds_have_a_folder_each_and_snap_shortens(small, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    done = command_line("run", str(small), "--seeds", "2", "--pcap", "c")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in Path("c").iterdir()) == ["seed-1", "seed-2"]
    names = sorted(path.name for path in Path("c/seed-2").iterdir())
    assert {"air.pcapng", "server.pcapng", "ap.pcapng", "sta1.pcapng"} <= set(names)
    done = command_line(
        "run", str(small), "--seed", "2", "--pcap", "d", "--pcap-snap", "64", "--out", "o", "--record", "tcp"
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in Path("d").iterdir()) == names
    assert Path("d/air.pcapng").stat().st_size < Path("c/seed-2/air.pcapng").stat().st_size
    assert lasthop.read("o").recording("segment").num_rows > 0
    Path("d/mine.txt").write_text("stays")
    done = command_line("run", str(small), "--seed", "1", "--pcap", "d")
    assert "d: captures of the same names are replaced; others that are there stay" in done.stderr
    assert Path("d/air.pcapng").read_bytes() == Path("c/seed-1/air.pcapng").read_bytes()
    assert sorted(path.name for path in Path("d").iterdir()) == sorted([*names, "mine.txt"])


def test_captures_accounts_and_recordings_do_not_change_one_another(small, tmp_path):
    lasthop.run(small, seeds=1, interval_s=None, pcap=tmp_path / "alone")
    both = lasthop.run(small, seeds=1, interval_s=None, pcap=tmp_path / "both", explain=True, record="all")
    for file in (tmp_path / "alone").iterdir():
        assert file.read_bytes() == (tmp_path / "both" / file.name).read_bytes()
    recorded = lasthop.run(small, seeds=1, interval_s=None, explain=True, record="all")
    assert without_simulator(both.runs[0]) == without_simulator(recorded.runs[0])
    for table in recording.table_names():
        assert both.recording(table).equals(recorded.recording(table))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--pcap-snap", "96"], "--pcap-snap: has no effect without --pcap DIR"),
        (
            ["--pcap", "c", "--pcap-snap", "63"],
            "--pcap-snap: 63 bytes per frame is out of range; give 64 to 65535, or 0 for whole frames",
        ),
        (["--pcap", ""], "--pcap: the name of a directory is needed"),
        (["--pcap", "/dev/null/x"], "--pcap /dev/null/x: cannot be written"),
    ],
)
def test_options_that_cannot_be_are_refused(command, small, options, said):
    done = command("run", str(small), *options)
    assert done.returncode == 2 and said in done.stderr
    assert not Path("c").exists()


def test_the_same_from_python(small, tmp_path):
    with pytest.raises(ValueError, match="pcap_snap: has no effect without pcap"):
        lasthop.run(small, seeds=1, pcap_snap=96)
    with pytest.raises(ValueError, match="pcap_snap: 10 bytes per frame"):
        lasthop.run(small, seeds=1, pcap=tmp_path, pcap_snap=10)


def test_a_run_that_is_interrupted_leaves_no_half_capture(small):
    small.write_text(small.read_text().replace('"2 s"', '"20000 s"'))
    line = [sys.executable, "-m", "lasthop", "run", str(small), "--seed", "1", "--pcap", "o"]
    running = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if any(file.stat().st_size for file in Path("o").glob("unfinished/captures/seed-1/air.pcapng")):
            break
        time.sleep(0.05)
    else:
        pytest.fail("no capture was begun")
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == 130
    assert list(Path("o").iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_disk_that_is_full_ends_the_run_with_a_sentence(small, tmp_path):
    resolved = lasthop.load(small).set("duration", "1000 s").resolve()
    (tmp_path / "seed-1").mkdir()
    (tmp_path / "seed-1" / "air.pcapng").symlink_to("/dev/full")
    campaign = _core.Campaign(resolved, [1], 1, None, False, None, (tmp_path, 128))
    began = time.monotonic()
    while not campaign.is_done() and time.monotonic() - began < 60:
        time.sleep(0.05)
    (outcome,) = campaign.take_finished()
    assert outcome.run is None
    assert "air.pcapng: cannot be written: No space left on device" in outcome.error


MOVING = """
name = "moving"
duration = "400 ms"
warmup = "0 s"
[[bss]]
name = "stays"
standard = "802.11g"
channel = 1
beacons = "20 TU"
[[bss]]
name = "moves"
standard = "802.11g"
channel = 1
beacons = "20 TU"
[[station]]
name = "a"
bss = "stays"
[[station]]
name = "b"
bss = "moves"
[[flow]]
station = "*"
transport = "udp"
rate = "saturated"
[[change]]
at = "200 ms"
set = { "channel:moves.ap" = 9 }
"""


@needs_tshark
def test_a_bss_that_moves_has_its_channel_in_beacons_and_headers(tmp_path):
    (tmp_path / "moving.toml").write_text(MOVING)
    scenario = lasthop.load(tmp_path / "moving.toml")
    plain = lasthop.run(scenario, seeds=1, interval_s=None)
    result = lasthop.run(scenario, seeds=1, interval_s=None, pcap=tmp_path / "into")
    assert without_simulator(result.runs[0]) == without_simulator(plain.runs[0])
    found = read(
        tmp_path / "into" / "air.pcapng",
        ["frame.time_epoch", "wlan.bssid", "wlan_radio.frequency", "wlan.ds.current_channel", "wlan.fc.type"],
    )
    nothing_wrong(found)
    seen = {}
    for frame in found.frames:
        # The exchange in progress comes first.
        if frame["wlan.bssid"] and not 200_000_000 <= nanoseconds(frame) < 205_000_000:
            key = (frame["wlan.bssid"], nanoseconds(frame) >= 205_000_000)
            channels = seen.setdefault(key, {"mhz": set(), "number": set()})
            channels["mhz"].add(frame["wlan_radio.frequency"])
            channels["number"].add(frame["wlan.ds.current_channel"])
    stays, moves = sorted({bssid for bssid, _ in seen})
    for key in ((stays, False), (stays, True), (moves, False)):
        assert seen[key] == {"mhz": {"2412"}, "number": {"", "1"}}, key
    # Channel 9 is at 2452 MHz [802.11-2020 §15.4.4.3].
    assert seen[moves, True] == {"mhz": {"2452"}, "number": {"", "9"}}
    # The capture of a node holds the frames that it sent and decoded, none of the other BSS after the move.
    own = read(tmp_path / "into" / "b.pcapng", ["frame.time_epoch", "wlan_radio.frequency"])
    later = [frame for frame in own.frames if nanoseconds(frame) >= 205_000_000]
    assert {frame["wlan_radio.frequency"] for frame in later} == {"2452"}
    assert len(later) > 100
