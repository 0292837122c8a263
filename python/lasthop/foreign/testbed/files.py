"""Files of a testbed, recognised by their content and grouped into tests."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from ...data.quantities import FLOW
from . import flent, iperf3, iperf3_file, ss, ss_log
from .iperf3_file import Document
from .model import Test, Unreadable, add_ids
from .ss_log import Log

GZIP = b"\x1f\x8b"
HEAD_BYTES = 65_536
IPERF3, FLENT, SS = "iperf3", "flent", "ss"


def kind_of(path: str) -> str | None:
    """Returns the program that wrote a file: `iperf3`, `flent`, `ss`; None for others, such as a capture. Raises `OSError`
    if it cannot be read.
    """
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    if head.startswith(GZIP):
        head = zlib.decompressobj(31).decompress(head, HEAD_BYTES) if _is_sound(head) else b""
    if b"\0" in head[:512]:
        return None
    text = head.decode(errors="replace")
    if path.endswith((".flent", ".flent.gz")) or flent.looks_like_flent(text):
        return FLENT
    if iperf3_file.looks_like_iperf3(text):
        return IPERF3
    return SS if ss_log.looks_like_ss(text) else None


def _is_sound(head: bytes) -> bool:
    try:
        zlib.decompressobj(31).decompress(head, HEAD_BYTES)
    except zlib.error:
        return False
    return True


def read_tests(paths: Sequence[str], show: Callable[[float], None] | None = None) -> list[Test]:
    """The tests in these files, in the order in which the files name them.

    Ends of one test of iperf3 belong together by its cookie, a log of ss by its connections. `show` receives the progress, from
    0 to 1. Raises `Unreadable` with a sentence, `OSError` if a file cannot be read.
    """
    documents: list[Document] = []
    logs: list[Log] = []
    tests: list[Test] = []
    for done, path in enumerate(paths):
        kind = kind_of(path)
        if kind == FLENT:
            tests.append(flent.test_of(path, _text(path)))
        elif kind == IPERF3:
            documents += iperf3_file.documents(path, _text(path))
        elif kind == SS:
            logs.append(_log(path))
        else:
            raise Unreadable(f"{path}: is not a file of iperf3 --json, of Flent or of ss -tin")
        if show is not None:
            show((done + 1) / len(paths))
    tests += [iperf3.test_of(told) for told in _by_test(documents)]
    alone = []
    for log in logs:
        sharing = [test for test in tests if ss.shares_connections(test, log)]
        for test in sharing:
            ss.add_to(test, log)
        if not sharing:
            alone.append(log)
    tests += ss.tests_of(alone)
    for test in tests:
        add_ids(test.flows)
        if not test.flows:
            raise Unreadable(f"{', '.join(test.files)}: no connection in it carried data; log while the test runs")
        test.notes += _doubts(test)
    return sorted(tests, key=lambda test: min(map(list(paths).index, test.files)))


def _doubts(test: Test) -> list[str]:
    """Returns notes on quantities that the files lack, with the files that would have them."""
    files, found = ", ".join(test.files), []
    unknown = [flow for flow in test.flows if flow.ends and flow.values.get(FLOW.goodput_bps) is None]
    if unknown:
        ends = " and the ".join(dict.fromkeys("server" if flow.direction == "up" else "client" for flow in unknown))
        found.append(
            f"{files}: goodput is unknown, as only the {ends} count received bytes; give its file, or a log of ss, too"
        )
    written = [flow for flow in test.flows if flow.is_as_written and flow.series]
    if written:
        remedy = "" if test.tool == FLENT else "; what arrived in each interval is in the file of the other end"
        found.append(
            f"{files}: goodput of {', '.join(flow.id for flow in written)} over time is the sender's writes{remedy}"
        )
    return found


def _log(path: str) -> Log:
    """A log of ss, line by line, as such logs grow long."""
    with open(path, "rb") as file:
        packed = file.read(2) == GZIP
    try:
        with (gzip.open if packed else open)(path, "rt", encoding="utf-8", errors="replace") as lines:
            return ss_log.read_log(path, lines)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise Unreadable(f"{path}: its gzip ends early or is damaged; copy the file once more") from None


def _text(path: str) -> str:
    data = Path(path).read_bytes()
    try:
        return (gzip.decompress(data) if data.startswith(GZIP) else data).decode()
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise Unreadable(f"{path}: its gzip ends early or is damaged; copy the file once more") from None
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"{path}, byte {error.start}: is not UTF-8, in which this format is written; copy the file once more"
        ) from None


def _by_test(documents: list[Document]) -> list[list[Document]]:
    """Documents of the same test together: a client, a server, or both."""
    found: dict[object, list[Document]] = {}
    for place, document in enumerate(documents):
        found.setdefault(document.cookie or place, []).append(document)
    return [_each_end_once(group) for group in found.values()]


def _each_end_once(group: list[Document]) -> list[Document]:
    """Keeps the first report of an end that is reported twice, e.g. by its own file and by --get-server-output."""
    return list({document.is_client: document for document in reversed(group)}.values())
