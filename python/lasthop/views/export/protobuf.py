"""Messages of a Perfetto trace, byte by byte [Protocol Buffers, Encoding]: tracks, events on them, and their names.

Field numbers are those of `TracePacket`, `TrackDescriptor`, `TrackEvent` and their parts, in Perfetto's
`protos/perfetto/trace`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

VARINT, FIXED64, BYTES = 0, 1, 2
# All packets belong to one sequence, whose names are sent once and then referred to by number.
SEQUENCE = 1
NAMES_BEGIN, NAMES_ARE_NEEDED = 1, 2
SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4
EXPLICIT_ORDER = 3
MOST_ENCODED = 1 << 16


def varint(number: int) -> bytes:
    """A whole number below 2^64; a negative one as its complement."""
    number &= 0xFFFF_FFFF_FFFF_FFFF
    if number < 0x80:
        return _BYTE[number]
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


_BYTE = [bytes([number]) for number in range(0x80)]


def whole(field: int, number: int) -> bytes:
    """A field with a whole number."""
    return varint(field << 3 | VARINT) + varint(number)


def fixed(field: int, number: int) -> bytes:
    """A field with a number of eight bytes."""
    return varint(field << 3 | FIXED64) + struct.pack("<Q", number)


def real(field: int, number: float) -> bytes:
    """A field with a real number."""
    return varint(field << 3 | FIXED64) + struct.pack("<d", number)


def message(field: int, content: bytes | str) -> bytes:
    """A field with a message or a text."""
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | BYTES) + varint(len(content)) + content


def packet(content: bytes) -> bytes:
    """A packet of the trace."""
    return message(1, whole(10, SEQUENCE) + content)


def process(uuid: int, pid: int, name: str) -> bytes:
    """A process, with its tracks in the order of their ranks."""
    about = message(3, whole(1, pid) + message(6, name))
    return packet(message(60, whole(1, uuid) + about + whole(11, EXPLICIT_ORDER)))


def track(uuid: int, parent: int, name: str, rank: int, *, unit: str | None = None) -> bytes:
    """A track below another; a counter if `unit` is set."""
    counter = b"" if unit is None else message(8, message(6, unit))
    return packet(message(60, whole(1, uuid) + message(2, name) + whole(5, parent) + whole(12, rank) + counter))


def count(t_ns: int, uuid: int, value: float) -> bytes:
    """The value of a counter from a time on."""
    number = whole(30, value) if isinstance(value, int) else real(44, value)
    return packet(whole(8, t_ns) + message(11, whole(9, COUNTER) + whole(11, uuid) + number))


def slice_end(t_ns: int, uuid: int) -> bytes:
    """The end of the open slice of a track."""
    return packet(whole(8, t_ns) + message(11, whole(9, SLICE_END) + whole(11, uuid)))


class Events:
    """Slices and instants. Names of events and arguments are sent at their first use."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._arguments: dict[str, int] = {}
        self._encoded: dict[tuple[str, object], bytes] = {}

    def begin(self) -> bytes:
        """The packet before all events."""
        return packet(whole(13, NAMES_BEGIN))

    def event(
        self,
        kind: int,
        t_ns: int,
        uuid: int,
        name: str,
        arguments: Iterable[tuple[str, object]] = (),
        flows: Iterable[int] = (),
    ) -> bytes:
        """An event of a track; arguments that are None are left out. Events with a flow in common are joined by arrows."""
        new: list[bytes] = []
        number = self._number(self._names, 2, name, new)
        arguments_bytes = b"".join([self._argument(name, value, new) for name, value in arguments if value is not None])
        arrows = b"".join([fixed(47, flow) for flow in flows])
        body = whole(9, kind) + whole(11, uuid) + whole(10, number) + arguments_bytes + arrows
        names = message(12, b"".join(new)) if new else b""
        return packet(whole(8, t_ns) + whole(13, NAMES_ARE_NEEDED) + names + message(11, body))

    def _argument(self, name: str, value: object, new: list[bytes]) -> bytes:
        key = name, value
        if (encoded := self._encoded.get(key)) is None:
            number = whole(1, self._number(self._arguments, 3, name, new))
            encoded = self._encoded[key] = message(4, number + _value(value))
            if len(self._encoded) > MOST_ENCODED:
                self._encoded.clear()
        return encoded

    @staticmethod
    def _number(numbers: dict[str, int], field: int, name: str, new: list[bytes]) -> int:
        if (number := numbers.get(name)) is None:
            number = numbers[name] = len(numbers) + 1
            new.append(message(field, whole(1, number) + message(2, name)))
        return number


def _value(value: object) -> bytes:
    """The value of an argument."""
    match value:
        case bool():
            return whole(2, value)
        case int():
            return whole(4, value)
        case float():
            return real(5, value)
        case _:
            return message(6, str(value))
