"""`lasthop analyze`: what captures of a run give is what the run gave; what tshark counts; frames that are missing; bad files."""

from __future__ import annotations

import json
import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from test_recording import ROOT, needs_scenarios, short

import lasthop
from lasthop.analysis import analyze

pytestmark = needs_scenarios
needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed: apt-get install tshark")

FROM_S, TO_S = 0.5, 2.0
# Captures go on for longer, so that no PPDU and no answer is cut off at the end of what is compared.
CAPTURED_S = 2.2
# Without RTS: an RTS that is not answered does not tell what it announced.
NAMES = ["download-11n", "khademi2011-uplink-11b", "tcp-nup-ndown", "saturation-11a", "hashimoto2008-updown-11a", "anomaly-3-stations"]
# Of these the sender draws its RTT samples as the linux profile does, over enough of them.
RTT_NAMES = ["download-11n", "tcp-nup-ndown", "anomaly-3-stations"]


class RoundTrip:
    """A run, and its captures."""

    def __init__(self, name: str, directory: Path) -> None:
        scenario = short(ROOT / "scenarios" / f"{name}.toml", TO_S, FROM_S)
        self.name = name
        self.run = lasthop.run(scenario, seeds=1, interval_s=None).runs[0]
        lasthop.run(scenario.set("duration", f"{CAPTURED_S} s"), seeds=1, interval_s=None, pcap=directory)
        self.air, self.server = directory / "air.pcapng", directory / "server.pcapng"
        self.both = analyze([self.air, self.server], FROM_S, TO_S, None).runs[0]

    def pairs(self, table: str):
        """Rows of the run, each with that of the captures."""
        keys = ("id", "name", "node", "peer")
        rows = {tuple(row.get(key) for key in keys): row for row in self.both[table]}
        return [(row, rows[tuple(row.get(key) for key in keys)]) for row in self.run[table]]


@pytest.fixture(scope="module", params=NAMES)
def round_trip(request, tmp_path_factory):
    return RoundTrip(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def download(tmp_path_factory):
    return RoundTrip("download-11n", tmp_path_factory.mktemp("download"))


def test_the_mac_is_read_exactly(round_trip):
    for row, read in round_trip.pairs("nodes"):
        assert [read[key] for key in ("frames_sent", "frames_retried")] == [row[key] for key in ("frames_sent", "frames_retried")]
    for row, read in round_trip.pairs("links"):
        for key in ("frames_sent", "retry_fraction", "mean_data_rate_bps", "mpdus_per_ampdu_mean", "mpdu_loss_fraction"):
            # A link over which nothing is sent has no rate.
            assert read[key] == row[key] or read[key] == pytest.approx(row[key], rel=1e-12), key


def test_airtime_is_that_of_the_run(round_trip):
    for table in ("nodes", "links"):
        for row, read in round_trip.pairs(table):
            assert read["airtime_fraction"] == pytest.approx(row["airtime_fraction"], rel=1e-3)
    for key in ("busy_fraction", "idle_fraction"):
        assert round_trip.both["medium"][key] == pytest.approx(round_trip.run["medium"][key], rel=1e-3)


def test_goodput_is_exact_with_the_server_beside_the_air(round_trip):
    for row, read in round_trip.pairs("flows"):
        assert read["bytes_delivered"] == row["bytes_delivered"], row["id"]


def test_nothing_is_missed_by_a_perfect_sniffer(round_trip):
    missed = round_trip.both["capture"]["missed"]
    assert (missed["fraction"], missed["sequence_numbers_never_heard"]) == (0.0, 0)
    assert missed["tcp_bytes_never_seen"] in (0, None)


def test_rtt_is_that_of_the_sender_where_a_wire_stands_beside_it(round_trip):
    for row, read in round_trip.pairs("flows"):
        if row["direction"] == "up" or row["transport"] == "udp":
            assert read["rtt_mean_s"] is None
        elif round_trip.name in RTT_NAMES:
            assert read["rtt_mean_s"] == pytest.approx(row["rtt_mean_s"], rel=0.01)


def test_the_air_alone_gives_goodput_within_a_percent(download):
    alone = analyze([download.air], FROM_S, TO_S, None).runs[0]
    assert alone["totals"]["goodput_bps"] == pytest.approx(download.run["totals"]["goodput_bps"], rel=0.01)


def test_what_captures_do_not_tell_is_null(round_trip):
    for node in round_trip.both["nodes"]:
        for key in ("queue_drops", "queue_mean_packets", "collision_probability"):
            assert node[key] is None, key
    assert all(flow.get("cwnd_mean_segments") is None for flow in round_trip.both["flows"] if flow["transport"] == "tcp")


def blocks(data: bytes):
    """The blocks of a pcapng file."""
    at = 0
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 4)[0]
        yield data[at : at + length]
        at += length


def is_packet(block: bytes) -> bool:
    return struct.unpack_from("<I", block)[0] == 6


def test_five_percent_of_the_frames_taken_out_are_estimated_as_five(download, tmp_path):
    draw = random.Random(5)
    thinned = tmp_path / "thinned.pcapng"
    kept = [block for block in blocks(download.air.read_bytes()) if not is_packet(block) or draw.random() >= 0.05]
    thinned.write_bytes(b"".join(kept))
    run = analyze([thinned], FROM_S, TO_S, None).runs[0]
    missed = run["capture"]["missed"]
    assert missed["fraction"] == pytest.approx(0.05, abs=0.005)
    assert missed["fraction_low"] <= 0.05 <= missed["fraction_high"]
    assert missed["tcp_bytes_never_seen"] > 0
    assert run["totals"]["goodput_bps"] == pytest.approx(download.run["totals"]["goodput_bps"], rel=0.01)


