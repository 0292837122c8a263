"""Both ways of connections in captures: segments, bytes and retransmissions of each; MPTCP and QUIC; against tshark."""

from __future__ import annotations

import hashlib
import ipaddress
import struct
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import lasthop
import pytest
from lasthop.foreign.analysis import analyze
from test_analyze import blocks, is_packet
from test_encapsulations import WAYS, Packet, needs_tshark, pcap, written
from test_recording import ROOT, needs_scenarios, short

pytestmark = needs_scenarios

FIN, SYN, RST, ACK = 1, 2, 4, 16
STATION, SERVER = "10.0.0.1", "192.0.2.80"


@dataclass(frozen=True)
class Segment:
    """A TCP segment of `length` bytes of payload, from `port` of a station or back."""

    time_ms: int
    up: bool
    flags: int
    seq: int
    ack: int
    length: int = 0
    options: bytes = b""
    station: str = STATION
    port: int = 40000

    def packet(self) -> tuple[int, bytes, int]:
        ends = [(self.station, self.port), (SERVER, 443)]
        (source, from_port), (destination, to_port) = ends if self.up else ends[::-1]
        words = 5 + len(self.options) // 4
        tcp = struct.pack(">HHIIBBHHH", from_port, to_port, self.seq, self.ack, words << 4, self.flags, 65535, 0, 0)
        return ip_packet(self.time_ms, 6, source, destination, tcp + self.options + bytes(self.length))


def ip_packet(time_ms: int, protocol: int, source: str, destination: str, payload: bytes) -> tuple[int, bytes, int]:
    addresses = b"".join(ipaddress.ip_address(address).packed for address in (source, destination))
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol, 0) + addresses
    return 1000 * (10**6 + time_ms), head + payload, 20 + len(payload)


def capture(file: Path, segments) -> Path:
    return pcap(file, 101, [segment.packet() for segment in segments])


def flows_of(run) -> dict[str, dict]:
    return {seen["id"]: {**row, **seen} for row, seen in zip(run["flows"], run["capture"]["flows"], strict=True)}


def counts_of(capture, transport: str = "tcp") -> dict[str, tuple[int, ...]]:
    names = ("packets_seen", "packets_with_data_seen", "bytes_seen", "retransmissions_seen")
    return {way: tuple(capture[transport][way].get(name, 0) for name in names) for way in ("up", "down")}


HANDSHAKE = [
    Segment(0, True, SYN, 99, 0),
    Segment(10, False, SYN | ACK, 999, 100),
    Segment(11, True, ACK, 100, 1000),
]
EXCHANGE = [
    *HANDSHAKE,
    Segment(12, True, ACK, 100, 1000, 300),
    # The request is lost behind this point, and sent again.
    Segment(320, True, ACK, 100, 1000, 300),
    Segment(330, False, ACK, 1000, 400, 1400),
    Segment(331, False, ACK, 2400, 400, 600),
    Segment(332, True, ACK, 400, 3000),
    Segment(400, True, ACK | FIN, 400, 3000),
    Segment(500, True, ACK | FIN, 400, 3000),
    Segment(510, False, ACK | FIN, 3000, 401),
]


def test_both_ways_of_a_connection_are_flows(tmp_path):
    run = analyze([capture(tmp_path / "exchange.pcap", EXCHANGE)], None, None, None).runs[0]
    flows = flows_of(run)
    up, down = flows[f"{STATION}.up"], flows[f"{STATION}.down"]
    assert (up["bytes_delivered"], up["bytes_seen"], up["retransmissions_seen"]) == (300, 600, 1)
    assert (down["bytes_delivered"], down["bytes_seen"], down["retransmissions_seen"]) == (2000, 2000, 0)
    assert (up["packets_seen"], up["packets_with_data_seen"], up["syn_fin_retransmissions_seen"]) == (7, 2, 1)
    assert (down["packets_seen"], down["packets_with_data_seen"], down["syn_fin_retransmissions_seen"]) == (4, 2, 0)
    assert (up["answers"], down["answers"]) == (f"{STATION}.down", None)
    assert run["totals"]["goodput_bps"] == run["totals"]["goodput_up_bps"] + run["totals"]["goodput_down_bps"]
    assert counts_of(run["capture"]) == {"up": (7, 2, 600, 1), "down": (4, 2, 2000, 0)}


