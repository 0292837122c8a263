"""Captures of the same air as different sniffers write it: the same totals as the reference, and absent values for unknown ones."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import lasthop
import pytest
import sniffed
from lasthop.cli.analyze import _never_seen_text, text_of
from lasthop.foreign.analysis import analyze
from sniffed import AMPDU, FLAGS, HE, IEEE_802_11, MCS, RADIOTAP, RATE, TIMESTAMP, TSFT, VHT, Frame, each
from test_analyze import peak_kb
from test_recording import ROOT, needs_scenarios, short

pytestmark = needs_scenarios
needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed: apt-get install tshark"
)
DATA = ROOT / "tests/data/captures"

without_tsft = each(lambda frame: frame.without(TSFT, TIMESTAMP))
without_status = each(lambda frame: frame.without(AMPDU))
without_rate = each(lambda frame: frame.without(RATE, MCS, VHT, HE))
without_fcs = each(Frame.without_fcs)


def without_flag(frame: Frame) -> Frame:
    """The frame without radiotap's flag of an FCS."""
    return frame.with_field(FLAGS, bytes([frame.fields[FLAGS][0] & ~sniffed.FCS_AT_END]))


class Air:
    """A short run, and its air."""

    def __init__(self, name: str, directory: Path) -> None:
        self.directory = directory
        lasthop.run(short(ROOT / f"scenarios/{name}.toml", 0.6), seeds=1, interval_s=None, pcap=directory)
        self.frames = sniffed.plain(sniffed.read(directory / "air.pcapng"))
        self.reference = self.written("reference")
        # A TSFT has microseconds, the stamps of this file nanoseconds.
        exact = self.written("exact", without_tsft, record="ppdu")
        self.lasts_ns = sniffed.durations_ns(exact.recording("ppdu").to_pylist())

    def file(self, name: str, *changes: Callable[[list[Frame]], list[Frame]], link_type: int = RADIOTAP) -> Path:
        """The air after some changes."""
        frames = self.frames
        for change in changes:
            frames = change(frames)
        return sniffed.write(self.directory / f"{name}.pcap", frames, link_type)

    def written(self, name: str, *changes, link_type: int = RADIOTAP, record=None):
        """The result of the air after some changes."""
        return analyze([self.file(name, *changes, link_type=link_type)], interval_s=None, record=record)


@pytest.fixture(scope="module", params=["hashimoto2008-updown-11a", "download-11n"])
def air(request, tmp_path_factory):
    return Air(request.param, tmp_path_factory.mktemp(request.param))


def counts(result) -> dict[str, object]:
    """Totals that need no durations."""
    (run,) = result.runs
    capture = run["capture"]
    return {
        "frames": [capture["air"][key] for key in ("frames", "bytes", "frames_retried", "frames_with_bad_fcs")],
        "mpdus": [(link["mpdus"], link["mpdus_retried"]) for link in capture["links"]],
        "attempts": [
            (link["frames_sent"], link["retry_fraction"], link["mpdus_per_ampdu_mean"]) for link in run["links"]
        ],
        "loss": [link["mpdu_loss_fraction"] for link in run["links"]],
        "numbers": [
            capture["missed"][key] for key in ("mpdus_acknowledged", "mpdus_acknowledged_unheard", "sequence_numbers")
        ],
        "delivered": [flow["bytes_delivered"] for flow in run["flows"]],
        "segments": [(flow["segments_seen"], flow["acks"]) for flow in capture["flows"]],
    }


def times(result) -> dict[str, object]:
    """Quantities that need durations and rates."""
    (run,) = result.runs
    return {
        "busy": run["medium"]["busy_fraction"],
        "nodes": [node["airtime_fraction"] for node in run["nodes"]],
        "links": [link["airtime_fraction"] for link in run["links"]],
        "rates": [link["mean_data_rate_bps"] for link in run["links"]],
    }


def stamps(result) -> dict:
    return result.runs[0]["capture"]["air"]["stamps"]


COUNTED = {
    "no TSFT": [without_tsft],
    "no A-MPDU status": [without_status],
    "no A-MPDU status, no TSFT": [without_tsft, without_status],
    "flag without FCS": [without_fcs],
    "FCS without flag": [each(without_flag)],
}


@pytest.mark.parametrize("way", COUNTED)
def test_all_is_equal_without_fields_that_follow_from_others(air, way):
    result = air.written("equal", *COUNTED[way])
    assert counts(result) == counts(air.reference)
    # The TSFT is in microseconds, and so is the duration of the capture by it.
    assert times(result)["rates"] == times(air.reference)["rates"]
    assert times(result)["busy"] == pytest.approx(times(air.reference)["busy"], rel=1e-3)
    assert times(result)["links"] == pytest.approx(times(air.reference)["links"], rel=1e-3)