def fields_of(file: Path, *names: str) -> list[list[str]]:
    line = ["tshark", "-n", "-r", str(file), "-T", "fields", "-E", "separator=|"]
    done = subprocess.run([*line, *(part for name in names for part in ("-e", name))], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [text.split("|") for text in done.stdout.splitlines()]


def is_within(time_s: str) -> bool:
    return FROM_S <= float(time_s) < TO_S


@needs_tshark
def test_tshark_counts_the_same_retries(round_trip):
    frames = fields_of(round_trip.air, "frame.time_epoch", "wlan.fc.retry")
    retried = sum(retry in ("1", "True") for time_s, retry in frames if is_within(time_s))
    assert round_trip.both["capture"]["air"]["frames_retried"] == retried
    assert round_trip.both["capture"]["air"]["frames"] == sum(is_within(time_s) for time_s, _ in frames)


@needs_tshark
def test_tshark_finds_the_same_retransmissions_at_the_server(download):
    names = ("frame.time_epoch", "tcp.analysis.retransmission", "tcp.analysis.out_of_order", "tcp.len", "ip.src")
    packets = [fields for fields in fields_of(download.server, *names) if is_within(fields[0]) and fields[4] == "10.0.0.1"]
    # tshark takes what is sent again within 3 ms, or within the RTT of the handshake, for out of order; a sender knows better.
    again = sum(bool(retransmission or out_of_order) for _, retransmission, out_of_order, _, _ in packets)
    assert sum(flow["segments_retransmitted"] for flow in download.both["flows"]) == again
    assert sum(flow["segments_sent"] for flow in download.both["flows"]) == sum(int(fields[3]) > 0 for fields in packets)


def test_the_command_prints_what_was_missed_first_and_writes_a_result(command, download, tmp_path):
    out = tmp_path / "out"
    done = command("analyze", download.air, download.server, "--from", "500ms", "--to", "2s", "--out", out, "--json", tmp_path / "a.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("missed by the sniffer: 0.00 % of frames")
    document = json.loads((out / "result.json").read_text())
    assert document["runs"][0]["totals"] == download.both["totals"]
    assert json.loads((tmp_path / "a.json").read_text()) == document
    for kind in ("goodput", "airtime", "goodput_over_time"):
        drawn = command("plot", out, "--kind", kind, "--out", tmp_path / f"{kind}.csv")
        assert drawn.returncode == 0, drawn.stderr
    compared = command("compare", out, out)
    assert compared.returncode == 0, compared.stderr


def test_series_add_up_to_the_summary(download, tmp_path):
    series = analyze([download.air, download.server], FROM_S, TO_S, 0.5).timeseries
    goodput = series[series["metric"] == "goodput_bps"].groupby("time_s")["value"].sum()
    assert goodput.mean() == pytest.approx(download.both["totals"]["goodput_bps"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds neither frames"),
        (b"\x00" * 64, "byte 0: the file's magic number is 0"),
        (b"garbage that is no capture", "byte 0: the file's magic number"),
    ],
)
def test_what_is_no_capture_is_refused_with_its_place(command, content, said, tmp_path):
    file = tmp_path / "bad.pcap"
    file.write_bytes(content)
    done = command("analyze", file)
    assert done.returncode == 2
    assert done.stderr.startswith(f"lasthop: {file}: ") and said in done.stderr and done.stderr.count("\n") == 1


def test_a_file_that_is_not_there_is_named(command, tmp_path):
    done = command("analyze", tmp_path / "none.pcap")
    assert (done.returncode, done.stderr) == (2, f"lasthop: {tmp_path / 'none.pcap'}: No such file or directory\n")


def test_a_truncated_capture_is_read_up_to_its_end(download, tmp_path):
    cut = tmp_path / "cut.pcapng"
    data = download.air.read_bytes()
    cut.write_bytes(data[: len(data) // 2 + 3])
    result = analyze([cut])
    assert result.runs[0]["totals"]["goodput_bps"] > 0
    assert any("the last record: of" in warning for warning in result.warnings)


def test_a_capture_in_disorder_is_told_of(download, tmp_path):
    whole = list(blocks(download.air.read_bytes()))
    head = [block for block in whole if not is_packet(block)]
    packets = [block for block in whole if is_packet(block)]
    random.Random(1).shuffle(packets)
    file = tmp_path / "shuffled.pcapng"
    file.write_bytes(b"".join(head + packets))
    result = analyze([file], interval_s=None)
    assert any("are before those in front of them" in warning for warning in result.warnings)


def test_flipped_bytes_give_an_error_or_a_count(download, tmp_path):
    draw = random.Random(7)
    whole = b"".join(list(blocks(download.air.read_bytes()))[:400])
    for number in range(40):
        data = bytearray(whole)
        for _ in range(draw.randrange(1, 60)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        file = tmp_path / f"{number}.pcapng"
        file.write_bytes(data)
        try:
            analyze([file], interval_s=None)
        except ValueError as error:
            assert str(file) in str(error)


@pytest.mark.parametrize(("begin", "end", "said"), [("90s", None, "--from"), ("1s", "1s", "--to"), (None, "0s", "--to")])
def test_a_window_without_packets_is_refused(command, download, begin, end, said):
    options = [*(["--from", begin] if begin else []), *(["--to", end] if end else [])]
    done = command("analyze", download.air, *options)
    assert done.returncode == 2 and f"lasthop: {said}: " in done.stderr
