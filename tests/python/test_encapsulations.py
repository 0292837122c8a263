"""One capture of TCP as other sniffers and networks write it down: its numbers do not change."""

from __future__ import annotations

import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

import lasthop
import pytest
from lasthop.foreign.analysis import analyze
from test_analyze import blocks, is_packet
from test_recording import ROOT, needs_scenarios, short

pytestmark = needs_scenarios
needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed: apt-get install tshark"
)

ETHERNET_BYTES = 14
AP, STATION, SERVER = (bytes([2, 0, 0, 0, 0, last]) for last in (1, 2, 9))


@dataclass(frozen=True)
class Packet:
    """An IPv4 packet: its time, the captured part, and its length."""

    time_us: int
    kept: bytes
    length: int

    @property
    def is_to_station(self) -> bool:
        return self.kept[12:16] == b"\x0a\x00\x00\x01"


def packets_of(capture: Path) -> list[Packet]:
    packets = []
    for block in (block for block in blocks(capture.read_bytes()) if is_packet(block)):
        high, low, kept, length = struct.unpack_from("<IIII", block, 12)
        ip = block[28 + ETHERNET_BYTES : 28 + kept]
        packets.append(Packet(((high << 32) + low) // 1000, ip, length - ETHERNET_BYTES))
    return packets


def pcap(file: Path, link_type: int, packets) -> Path:
    """Writes times, captured bytes and lengths."""
    records = (
        struct.pack("<IIII", time_us // 10**6, time_us % 10**6, len(kept), length) + kept
        for time_us, kept, length in packets
    )
    file.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, link_type) + b"".join(records))
    return file


def checksum(header: bytes) -> int:
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(protocol: int, length: int) -> bytes:
    """A header before `length` bytes of payload, from and to hosts that are not those of the flows."""
    first = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, 20 + length, 0, 0, 64, protocol, 0, bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2])
    )
    return first[:10] + struct.pack(">H", checksum(first)) + first[12:]


def ethernet(ether_type: int) -> bytes:
    return SERVER + AP + struct.pack(">H", ether_type)


def before(head: bytes):
    return lambda packet: (head + packet.kept, len(head) + packet.length)


def in_pppoe(packet: Packet):
    head = ethernet(0x8864) + struct.pack(">BBHHH", 0x11, 0, 9, packet.length + 2, 0x21)
    return before(head)(packet)


def in_ip(protocol: int, head: bytes):
    """A tunnel in IPv4, over Ethernet."""
    return lambda packet: before(ethernet(0x0800) + ipv4(protocol, len(head) + packet.length) + head)(packet)


def in_vxlan(port: int):
    def write(packet: Packet):
        inner = struct.pack(">BxxxI", 8, 9 << 8) + ethernet(0x0800)
        length = 8 + len(inner) + packet.length
        head = struct.pack(">HHHH", 50000, port, length, 0) + inner
        return before(ethernet(0x0800) + ipv4(17, length - 8 + 8) + head)(packet)

    return write


def without_length(packet: Packet):
    """As a host writes it that leaves the length to its network card."""
    kept = packet.kept[:2] + bytes(2) + packet.kept[4:]
    return before(ethernet(0x0800))(Packet(packet.time_us, kept, packet.length))


def as_ipv6(extensions: bytes, first: int, *, has_length: bool = True):
    """The same transport in IPv6, behind extension headers, of which `first` is the number of the first."""

    def write(packet: Packet):
        source, destination = (bytes.fromhex("20010db8") + bytes(8) + packet.kept[at : at + 4] for at in (12, 16))
        length = len(extensions) + packet.length - 20 if has_length else 0
        head = struct.pack(">IHBB", 6 << 28, length, first, 64) + source + destination + extensions
        rest = packet.kept[20:]
        return ethernet(0x86DD) + head + rest, ETHERNET_BYTES + len(head) + packet.length - 20

    return write


