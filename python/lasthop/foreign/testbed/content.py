"""The content of a file as text: unpacked, decoded, and bounded, as a small file may unpack to more than the memory.

Texts are UTF-8, or UTF-16 with a byte order mark, as a shell of Windows writes them.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import suppress

from ..recognition import UTF_16, encoding_of
from .model import Unreadable

GZIP = b"\x1f\x8b"
HEAD_BYTES = 65_536
LARGEST_BYTES = 1 << 27
LONGEST_LINE = 1 << 20
DAMAGED = "its gzip ends early or is damaged; copy the file once more"


def head_of(path: str) -> str | None:
    """The beginning of a file, with replacements for bytes that are no text; None for a binary file."""
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    if head.startswith(GZIP):
        with suppress(zlib.error):
            head = zlib.decompressobj(31).decompress(head, HEAD_BYTES)
    if head.startswith(UTF_16):
        return head.decode("utf-16", "replace")
    return None if b"\0" in head[:512] else head.decode("utf-8-sig", "replace")


def text_of(path: str) -> str:
    """The whole text of a file. Raises `Unreadable` if it is damaged, too long, or in another encoding."""
    try:
        with _opened(path) as stream:
            data = stream.read(LARGEST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise Unreadable(f"{path}: {DAMAGED}") from None
    if len(data) > LARGEST_BYTES:
        raise Unreadable(f"{path}: holds more than {LARGEST_BYTES >> 20} MiB of text; give a shorter test")
    try:
        return data.decode(encoding_of(data))
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"{path}, byte {error.start}: is not UTF-8, in which this format is written; copy the file once more"
        ) from None


def lines_of(path: str) -> Iterator[str]:
    """The lines of a file, one after another. Raises `Unreadable` if it is damaged, or has a line that no program writes."""
    try:
        with _opened(path) as stream:
            encoding = encoding_of(stream.peek(2)[:2])
            yield from _bounded(path, io.TextIOWrapper(stream, encoding, errors="replace"))
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise Unreadable(f"{path}: {DAMAGED}") from None


def _bounded(path: str, stream: io.TextIOWrapper) -> Iterator[str]:
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise Unreadable(f"{path}, line {number}: is longer than {LONGEST_LINE >> 20} MiB; is it a log of ss?")
        yield line


def _opened(path: str) -> gzip.GzipFile | io.BufferedReader:
    with open(path, "rb") as file:
        packed = file.read(2) == GZIP
    return gzip.open(path, "rb") if packed else open(path, "rb")
