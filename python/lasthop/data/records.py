"""Records in a file that only grows: each behind its length and a checksum, so that one which was cut short is known."""

from __future__ import annotations

import os
import struct
from binascii import crc32
from collections.abc import Iterator
from typing import IO

# Length and CRC-32 of a record.
HEAD = struct.Struct("<QI")


def framed(record: bytes) -> bytes:
    """A record with its head, as it lies in the file."""
    return HEAD.pack(len(record), crc32(record)) + record


def whole(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """The records up to the first that is not whole, each with its place behind its head."""
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    while len(head := file.read(HEAD.size)) == HEAD.size:
        length, checksum = HEAD.unpack(head)
        start = file.tell()
        # After a power cut a file may end in zeros, which would be empty records.
        if length == 0 or start + length > size or crc32(record := file.read(length)) != checksum:
            return
        yield start, record