def test_wrong_flags_of_the_fcs_are_reported(air):
    told = {name: air.written("flags", *COUNTED[name]) for name in ("flag without FCS", "FCS without flag", "no TSFT")}
    found = {
        name: [result.runs[0]["capture"]["air"][key] for key in ("fcs_flag_without_fcs", "fcs_without_flag")]
        for name, result in told.items()
    }
    assert found == {"flag without FCS": [True, False], "FCS without flag": [False, True], "no TSFT": [False, False]}
    assert "frames have no FCS" in text_of(told["flag without FCS"])


UNKNOWN = {
    "no_rate": ([without_rate], RADIOTAP),
    "no_header": ([without_fcs], IEEE_802_11),
    "he_of_several_users": ([each(sniffed.as_he(2, 2))], RADIOTAP),
    "he_on_an_ru": ([each(sniffed.as_he(0, 6))], RADIOTAP),
    "eht": ([each(sniffed.as_eht)], RADIOTAP),
    "no_rate, no status, no TSFT": ([without_rate, without_tsft, without_status], RADIOTAP),
}


@pytest.mark.parametrize("way", UNKNOWN)
def test_frames_of_unknown_duration_count_and_their_airtime_is_absent(air, way):
    changes, link_type = UNKNOWN[way]
    # Without radiotap a frame does not show that its FCS is bad, and cut off frames cannot be checked.
    good = [lambda frames: [frame for frame in frames if frame.is_good]]
    result = air.written("unknown", *good, *changes, link_type=link_type)
    reference = air.written("good", *good)
    (run,), found = result.runs, times(result)
    assert counts(result) == counts(reference)
    assert (found["busy"], run["medium"]["idle_fraction"]) == (None, None)
    sends = [link["frames_sent"] > 0 for link in run["links"]]
    assert all(value is None for value, is_used in zip(found["links"], sends, strict=True) if is_used)
    assert all(value is None for value in found["rates"])
    row = run["capture"]["air"]
    assert row["attempts_of_known_rate_fraction"] == 0
    assert row["ppdus_of_unknown_mode"][way.split(",")[0]] == row["ppdus_of_unknown_duration"]
    (line,) = (line for line in text_of(result).splitlines() if "are unknown (" in line)
    assert "rates" in line and "airtime" in line


def test_triggered_ppdus_have_no_duration_of_their_own(air):
    (run,) = air.written("triggered", each(sniffed.as_he(3, 2))).runs
    assert run["medium"]["busy_fraction"] is None


