"""Air that a run wrote down, as other sniffers write it: captures for tests, made of a capture of a run."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

# Alignment and length of radiotap's fields by bit. [radiotap.org, defined fields]
SIZES = "0:8:8 1:1:1 2:1:1 3:2:4 5:1:1 11:1:1 19:1:3 20:4:8 21:2:12 22:8:12 23:2:12 24:2:12 27:2:4"
LAYOUT = {bit: (alignment, size) for bit, alignment, size in (map(int, part.split(":")) for part in SIZES.split())}
TSFT, FLAGS, RATE, MCS, AMPDU, VHT, TIMESTAMP, HE, TLV = 0, 1, 2, 19, 20, 21, 22, 23, 28
FCS_AT_END, BAD_FCS = 0x10, 0x40
U_SIG, EHT = 33, 34
IEEE_802_11, RADIOTAP = 105, 127


@dataclass(frozen=True)
class Frame:
    """A frame of the air: its stamp in nanoseconds, fields of radiotap by bit, and the MAC's bytes, the FCS included."""

    at_ns: int
    fields: dict[int, bytes]
    mac: bytes
    length: int
    tlv: bytes = b""

    @property
    def is_good(self) -> bool:
        """Whether its FCS is right."""
        return not self.fields[FLAGS][0] & BAD_FCS

    @property
    def transmitter(self) -> str:
        """The address of its transmitter, which an Ack and a CTS do not have."""
        return "" if self.mac[0] in (0xC4, 0xD4) else self.mac[10:16].hex(":")

    def of(self, **changes: Any) -> Frame:
        """The frame with changes."""
        return replace(self, **changes)

    def without(self, *bits: int) -> Frame:
        """The frame without some fields."""
        return self.of(fields={bit: value for bit, value in self.fields.items() if bit not in bits})

    def with_field(self, bit: int, value: bytes) -> Frame:
        """The frame with another value of a field."""
        return self.of(fields={**self.fields, bit: value})

    def without_fcs(self) -> Frame:
        """The frame without its FCS; the flag stays."""
        return self.of(mac=self.mac[: self.length - 4], length=self.length - 4)

    def header(self) -> bytes:
        """Radiotap."""
        present, body = 0, b""
        for bit, value in sorted(self.fields.items()):
            alignment, length = LAYOUT[bit]
            assert len(value) == length
            body += bytes(-(8 + len(body)) % alignment) + value
            present |= 1 << bit
        if self.tlv:
            body += bytes(-(8 + len(body)) % 4) + self.tlv
            present |= 1 << TLV
        return struct.pack("<BBHI", 0, 0, 8 + len(body), present) + body


def parsed(at_ns: int, packet: bytes, length: int) -> Frame:
    """A packet with radiotap of one present word."""
    header, present = struct.unpack_from("<HI", packet, 2)
    fields, at = {}, 8
    for bit in range(32):
        if present >> bit & 1:
            alignment, size = LAYOUT[bit]
            at += -at % alignment
            fields[bit] = packet[at : at + size]
            at += size
    return Frame(at_ns, fields, packet[header:], length - header)


def read(file: Path) -> list[Frame]:
    """The frames of a pcapng file of `lasthop run`, or of a pcap file in nanoseconds."""
    data = file.read_bytes()
    frames, at = [], 24
    if data[:4] == struct.pack("<I", 0xA1B23C4D):
        while at < len(data):
            second, ns, kept, length = struct.unpack_from("<IIII", data, at)
            frames.append(parsed(second * 10**9 + ns, data[at + 16 : at + 16 + kept], length))
            at += 16 + kept
        return frames
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 6:
            _, high, low, kept, length = struct.unpack_from("<IIIII", data, at + 8)
            frames.append(parsed((high << 32) + low, data[at + 28 : at + 28 + kept], length))
        at += size
    return frames


def write(file: Path, frames: Iterable[Frame], link_type: int = RADIOTAP) -> Path:
    """Writes a pcap file in nanoseconds."""
    out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, link_type)]
    for frame in frames:
        header = frame.header() if link_type == RADIOTAP else b""
        second, ns = divmod(frame.at_ns, 10**9)
        lengths = (len(header) + len(frame.mac), len(header) + frame.length)
        out += [struct.pack("<IIII", second, ns, *lengths), header, frame.mac]
    file.write_bytes(b"".join(out))
    return file


def each(change: Callable[[Frame], Frame]) -> Callable[[list[Frame]], list[Frame]]:
    """A way of writing that changes each frame."""
    return lambda frames: [change(frame) for frame in frames]


def plain(frames: list[Frame]) -> list[Frame]:
    """Without the time stamp of the PPDU, which only simulations have."""
    return [frame.without(TIMESTAMP) for frame in frames]


def with_tsft(frames: list[Frame]) -> list[Frame]:
    """With the same TSFT in all frames of a PPDU, in microseconds."""
    return [frame.with_field(TSFT, struct.pack("<Q", frame.at_ns // 1000)) for frame in frames]


def at_end(lasts_ns: Mapping[tuple[int, str], int]) -> Callable[[list[Frame]], list[Frame]]:
    """Stamps of the end of PPDUs, whose durations are given by their beginnings and transmitters."""
    return each(lambda frame: frame.of(at_ns=frame.at_ns + lasts_ns[frame.at_ns, frame.transmitter]))


def durations_ns(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[int, str], int]:
    """Durations of the rows of the table `ppdu` of a recording, whose nodes are named by their addresses."""
    lasts = {}
    for row in rows:
        who = "" if row["kind"] in ("Ack", "CTS", "CTS-to-self") else row["node"]
        lasts[row["start_ns"], who] = row["duration_ns"]
    return lasts


def jittered(most_ns: int, seed: int, *, is_sorted: bool) -> Callable[[list[Frame]], list[Frame]]:
    """Stamps that are late by a random time; sorted, or in the order of the air."""

    def change(frames: list[Frame]) -> list[Frame]:
        draw = random.Random(seed)
        late = [frame.of(at_ns=frame.at_ns + draw.randrange(most_ns)) for frame in frames]
        return sorted(late, key=lambda frame: frame.at_ns) if is_sorted else late

    return change


def in_steps(step_ns: int) -> Callable[[list[Frame]], list[Frame]]:
    """Stamps of a coarse clock."""
    return each(lambda frame: frame.of(at_ns=frame.at_ns // step_ns * step_ns))


def as_he(form: int, bandwidth: int) -> Callable[[Frame], Frame]:
    """Data in an HE PPDU of a format (1 extended range, 2 for several users, 3 triggered), with a code of bandwidth or RU."""
    known = 0x0020 | 0x4000
    value = struct.pack("<6H", form | known, 0x0002, 7 << 8, 0, bandwidth, 1)
    return lambda frame: frame.without(RATE, MCS, VHT).with_field(HE, value) if is_data(frame) else frame


def as_eht(frame: Frame) -> Frame:
    """Data in an EHT PPDU: U-SIG and EHT in a list of fields with lengths."""
    if not is_data(frame):
        return frame
    lists = struct.pack("<HH12x", U_SIG, 12) + struct.pack("<HH40x", EHT, 40)
    return frame.without(RATE, MCS, VHT, HE).of(tlv=lists)


def is_data(frame: Frame) -> bool:
    """Whether it is a data frame."""
    return frame.mac[0] & 0x0C == 0x08
