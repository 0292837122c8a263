"""Packets of a capture that lasthop writes of a host: Ethernet frames in enhanced packet blocks of pcapng."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from records import SYN, Segment

ENHANCED_PACKET = 6
WINDOW_SCALE, END, NOTHING = 3, 0, 1


def frames(file: Path) -> Iterator[tuple[int, bytes]]:
    """Each packet's time in ns and its bytes from the IP header on; the captures have nanoseconds."""
    text = file.read_bytes()
    place = 0
    while place < len(text):
        kind, length = struct.unpack_from("<II", text, place)
        if kind == ENHANCED_PACKET:
            _, high, low, kept, _ = struct.unpack_from("<5I", text, place + 8)
            yield high << 32 | low, text[place + 42 : place + 28 + kept]
        place += length


def sent_by(file: Path, address: str) -> Iterator[tuple[Segment, int]]:
    """The segments of a host, each with the window that it offers, in bytes."""
    source, shift = bytes(int(part) for part in address.split(".")), 0
    for at_ns, packet in frames(file):
        segment = Segment.of(at_ns, True, packet)
        if segment is None or packet[12:16] != source:
            continue
        if segment.flags & SYN:
            shift = scale(packet)
            yield segment, segment.window
        else:
            yield segment, segment.window << shift


def scale(packet: bytes) -> int:
    """The window scale of a SYN. [RFC 7323 §2.2]"""
    start = 4 * (packet[0] & 15)
    place, end = start + 20, start + 4 * (packet[start + 12] >> 4)
    while place < end and packet[place] != END:
        if packet[place] == WINDOW_SCALE:
            return packet[place + 2]
        place += 1 if packet[place] == NOTHING else packet[place + 1]
    return 0