def test_l_sig_gives_the_duration_of_ppdus_of_any_format(air):
    def with_l_sig(frame: Frame) -> Frame:
        if not sniffed.is_data(frame):
            return frame
        lasts_us = air.lasts_ns[frame.at_ns, frame.transmitter] / 1000
        # LENGTH of HE for several users: 3 ceil((TXTIME - 20) / 4) - 4. [802.11ax-2021 §27.3.11.5]
        length = 3 * -int(-(lasts_us - 20) // 4) - 4
        return sniffed.as_he(2, 2)(frame).with_field(27, struct.pack("<HH", 3, 11 | length << 4))

    result = air.written("l-sig", each(with_l_sig))
    # Durations are rounded up to 4 us: a short PPDU of DSSS or OFDM has 50.
    assert times(result)["busy"] == pytest.approx(times(air.reference)["busy"], rel=0.02)
    assert times(result)["rates"] == [None] * len(times(result)["rates"])
    assert counts(result) == counts(air.reference)


def test_a_few_ppdus_of_unknown_duration_leave_the_rest_known(air):
    """One PPDU of 200 is below the share of 1 % from which on the airtime is absent."""
    hidden = {start for place, start in enumerate(sorted({frame.at_ns for frame in air.frames})) if place % 200 == 7}
    few = each(lambda frame: frame.without(RATE, MCS) if frame.at_ns in hidden else frame)
    result = air.written("few", few)
    row = result.runs[0]["capture"]["air"]
    assert 0 < row["ppdus_of_unknown_duration"] <= row["ppdus"] / 100
    assert times(result)["busy"] == pytest.approx(times(air.reference)["busy"], rel=0.03)
    assert result.runs[0]["capture"]["air"]["ppdus_of_known_duration_fraction"] < 1
    assert "are unknown (" not in text_of(result)


@pytest.mark.parametrize("has_tsft", [False, True])
def test_stamps_of_the_end_are_recognised(air, has_tsft):
    at_end = [sniffed.at_end(air.lasts_ns), sniffed.with_tsft if has_tsft else without_tsft]
    result = air.written("end", *at_end)
    assert stamps(result)["mark"] == "end" and stamps(air.reference)["mark"] == "begin"
    assert counts(result) == counts(air.reference)
    assert times(result)["busy"] == pytest.approx(times(air.reference)["busy"], abs=0.002)
    assert times(result)["links"] == pytest.approx(times(air.reference)["links"], rel=2e-3)
    assert "time stamps: the end of frames" in text_of(result)


@pytest.mark.parametrize("is_sorted", [False, True])
@pytest.mark.parametrize("of_end", [False, True])
def test_jitter_of_30_us_is_harmless(air, is_sorted, of_end):
    before = [sniffed.at_end(air.lasts_ns)] if of_end else []
    result = air.written("jitter", *before, without_tsft, sniffed.jittered(30_000, 1, is_sorted=is_sorted))
    assert counts(result) == counts(air.reference)
    assert times(result)["busy"] == pytest.approx(times(air.reference)["busy"], abs=0.003)
    assert 10e-6 < stamps(result)["jitter_s"] < 60e-6 and not stamps(result)["is_coarse"]


@pytest.mark.parametrize("of_end", [False, True])
def test_jitter_of_300_us_leaves_counts_in_the_order_of_frames(air, of_end):
    before = [sniffed.at_end(air.lasts_ns)] if of_end else []
    result = air.written("jitter", *before, without_tsft, sniffed.jittered(300_000, 1, is_sorted=False))
    assert (times(result)["busy"], stamps(result)["is_coarse"]) == (None, True)
    assert counts(result)["loss"] == pytest.approx(counts(air.reference)["loss"], abs=0.005)
    assert counts(result)["mpdus"] == counts(air.reference)["mpdus"]
    assert "busy and idle time and hidden nodes are unknown" in text_of(result)


@pytest.mark.parametrize("of_end", [False, True])
def test_losses_are_absent_if_frames_are_not_in_the_order_of_the_air(air, of_end):
    before = [sniffed.at_end(air.lasts_ns)] if of_end else []
    result = air.written("disorder", *before, without_tsft, sniffed.jittered(300_000, 1, is_sorted=True))
    (run,) = result.runs
    assert stamps(result)["is_disordered"] and run["medium"]["busy_fraction"] is None
    assert all(link["mpdu_loss_fraction"] is None for link in run["links"])
    assert run["capture"]["missed"]["fraction"] is None and run["simulator"]["sniffer_loss"] is None
    assert counts(result)["mpdus"] == counts(air.reference)["mpdus"]
    assert "losses are unknown" in text_of(result)


@pytest.mark.parametrize("step_ns", [1_000_000, 10_000_000])
def test_coarse_stamps_leave_counts_and_airtime(air, step_ns):
    result = air.written("steps", without_tsft, sniffed.in_steps(step_ns))
    assert stamps(result)["step_s"] == step_ns / 1e9 and stamps(result)["mark"] is None
    assert times(result)["busy"] is None
    for key in ("frames", "mpdus", "attempts", "loss", "segments"):
        assert counts(result)[key] == counts(air.reference)[key]
    if step_ns == 1_000_000:
        # The measured time is known to a step of its 600.
        assert times(result)["links"] == pytest.approx(times(air.reference)["links"], rel=0.02, abs=0.01)
    else:
        # Rates over less than 100 steps are absent.
        assert result.runs[0]["totals"]["goodput_bps"] is None


def test_losses_are_absent_without_answers(air):
    def without_control(frames: list[Frame]) -> list[Frame]:
        return [frame for frame in frames if frame.mac[0] & 0x0C == 0x08]

    (run,) = air.written("data", without_control).runs
    assert all(link["mpdu_loss_fraction"] is None for link in run["links"])
    assert run["capture"]["missed"]["fraction"] is None


def fields_of(file: Path, *names: str) -> list[list[str]]:
    # tshark takes half as long if it leaves out the content of frames, which this test does not read.
    line = ["tshark", "-n", "-r", str(file), "--disable-protocol", "llc", "-T", "fields", "-E", "separator=|"]
    done = subprocess.run(
        [*line, *(part for name in names for part in ("-e", name))], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [text.split("|") for text in done.stdout.splitlines()]


@needs_tshark
@pytest.mark.parametrize("way", [*COUNTED, *UNKNOWN])
def test_totals_are_those_of_tshark(air, way):
    changes, link_type = (COUNTED[way], RADIOTAP) if way in COUNTED else UNKNOWN[way]
    file = air.file("judged", *changes, link_type=link_type)
    row = analyze([file], interval_s=None).runs[0]["capture"]["air"]
    told = fields_of(file, "frame.len", "radiotap.length", "wlan.fc.retry", "wlan.seq", "wlan.fc.type_subtype")
    bytes_ = sum(int(length) - int(header or 0) for length, header, *_ in told)
    # Lengths here have the FCS, whether it was captured or not.
    bytes_ += 4 * len(told) if without_fcs in changes else 0
    retried = sum(fields[2] in ("1", "True") for fields in told)
    assert (row["frames"], row["bytes"], row["frames_retried"]) == (len(told), bytes_, retried)


def test_random_addresses_take_little_memory_and_are_counted(tmp_path):
    """A flood: each of 150,000 stations sends one segment to one of as many servers."""
    draw, out = random.Random(1), [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, RADIOTAP)]
    header = struct.pack("<BBHIBBHH", 0, 0, 14, 0b1110, 0, 12, 5180, 0x140)
    segment = struct.pack(">HHIIBBHHH", 50_000, 443, 1, 1, 0x50, 0x10, 1000, 0, 0) + bytes(20)
    for number in range(150_000):
        packet = b"\x45\0\0\x3c\0\0\0\0\x40\6\0\0" + draw.randbytes(4) + draw.randbytes(4) + segment
        addresses = b"\2\0\0\0\0\1" + b"\2" + draw.randbytes(5) + bytes(6)
        frame = b"\x08\1\0\0" + addresses + struct.pack("<H", number % 4096 << 4) + b"\xaa\xaa\3\0\0\0\x08\0" + packet
        length = len(header) + len(frame)
        out += [struct.pack("<IIII", number // 10_000, number % 10_000 * 100_000, length, length), header, frame]
    file = tmp_path / "flood.pcap"
    file.write_bytes(b"".join(out))
    # Python and its packages take some 100 MB; state for each address took 3 kB.
    assert peak_kb(file) < 250_000
    capture = analyze([file], interval_s=None).runs[0]["capture"]
    assert capture["air"]["frames"] == 150_000
    assert capture["addresses_left_out"] == capture["addresses_left_out_seen_once"] == 150_000
    assert capture["flows_left_out"] > 40_000


def of_data(name: str):
    return analyze([DATA / f"{name}.pcap"], interval_s=None)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("a-fcs-flag-without-fcs", "a-reference"),
        ("a-radiotap-two-present-words", "a-reference"),
        ("n-ampdu-same-tsft-no-status", "n-reference"),
    ],
)
def test_small_captures_are_as_their_references(name, reference):
    assert counts(of_data(name)) == counts(of_data(reference))
    assert times(of_data(name)) == times(of_data(reference))


def test_reference_captures_have_known_totals():
    """Taken from the runs that wrote them."""
    for name, busy, delivered, loss in (
        ("a-reference", 0.678, [46_336, 94_120], [0.238, 0.220, 0.226, 0.268]),
        ("n-reference", 0.912, [172_312, 162_176], [0, 0, 0.009]),
    ):
        result = of_data(name)
        assert times(result)["busy"] == pytest.approx(busy, abs=5e-4)
        assert counts(result)["delivered"] == delivered
        assert [value for value in counts(result)["loss"] if value is not None] == pytest.approx(loss, abs=5e-4)


def test_a_capture_without_radiotap_has_counts_and_no_times():
    result, reference = of_data("a-without-radiotap"), of_data("a-reference")
    assert counts(result)["delivered"] == counts(reference)["delivered"]
    bad = reference.runs[0]["capture"]["air"]["frames_with_bad_fcs"]
    assert counts(result)["frames"][0] == counts(reference)["frames"][0] - bad
    assert times(result)["busy"] is None and set(times(result)["rates"]) == {None}
    assert "no radiotap header (link type 105)" in text_of(result)


def test_bytes_that_were_never_seen_are_before_the_capture_if_no_frame_was_missed():
    counts = {"mpdus_acknowledged_unheard": 0, "sequence_numbers_never_heard": 0, "tcp_bytes_never_seen": 15928}
    assert _never_seen_text(counts).endswith(
        "goodput includes; as no frame was missed, they were sent before the capture began"
    )
    assert _never_seen_text(counts | {"sequence_numbers_never_heard": 2}).endswith(
        ": 15928 bytes, which goodput includes"
    )
    assert _never_seen_text(counts | {"tcp_bytes_never_seen": 0}).endswith(": 0 bytes")
