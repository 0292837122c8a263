"""Text, JSON and TOML in files of others: unpacked, decoded and parsed within bounds.

No other module unpacks or parses a file; `tests/python/test_foreign_text.py` has the few exceptions. A refusal names the file, the place
and the remedy. Text is UTF-8, or UTF-16 with its mark, as a shell of Windows writes it.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .diagnostic import ScenarioError

LARGEST_BYTES = 1 << 27
"""of a text, unpacked: an hour of qlog is a tenth of it; a bomb of gzip is a thousand times its file"""
LARGEST_RESULT = 1 << 31
"""of a result, which has a megabyte for each seed of a thousand stations"""
LONGEST_LINE = 1 << 20
"""of a log that is read by lines: a line of `ss` has 1,000 characters"""
MOST_VALUES = 10_000_000
"""in a document of JSON: Python takes some 100 bytes for each"""
DEEPEST = 100
"""lists and objects within one another: the deepest format has 20, and Python's own limit depends on its caller"""
LARGEST_NUMBER = 2**64
"""no counter has larger integers, and no measured number more than a float holds"""
LARGEST_TOML = 1_000_000
"""of a claim file, of which the longest has a fiftieth"""
HEAD_BYTES = 65_536
"""of a file whose kind is not yet known"""

PIECE = 1 << 20
GZIP = b"\x1f\x8b"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
COPY = "copy the file once more"
BLANKS = re.compile(r"[ \t\r\n]*")
# A number that may be out of range: other texts need no look at each of their numbers.
LONG_NUMBER = re.compile(r"\d{19}|[eE]\+?\d{3}")

# Half of a surrogate pair as JSON writes it, without the other half: no text in UTF-8 has it.
HIGH, LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
LONE_SURROGATE = re.compile(rf"{HIGH}(?!{LOW})|(?<!{HIGH}){LOW}")
REPLACEMENT = r"\ufffd"


class Unreadable(ScenarioError):
    """A file that cannot be read as its apparent kind: one sentence with its place and the remedy."""


def encoding_of(head: bytes | bytearray) -> str:
    """The encoding of a text that begins so."""
    return "utf-16" if head.startswith(UTF_16) else "utf-8-sig"


def is_binary(head: bytes | bytearray) -> bool:
    """Whether a file that begins so is no text."""
    return b"\0" in head and not head.startswith(UTF_16)


def head_of(path: str | os.PathLike[str]) -> str | None:
    """The beginning of a file, with replacements for bytes that are no text; None for a binary file."""
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    if head.startswith(GZIP):
        with suppress(zlib.error):
            head = zlib.decompressobj(31).decompress(head, HEAD_BYTES)
    return None if is_binary(head[:512]) else head.decode(encoding_of(head), "replace")


def text_of(
    path: str | os.PathLike[str],
    most: int = LARGEST_BYTES,
    remedy: str = "give a part of it",
    name: str | None = None,
    *,
    is_log: bool = False,
) -> str:
    """The whole text of a file. Raises `Unreadable` if it is damaged, no text, or longer than `most` bytes unpacked.

    `name`: the name of the file in the error, if it is not `path`. `is_log`: a program printed it, whose words may have the bytes
    of an older code page or of a network's name; those that are no UTF-8 are replaced.
    """
    said = path if name is None else name
    with _unpacked(path) as stream:
        data = bytearray(stream.read(HEAD_BYTES))
        if is_binary(data[:512]):  # a device is not read to its end, which it may not have
            raise Unreadable(f"{said}: is not text; give the file that the program wrote")
        while len(data) <= most and (more := stream.read(PIECE)):
            data += more
    if len(data) > most:
        raise Unreadable(f"{said}: has more than {_size(most)} of text, the limit; {remedy}")
    try:
        return data.decode(encoding_of(data), "replace" if is_log else "strict")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{said}, byte {error.start}: is not text in UTF-8; {COPY}") from None


def lines_of(path: str | os.PathLike[str], remedy: str = COPY) -> Iterator[str]:
    """The lines of a file, one after another. Raises `Unreadable` if it is damaged, or has a line that no program writes."""
    with _unpacked(path) as stream:
        text = io.TextIOWrapper(stream, encoding_of(stream.peek(2)[:2]), errors="replace")
        number = 0
        while line := text.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise Unreadable(f"{path}, line {number}: is longer than {_size(LONGEST_LINE)}; {remedy}")
            yield line


