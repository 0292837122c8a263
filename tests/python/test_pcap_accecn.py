"""Accurate ECN in captures: tshark reads flags and options, and they hold what the capture itself shows."""

import lasthop
import pytest
from lasthop.foreign.analysis import analyze
from test_pcap import needs_tshark, nothing_wrong, read

SCENARIO = """
duration = "3 s"
warmup = "0 s"
[bss]
standard = "802.11n"
[bss.ap]
queue = { kind = "codel", target = "2 ms", ecn = true }
[[station]]
name = "a"
[tcp]
profile = "linux-7.3"
[[flow]]
name = "film"
station = "a"
traffic = "bulk"
direction = "down"
size = "3 MB"
"""
# RFC 9768 §3.2.1: the counters at their start.
FIRST_COUNT, FIRST_CE, FIRST_ECT = 5, 0, 1
NOT_ECT, ECT0, CE = "0", "2", "3"
OPTION = ["tcp.options.acc_ecn.ee1b", "tcp.options.acc_ecn.eceb", "tcp.options.acc_ecn.ee0b"]
FIELDS = ["ip.id", "ip.src", "ip.dsfield.ecn", "tcp.flags.syn", "tcp.flags.ack", "tcp.flags.ae", "tcp.flags.cwr"]
FIELDS += ["tcp.flags.ece", "tcp.flags.ace", "tcp.len", *OPTION]


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    """The folder of the captures of a download through a queue that marks."""
    folder = tmp_path_factory.mktemp("accecn")
    (folder / "scenario.toml").write_text(SCENARIO)
    return folder / "out", lasthop.run(folder / "scenario.toml", seeds=1, pcap=folder / "out")


@needs_tshark
def test_tshark_reads_the_handshake_and_the_counters(captures):
    folder, _ = captures
    found = read(folder / "a.pcapng", FIELDS)
    nothing_wrong(found)
    frames = [frame for frame in found.frames if frame["tcp.len"]]
    syn, syn_ack = (next(f for f in frames if f["tcp.flags.syn"] == "1" and f["tcp.flags.ack"] == ack) for ack in "01")
    bits = ["tcp.flags.ae", "tcp.flags.cwr", "tcp.flags.ece"]
    assert ([syn[bit] for bit in bits], syn["ip.dsfield.ecn"]) == (["1", "1", "1"], NOT_ECT)
    assert [syn_ack[bit] for bit in bits] == ["0", "1", "0"], "the SYN arrived as not ECT"
    assert [syn_ack[name] for name in OPTION] == ["1", "0", "1"]
    station = syn_ack["ip.src"]
    seen, marked, tallies = set(), 0, {(FIRST_CE, FIRST_ECT)}
    ce, ect0 = FIRST_CE, FIRST_ECT
    for frame in frames:
        if frame["tcp.flags.syn"] == "1":
            continue
        if frame["ip.src"] == station:
            assert frame["ip.dsfield.ecn"] == ECT0, "an ACK is ECN-capable"
            assert frame[OPTION[0]] == "1", "no ECT(1) came"
            assert (int(frame[OPTION[1]]), int(frame[OPTION[2]])) in tallies
            last = frame
        elif frame["ip.id"] not in seen:
            seen.add(frame["ip.id"])
            marked += frame["ip.dsfield.ecn"] == CE
            ce += int(frame["tcp.len"]) * (frame["ip.dsfield.ecn"] == CE)
            ect0 += int(frame["tcp.len"]) * (frame["ip.dsfield.ecn"] == ECT0)
            tallies.add((ce, ect0))
            assert int(frame["tcp.len"]) <= 1500 - 40 - 12 - 12, "the option takes 12 bytes"
    assert marked >= 1
    assert (int(last[OPTION[1]]), int(last[OPTION[2]])) == (ce, ect0)
    assert int(last["tcp.flags.ace"], 0) == (FIRST_COUNT + marked) % 8


def test_analyze_reads_such_captures(captures):
    folder, result = captures
    (flow,) = result.runs[0]["flows"]
    (read_back,) = analyze([folder / "server.pcapng"]).runs[0]["flows"]
    for key in ("bytes_delivered", "segments_sent", "segments_retransmitted"):
        assert read_back[key] == flow[key], key
    assert flow["bytes_delivered"] == 3_000_000