def test_goodput_of_one_direction_alone_is_unknown(command, tmp_path):
    for way in (True, False):
        segments = [segment for segment in EXCHANGE if segment.up == way]
        result = analyze([capture(tmp_path / "one.pcap", segments)], None, None, 0.1)
        ((flow, row),) = flows_of(result.runs[0]).items()
        assert flow == f"{STATION}.{'up' if way else 'down'}"
        assert row["goodput_bps"] is None and row["bytes_delivered"] is None
        assert row["bytes_seen"] == (600 if way else 2000)
        totals = result.runs[0]["totals"]
        assert totals["goodput_bps"] is None and totals[f"goodput_{'up' if way else 'down'}_bps"] is None
        assert "goodput is unknown" in " ".join(result.warnings)
        assert result.runs[0]["capture"]["tcp"]["connections_seen_one_way"] == 1
    done = command("analyze", tmp_path / "one.pcap")
    assert done.returncode == 0
    assert "goodput (Mbit/s)" in done.stdout
    (row,) = (line for line in done.stdout.splitlines() if line.startswith(f"{STATION}.down") and " tcp " in line)
    assert row.split()[1:3] == ["tcp", "-"]


def test_a_connection_of_many_seen_one_way_leaves_the_goodput_known(tmp_path):
    alone = [Segment(600, True, ACK, 100, 1000, 10, port=50000)]
    run = analyze([capture(tmp_path / "many.pcap", [*EXCHANGE, *alone])], None, None, None).runs[0]
    up = flows_of(run)[f"{STATION}.up"]
    # 10 of 610 bytes are of the connection without acknowledgements.
    assert up["bytes_delivered"] == 300 and up["bytes_seen"] == 610


def test_connections_without_data_are_counted(command, tmp_path):
    segments = [*HANDSHAKE, Segment(20, True, ACK | FIN, 100, 1000), Segment(300, True, ACK | FIN, 100, 1000)]
    file = capture(tmp_path / "empty.pcap", segments)
    done = command("analyze", file)
    assert done.returncode == 0 and "TCP connections without data: 1" in done.stderr
    run = analyze([file], None, None, None).runs[0]
    tcp = run["capture"]["tcp"]
    assert run["flows"] == [] and tcp["connections_without_data"] == 1
    assert (tcp["up"]["packets_seen"], tcp["down"]["packets_seen"]) == (4, 1)
    assert tcp["up"]["syn_fin_retransmissions_seen"] == 1


def test_a_byte_that_keeps_a_connection_alive_is_no_retransmission(tmp_path):
    probes = [Segment(1000 * n, True, ACK, 399, 3000, 1) for n in (1, 2, 3)]
    run = analyze([capture(tmp_path / "alive.pcap", [*EXCHANGE[:8], *probes])], None, None, None).runs[0]
    assert flows_of(run)[f"{STATION}.up"]["retransmissions_seen"] == 1


@pytest.mark.parametrize(("version", "digest"), [(0, hashlib.sha1), (1, hashlib.sha256)])
def test_subflows_of_mptcp_are_found_by_keys_and_tokens(command, tmp_path, version, digest):
    keys = [bytes(range(8)), bytes(range(8, 16))]
    token = digest(keys[1]).digest()[:4]

    def capable(*keys: bytes) -> bytes:
        return struct.pack("BBBB", 30, 4 + 8 * len(keys), version, 1) + b"".join(keys)

    def handshake(start: int, station: str, options: list[bytes]) -> list[Segment]:
        flags = [SYN, SYN | ACK, ACK, ACK]
        lengths = [0, 0, 0, 500]
        numbers = [(99, 0), (999, 100), (100, 1000), (100, 1000)]
        return [
            Segment(start + 10 * n, n != 1, flags[n], *numbers[n], lengths[n], options[n], station) for n in range(4)
        ] + [Segment(start + 50, False, ACK, 1000, 600, 0, b"", station)]

    join = struct.pack("BBBB", 30, 12, 0x10, 2) + token + bytes(4)
    answer = struct.pack("BBBB", 30, 16, 0x10, 2) + bytes(12)
    third = struct.pack("BBBB", 30, 24, 0x10, 0) + bytes(20)
    first_options = [capable(*keys[:1]) if version == 0 else capable(), capable(keys[1]), capable(*keys), b""]
    segments = [
        *handshake(0, "10.0.0.1", first_options),
        *handshake(100, "10.1.0.1", [join, answer, third, b""]),
        # A host whose peer does not answer with the option.
        *handshake(200, "10.2.0.1", [first_options[0], b"", b"", b""]),
    ]
    file = capture(tmp_path / "mptcp.pcap", segments)
    (connection,) = analyze([file], None, None, None).runs[0]["capture"]["mptcp"]
    assert connection["version"] == version
    assert [(s["station"], s["has_joined"], s["flows"]) for s in connection["subflows"]] == [
        ("10.0.0.1:40000", False, ["10.0.0.1.up"]),
        ("10.1.0.1:40000", True, ["10.1.0.1.up"]),
    ]
    done = command("analyze", file)
    assert (
        f"MPTCP connection 1 (version {version}): 10.0.0.1:40000 to {SERVER}:443 (10.0.0.1.up); "
        f"10.1.0.1:40000 to {SERVER}:443 (10.1.0.1.up)\n"
    ) in done.stdout