def json_of(
    path: str | os.PathLike[str], most: int = LARGEST_BYTES, remedy: str = COPY, name: str | None = None
) -> Any:
    """The document of JSON in a file. Raises `Unreadable`, by `name` if given."""
    return parsed_json(path if name is None else name, text_of(path, most, name=name), remedy)


def toml_of(path: str | os.PathLike[str], most: int = LARGEST_TOML, name: str | None = None) -> dict[str, Any]:
    """The document of TOML in a file. Raises `Unreadable`, by `name` if given."""
    said = path if name is None else name
    text = text_of(path, most, name=name).replace("\r\n", "\n")
    try:
        import tomllib

        return tomllib.loads(text)
    except RecursionError:
        raise Unreadable(f"{said}: is nested too deeply; write it with fewer levels") from None
    except ValueError as error:  # no TOML, or a number of thousands of digits
        raise Unreadable(f"{said}: {error}; correct it") from None


def parsed_json(name: str | os.PathLike[str], text: str, remedy: str = COPY) -> Any:
    """The one document of JSON in a text, whose file is `name`. NaN and infinity are None, as they are no JSON. Raises `Unreadable`."""
    every = list(documents(name, text, remedy))
    if len(every) != 1:
        raise Unreadable(f"{name}: has {len(every)} documents of JSON where one is expected; {remedy}")
    return every[0]


def documents(name: str | os.PathLike[str], text: str, remedy: str = COPY) -> Iterator[Any]:
    """The documents of JSON in a text, one after another. Raises `Unreadable` at the first that is damaged.

    A lone surrogate is replaced, as no output can have it.
    """
    if text.count(",") + text.count("[") + text.count("{") > MOST_VALUES:
        raise Unreadable(f"{name}: has more than {MOST_VALUES} values, the limit; give a part of it")
    text = LONE_SURROGATE.sub(lambda _: REPLACEMENT, text)
    decoder = _decoder(name, text)
    at = BLANKS.match(text).end()  # type: ignore[union-attr]  # matches everywhere
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
        except RecursionError:
            raise _too_deep(name, text, at) from None
        except Unreadable:
            raise
        except ValueError as error:
            place = getattr(error, "pos", at)
            raise Unreadable(f"{name}, line {_line(text, place)}: is not complete JSON; {remedy}") from None
        if _depth(value) > DEEPEST:
            raise _too_deep(name, text, at)
        yield value
        at = BLANKS.match(text, end).end()  # type: ignore[union-attr]


def _decoder(name: str | os.PathLike[str], text: str) -> json.JSONDecoder:
    """A decoder that refuses numbers out of range, if the text may have any."""
    if LONG_NUMBER.search(text) is None:
        return json.JSONDecoder(parse_constant=lambda _: None)

    def refused(digits: str) -> Unreadable:
        place = f"line {_line(text, max(0, text.find(digits)))}"
        return Unreadable(f"{name}, {place}: {digits[:20]}… is beyond every counter and float; correct the number")

    def integer(digits: str) -> int:
        if len(digits) > 21 or abs(int(digits)) > LARGEST_NUMBER:
            raise refused(digits)
        return int(digits)

    def real(digits: str) -> float:
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            raise refused(digits)
        return value

    return json.JSONDecoder(parse_constant=lambda _: None, parse_int=integer, parse_float=real)


def _depth(value: Any) -> int:
    """Levels of lists and objects, at most one more than `DEEPEST`."""
    level, depth = [value] if isinstance(value, list | dict) else [], 0
    while level and depth <= DEEPEST:
        depth += 1
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for items in inner for each in items if isinstance(each, list | dict)]
    return depth


def _too_deep(name: str | os.PathLike[str], text: str, at: int) -> Unreadable:
    return Unreadable(
        f"{name}, line {_line(text, at)}: is nested more than {DEEPEST} levels deep; no program writes that"
    )


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count} bytes"


@contextmanager
def _unpacked(path: str | os.PathLike[str]) -> Iterator[gzip.GzipFile | io.BufferedReader]:
    """The bytes of a file, unpacked if they are gzip. Raises `Unreadable` if that is damaged."""
    try:
        with open(path, "rb") as file:
            if file.peek(2)[:2] != GZIP:
                yield file
                return
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield unpacked
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise Unreadable(f"{path}: its gzip ends early or is damaged; {COPY}") from None
