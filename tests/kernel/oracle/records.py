"""What is recorded of a packet in a guest, and where its hosts are: the guest writes it, the host reads it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# By the name of a host's interface: its address, and that of the router before it.
ADDRESSES = {"sender": ("10.0.1.1", "10.0.1.2"), "receiver": ("10.0.2.1", "10.0.2.2")}
# Flow i has its server at this port + i; the datagrams have the port below.
PORT = 5000
DATAGRAMS = PORT - 1


def receiver_address(number: int) -> str:
    """An address of the receiving host: the first one is 0."""
    return f"10.0.2.{number * 10}" if number else ADDRESSES["receiver"][0]


FORM = struct.Struct("<QBHHHHIIHB")
TCP, UDP = 6, 17
SYN = 2


class Segment(NamedTuple):
    """A packet as its headers have it."""

    at_ns: int
    """when the device took it, by the guest's clock"""
    outgoing: bool
    """whether the device sent it"""
    server: int
    """the server's port, of whichever end"""
    identification: int
    """of IP; no two packets of a flow have the same one for a while"""
    bytes: int
    """of the IP packet"""
    payload: int
    """bytes of data"""
    sequence: int
    acknowledgement: int
    window: int
    """as it stands in the header, not yet scaled"""
    flags: int
    """of TCP"""

    def packed(self) -> bytes:
        """Its record."""
        return FORM.pack(*self)

    @classmethod
    def of(cls, at_ns: int, outgoing: bool, packet: bytes) -> Segment | None:
        """What stands in an IPv4 packet of TCP or UDP; nothing if it is none."""
        if len(packet) < 28 or packet[0] >> 4 != 4 or packet[9] not in (TCP, UDP):
            return None
        options = 4 * (packet[0] & 15)
        length, identification = struct.unpack_from(">HH", packet, 2)
        ports = struct.unpack_from(">HH", packet, options)
        server = min(ports)
        if packet[9] == UDP:
            return cls(at_ns, outgoing, server, identification, length, length - options - 8, 0, 0, 0, 0)
        sequence, acknowledgement, offset, flags, window = struct.unpack_from(">IIBBH", packet, options + 4)
        payload = length - options - 4 * (offset >> 4)
        return cls(at_ns, outgoing, server, identification, length, payload, sequence, acknowledgement, window, flags)


def segments(file: Path) -> Iterator[Segment]:
    """What a tap has recorded, in order of time."""
    for fields in FORM.iter_unpack(file.read_bytes()):
        yield Segment._make((fields[0], bool(fields[1]), *fields[2:]))