def quic_datagram(time_ms: int, up: bool, payload: bytes) -> tuple[int, bytes, int]:
    ends = [(STATION, 50000), (SERVER, 443)]
    (source, from_port), (destination, to_port) = ends if up else ends[::-1]
    udp = struct.pack(">HHHH", from_port, to_port, 8 + len(payload), 0)
    return ip_packet(time_ms, 17, source, destination, udp + payload)


def long_header(first: int, version: int, token: bytes, length: int) -> bytes:
    ids = b"\x08\x01\x02\x03\x04\x05\x06\x07\x08\x00"
    return struct.pack(">BI", first, version) + ids + token + struct.pack(">H", 0x4000 | length) + bytes(length)


def quic(version: int, spins: bool):
    """A handshake, and packets every 5 ms with an RTT of 40 ms, as seen at the client."""
    initial, handshake = (0xC0, 0xE0) if version == 1 else (0xD0, 0xF0)
    yield quic_datagram(0, True, long_header(initial, version, b"\x00", 1180))
    both = long_header(initial, version, b"\x00", 100) + long_header(handshake, version, b"", 900)
    yield quic_datagram(40, False, both)
    yield quic_datagram(41, True, long_header(handshake, version, b"", 60) + b"\x40" + bytes(40))
    for number in range(200):
        time_ms = 45 + 5 * number
        spin = 0x20 if spins and number // 8 % 2 else 0
        echoed = 0x20 if spins and number >= 8 and (number - 8) // 8 % 2 else 0
        yield quic_datagram(time_ms, True, bytes([0x40 | spin]) + bytes(50))
        yield quic_datagram(time_ms + 1, False, bytes([0x40 | echoed]) + bytes(1000))


@pytest.mark.parametrize(("version", "name"), [(1, "1"), (0x6B3343CF, "2")])
@pytest.mark.parametrize("spins", [True, False])
def test_packets_of_quic_are_counted_and_its_spin_bit_shows_the_rtt(command, tmp_path, version, name, spins):
    file = pcap(tmp_path / "quic.pcap", 101, quic(version, spins))
    flows = flows_of(analyze([file], None, None, None).runs[0])
    up, down = (flows[f"{STATION}.{way}"]["quic"] for way in ("up", "down"))
    kinds = ("initial", "zero_rtt", "handshake", "retry", "short")
    assert [up[kind] for kind in kinds] == [1, 0, 1, 0, 201]
    assert [down[kind] for kind in kinds] == [1, 0, 1, 0, 200]
    assert up["versions"] == down["versions"] == [name]
    assert up["original_connection_ids"] == ["0102030405060708"]
    for way in (up, down):
        assert way["spin_rtt_mean_s"] == (pytest.approx(0.04) if spins else None)
        assert way["spin_rtt_min_s"] == (pytest.approx(0.04) if spins else None)
    done = command("analyze", file)
    assert f"{STATION}.up" in done.stdout and "spin RTT (ms)" in done.stdout


@needs_tshark
@pytest.mark.parametrize("version", [1, 0x6B3343CF])
def test_tshark_counts_the_same_packets_of_quic(tmp_path, version):
    file = pcap(tmp_path / "quic.pcap", 101, quic(version, False))
    fields = ["-e", "ip.src", "-e", "quic.header_form"]
    done = subprocess.run(
        ["tshark", "-r", file, "-n", "-Y", "quic", "-T", "fields", *fields], capture_output=True, text=True, check=True
    )
    told: dict[str, Counter[str]] = defaultdict(Counter)
    for line in done.stdout.splitlines():
        source, forms = line.split("\t")
        told[source].update(forms.split(","))
    flows = flows_of(analyze([file], None, None, None).runs[0])
    for source, way in ((STATION, "up"), (SERVER, "down")):
        own = flows[f"{STATION}.{way}"]["quic"]
        assert (own["initial"] + own["handshake"], own["short"]) == (told[source]["1"], told[source]["0"])


