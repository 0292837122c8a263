"""Captures of QUIC flows by tshark and by lasthop itself, and the list of congestion controls."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter

import lasthop
import pytest

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
    apart = {"bbr", "bbr3", "dctcp", "prague", "python", "c", "bpf"}
    assert {name for name, of in over.items() if of == "TCP"} == apart
    assert {of for name, of in over.items() if name not in apart} == {"TCP, QUIC"}
    assert command("list", "congestion_control").stdout.splitlines()[0].endswith("over")


def test_code_of_ones_own_is_refused_over_quic(tmp_path):
    file = tmp_path / "quic.toml"
    (tmp_path / "mine.py").write_text("")
    file.write_text(f'{SCENARIO}[quic]\ncongestion_control = {{ kind = "python", file = "mine.py", class = "Mine" }}\n')
    with pytest.raises(lasthop.ScenarioError, match="code of your own does not control QUIC yet"):
        lasthop.load(file).resolve()