HOP_BY_HOP = bytes([43, 0, 1, 4, 0, 0, 0, 0])
ROUTING = bytes([60, 0, 4, 0, 0, 0, 0, 0])
DESTINATION = bytes([44, 0, 1, 4, 0, 0, 0, 0])
FRAGMENT = bytes([51, 0, 0, 0, 0, 0, 0, 1])
AUTHENTICATION = bytes([6, 4]) + bytes(22)
SNAP = bytes([0xAA, 0xAA, 3])


def in_llc(organisation: bytes):
    return lambda packet: before(
        SERVER + AP + struct.pack(">H", 8 + packet.length) + SNAP + organisation + b"\x08\x00"
    )(packet)


ETHERNET = {
    "plain": before(ethernet(0x0800)),
    "one tag": before(ethernet(0x8100) + b"\x00\x05\x08\x00"),
    "802.1ad": before(ethernet(0x88A8) + b"\x00\x05\x81\x00\x00\x06\x08\x00"),
    "three tags": before(ethernet(0x9100) + b"\x00\x05\x91\x00\x00\x06\x81\x00\x00\x07\x08\x00"),
    "MPLS": before(ethernet(0x8847) + b"\x00\x01\x00\x40\x00\x02\x01\x40"),
    "MPLS pseudo-wire": before(ethernet(0x8847) + b"\x00\x01\x01\x40" + bytes(4) + ethernet(0x0800)),
    "MPLS in a VLAN": before(ethernet(0x8100) + b"\x00\x05\x88\x47\x00\x01\x01\x40"),
    "PPPoE": in_pppoe,
    "LLC": in_llc(bytes(3)),
    "GRE": in_ip(47, b"\x00\x00\x08\x00"),
    "GRE with fields": in_ip(47, b"\xb0\x00\x08\x00" + bytes(8) + b"\x00\x00\x00\x01"),
    "GRE with Ethernet": in_ip(47, b"\x20\x00\x65\x58\x00\x00\x00\x09" + ethernet(0x0800)),
    "IP in IP": in_ip(4, b""),
    "VXLAN": in_vxlan(4789),
    "VXLAN of Linux": in_vxlan(8472),
    "total length 0": without_length,
    "IPv6": as_ipv6(b"", 6),
    "IPv6 with extensions": as_ipv6(HOP_BY_HOP + ROUTING + DESTINATION + FRAGMENT + AUTHENTICATION, 0),
    "IPv6 without length": as_ipv6(b"", 6, has_length=False),
}
OTHER_LINKS = {
    "null": (0, before(b"\x02\x00\x00\x00")),
    "null, big-endian": (0, before(b"\x00\x00\x00\x02")),
    "loop": (108, before(b"\x00\x00\x00\x02")),
    "raw 12": (12, before(b"")),
    "raw 14": (14, before(b"")),
    "raw 101": (101, before(b"")),
    "IPv4": (228, before(b"")),
    "PPP": (9, before(b"\xff\x03\x00\x21")),
    "PPP, compressed": (9, before(b"\x21")),
    "PPP in HDLC": (50, before(b"\xff\x03\x00\x21")),
    "PPPoE alone": (51, lambda packet: before(struct.pack(">BBHHH", 0x11, 0, 9, packet.length + 2, 0x21))(packet)),
    "SLL": (113, before(bytes(14) + b"\x08\x00")),
    "SLL with a tag": (113, before(bytes(14) + b"\x81\x00\x00\x05\x08\x00")),
    "SLL2": (276, before(b"\x08\x00" + bytes(18))),
    "PPI of Ethernet": (192, before(struct.pack("<BBHI", 0, 0, 8, 1) + ethernet(0x0800))),
}
WAYS = {**{name: (1, write) for name, write in ETHERNET.items()}, **OTHER_LINKS}


@pytest.fixture(scope="module")
def packets(tmp_path_factory) -> list[Packet]:
    directory = tmp_path_factory.mktemp("download")
    scenario = short(ROOT / "scenarios" / "download-11n.toml", 0.6, 0.1)
    lasthop.run(scenario, seeds=1, interval_s=None, pcap=directory)
    return packets_of(directory / "server.pcapng")


def written(packets, way: str, file: Path) -> Path:
    link_type, write = WAYS[way]
    return pcap(file, link_type, ((packet.time_us, *write(packet)) for packet in packets))