@pytest.fixture(scope="module")
def updown(tmp_path_factory):
    """A run with losses in both directions."""
    directory = tmp_path_factory.mktemp("updown")
    scenario = short(ROOT / "scenarios" / "tcp-nup-ndown.toml", 2.0, 0.1)
    lasthop.run(scenario, seeds=1, interval_s=None, pcap=directory)
    return directory


def conversation() -> list[Packet]:
    """Requests of 500 bytes and answers of 1400 every 10 ms; some of both are sent again 295 ms later."""
    segments = [*HANDSHAKE]
    for number in range(400):
        time_ms, seq, ack = 20 + 10 * number, 100 + 500 * number, 1000 + 1400 * number
        request = Segment(time_ms, True, ACK, seq, ack, 500)
        answer = Segment(time_ms + 5, False, ACK, ack, seq + 500, 1400)
        segments += [request, answer]
        if number % 20 == 7:
            segments.append(replace(request, time_ms=time_ms + 297))
        if number % 25 == 9:
            segments.append(replace(answer, time_ms=time_ms + 293))
    return [Packet(*segment.packet()) for segment in sorted(segments, key=lambda segment: segment.time_ms)]


def told_by_tshark(file: Path) -> dict[bool, tuple[int, ...]]:
    """Segments, those with data, bytes, and retransmissions, by whether the source is the station."""
    names = ("tcp.dstport", "tcp.len", "tcp.analysis.retransmission", "tcp.analysis.out_of_order")
    fields = [part for name in names for part in ("-e", name)]
    done = subprocess.run(
        # tshark 4.0 knows one port of VXLAN.
        [
            "tshark",
            "-r",
            file,
            "-n",
            "-d",
            "udp.port==8472,vxlan",
            "-Y",
            "tcp",
            "-T",
            "fields",
            "-E",
            "occurrence=l",
            *fields,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    counts: dict[bool, list[int]] = {True: [0] * 4, False: [0] * 4}
    for line in done.stdout.splitlines():
        destination, length, again, disordered = line.split("\t")
        own = counts[destination == "443"]
        own[0] += 1
        own[1] += int(length) > 0
        own[2] += int(length)
        own[3] += int(length) > 0 and bool(again or disordered)
    return {way: tuple(own) for way, own in counts.items()}


# tshark 4.0 takes bytes behind a control word for Ethernet only if told so, reassembles the fragment, and reads no IPv6 packet without a length.
UNREAD_BY_TSHARK = {"MPLS pseudo-wire", "IPv6 with extensions", "IPv6 without length"}


@needs_tshark
@pytest.mark.parametrize("way", WAYS)
def test_tshark_counts_the_same_segments_bytes_and_retransmissions_both_ways(tmp_path, way):
    file = written(conversation(), way, tmp_path / "way.pcap")
    own = counts_of(analyze([file], None, None, None).runs[0]["capture"])
    # 400 requests and 20 again, with the handshake's 2; 400 answers and 16 again, with its 1.
    assert own == {"up": (422, 420, 210_000, 20), "down": (417, 416, 582_400, 16)}
    if way not in UNREAD_BY_TSHARK:
        told = told_by_tshark(file)
        assert own == {"up": told[True], "down": told[False]}


def test_the_air_and_a_wire_in_one_file_equal_two_files(updown, tmp_path):
    air, server = (blocks((updown / name).read_bytes()) for name in ("air.pcapng", "server.pcapng"))
    air, server = list(air), list(server)
    interfaces = [[block for block in all_blocks if block[:4] == b"\x01\0\0\0"] for all_blocks in (air, server)]
    names = [block for block in (*air, *server) if block[:4] == b"\x04\0\0\0"]
    shift = len(interfaces[0])
    packets = [
        *(block for block in air if is_packet(block)),
        *(
            block[:8] + struct.pack("<I", struct.unpack_from("<I", block, 8)[0] + shift) + block[12:]
            for block in server
            if is_packet(block)
        ),
    ]
    packets.sort(key=lambda block: struct.unpack_from("<II", block, 12))
    file = tmp_path / "both.pcapng"
    file.write_bytes(b"".join([air[0], *interfaces[0], *interfaces[1], *names, *packets]))
    both = analyze([file], 0.5, 2.0, None).runs[0]
    apart = analyze([updown / "air.pcapng", updown / "server.pcapng"], 0.5, 2.0, None).runs[0]
    for key in ("flows", "totals", "links", "nodes", "medium"):
        assert both[key] == apart[key], key