def numbers(run) -> list[dict]:
    """All that a run says of its flows, without their addresses."""
    flows = zip(run["flows"], run["capture"]["flows"], strict=True)
    return [{**row, **seen, "station": None, "id": row["direction"]} for row, seen in flows]


@pytest.fixture(scope="module")
def plain(packets, tmp_path_factory):
    run = analyze(
        [written(packets, "raw 101", tmp_path_factory.mktemp("plain") / "plain.pcap")], None, None, None
    ).runs[0]
    assert sum(flow["bytes_delivered"] for flow in run["flows"]) > 10**6
    return run


@pytest.mark.parametrize("way", WAYS)
def test_flows_do_not_depend_on_what_is_before_ip(packets, plain, tmp_path, way):
    run = analyze([written(packets, way, tmp_path / "way.pcap")], None, None, None).runs[0]
    assert numbers(run) == numbers(plain)
    (file,) = run["capture"]["files"]
    assert (file["packets"], file["packets_of_a_wire"], file["left_out"]) == (len(packets), len(packets), {})


RATE_500KBPS, CHANNEL, MHZ, SIGNAL_DBM = 108, 36, 5180, -60


def radiotap(time_us: int) -> bytes:
    # TSFT, flags, rate, channel, signal.
    fields = struct.pack("<QBBHHb", time_us, 0, RATE_500KBPS, MHZ, 0x140, SIGNAL_DBM)
    return struct.pack("<BBHI", 0, 0, 8 + len(fields), 0b101111) + fields


def prism(time_us: int) -> bytes:
    items = [(2, time_us & 0xFFFFFFFF), (3, CHANNEL), (6, SIGNAL_DBM), (8, RATE_500KBPS)]
    fields = b"".join(struct.pack("<IHHI", number << 16 | 0x44, 0, 4, value & 0xFFFFFFFF) for number, value in items)
    return struct.pack("<II16s", 0x44, 24 + len(fields), b"wlan0") + fields


def avs(time_us: int) -> bytes:
    # OFDM at 5 GHz, in units of 100 kbit/s, signals in dBm.
    words = (8, CHANNEL, RATE_500KBPS * 5, 0, 0, 2, SIGNAL_DBM & 0xFFFFFFFF, 0, 0, 4)
    return struct.pack(">IIQQ10I", 0x80211001, 64, time_us, 0, *words)


def ppi(time_us: int) -> bytes:
    field = struct.pack("<HHQHHHHBBbb", 2, 20, time_us, 0, RATE_500KBPS, MHZ, 0x140, 0, 0, SIGNAL_DBM, -128)
    return struct.pack("<BBHI", 0, 0, 8 + len(field), 105) + field


AIRS = {"radiotap": (127, radiotap), "Prism": (119, prism), "AVS": (163, avs), "PPI": (192, ppi)}


def on_the_air(packets, header, snap: bytes):
    """Each packet in a data frame with an Ack, a millisecond after the one before."""
    for number, packet in enumerate(packets):
        time_us = 10**6 + 1000 * number
        is_down = packet.is_to_station
        addresses = STATION + AP + SERVER if is_down else AP + STATION + SERVER
        mac = struct.pack("<BBH", 0x08, 2 if is_down else 1, 44) + addresses + struct.pack("<H", number % 4096 << 4)
        body = mac + SNAP + snap + b"\x08\x00"
        head = header(time_us)
        yield time_us, head + body + packet.kept, len(head) + len(body) + packet.length
        # OFDM of 54 Mbit/s has 216 bits a symbol of 4 us.
        bits = 22 + 8 * (len(body) + packet.length + 4)
        after_us = time_us + 20 + 4 * -(-bits // 216) + 16
        ack = struct.pack("<BBH", 0xD4, 0, 0) + (AP if is_down else STATION)
        yield after_us, header(after_us) + ack, len(header(after_us)) + len(ack)


@pytest.mark.parametrize("snap", [bytes(3), b"\x00\x00\xf8"], ids=["RFC 1042", "bridge tunnel"])
@pytest.mark.parametrize("air", AIRS)
def test_headers_before_802_11_give_the_same_numbers(packets, tmp_path, air, snap):
    both = []
    for name in (air, "radiotap"):
        link_type, header = AIRS[name]
        frames = on_the_air(packets[:1000], header, snap if name == air else bytes(3))
        run = analyze([pcap(tmp_path / "air.pcap", link_type, frames)], None, None, None).runs[0]
        both.append(run)
    assert both[0] == both[1]
    (link,) = (link for link in both[0]["links"] if link["peer"] == "02:00:00:00:00:02")
    assert link["mean_data_rate_bps"] == 54e6
    assert both[0]["totals"]["goodput_down_bps"] > 10**6 and both[0]["medium"]["busy_fraction"] > 0.1


def test_snap_of_an_organisation_is_no_ip_and_is_counted(packets, tmp_path):
    frames = [*on_the_air(packets[:10], radiotap, b"\x00\x00\x0c"), *on_the_air(packets[:4], radiotap, bytes(3))]
    run = analyze([pcap(tmp_path / "air.pcap", 127, frames)], None, None, None).runs[0]
    (file,) = run["capture"]["files"]
    assert file["left_out"] == {"SNAP of 00-00-0c": 10}
    assert file["frames_of_802_11"] == 28


@pytest.mark.parametrize(
    ("link_type", "content", "name"),
    [
        (1, ethernet(0x0806) + bytes(28), "ARP"),
        (1, ethernet(0x0800) + ipv4(1, 8) + bytes(8), "ICMP"),
        (1, ethernet(0x0800) + ipv4(50, 8) + bytes(8), "ESP"),
        (1, ethernet(0x0026) + b"\x42\x42\x03" + bytes(35), "spanning tree"),
        (1, ethernet(0x88CC) + bytes(40), "LLDP"),
        (9, b"\xff\x03\xc0\x21" + bytes(10), "PPP protocol 0xc021"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_left_out_is_counted_and_named(command, packets, tmp_path, link_type, content, name):
    link = {1: ethernet(0x0800), 9: b"\xff\x03\x00\x21"}[link_type]
    records = [(1000, content, len(content))] * 3
    records += [(packet.time_us, link + packet.kept, len(link) + packet.length) for packet in packets[:50]]
    file = pcap(tmp_path / "mixed.pcap", link_type, records)
    done = command("analyze", file)
    assert done.returncode == 0 and f"neither TCP nor UDP, and left out: 3 {name}\n" in done.stdout
    done = command("analyze", pcap(tmp_path / "alone.pcap", link_type, records[:3]))
    assert done.returncode == 2 and f"but 3 of {name}\n" in done.stderr


def test_tzsp_is_refused_by_name(command, tmp_path):
    content = ethernet(0x0800) + ipv4(17, 28) + struct.pack(">HHHH", 40000, 37008, 28, 0) + bytes(20)
    done = command("analyze", pcap(tmp_path / "tzsp.pcap", 1, [(1000, content, len(content))]))
    assert done.returncode == 2 and "its packets are TZSP (UDP port 37008), which is not read" in done.stderr


def interface(link_type: int) -> bytes:
    return struct.pack("<IIHHII", 1, 20, link_type, 0, 0, 20)


def enhanced(number: int, time_us: int, kept: bytes, length: int) -> bytes:
    padded = kept + bytes(-len(kept) % 4)
    size = 32 + len(padded)
    return (
        struct.pack("<IIIIIII", 6, size, number, time_us >> 32, time_us & 0xFFFFFFFF, len(kept), length)
        + padded
        + struct.pack("<I", size)
    )


def test_interfaces_of_one_file_may_have_different_link_types(packets, plain, tmp_path):
    ways = [WAYS[way] for way in ("plain", "raw 101", "null", "SLL2", "PPP")]
    head = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    body = [enhanced(n % len(ways), p.time_us, *ways[n % len(ways)][1](p)) for n, p in enumerate(packets)]
    file = tmp_path / "many.pcapng"
    file.write_bytes(head + b"".join(interface(link_type) for link_type, _ in ways) + b"".join(body))
    assert numbers(analyze([file], None, None, None).runs[0]) == numbers(plain)
