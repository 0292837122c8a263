"""Files of a testbed, recognised by their content and grouped into tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...data.foreign_text import Unreadable, head_of, lines_of, text_of
from ...data.quantities import FLOW
from . import flent, iperf2, iperf3, iperf3_file, netperf, ping, qlog, qlog_file, ss, ss_log
from .iperf3_file import Document
from .model import Test, add_ids, plain
from .ss_log import Log

IW = re.compile(r"^(?:Station|Connected to) [0-9A-Fa-f:]{17} \(on ", re.MULTILINE)
IPERF3, FLENT, SS = "iperf3", "flent", "ss"


class Reader(NamedTuple):
    """A program whose output is whole tests, in one file."""

    kind: str
    looks_like: Callable[[str], bool]
    tests_of: Callable[[str, str], list[Test]]
    is_log: bool = True
    """whether people read it too, so that its words are of any language and code page"""


READERS = (
    Reader("qlog", qlog_file.looks_like_qlog, qlog.tests_of, is_log=False),
    Reader("netperf", netperf.looks_like_netperf, netperf.tests_of),
    Reader("iperf2", iperf2.looks_like_iperf2, iperf2.tests_of),
    Reader("ping", ping.looks_like_ping, ping.tests_of),
)
TAKEN = "iperf3 --json, iperf2, netperf, ping, qlog, Flent or ss -tin"


def kind_of(path: str) -> str | None:
    """Returns the program that wrote a file, such as `iperf3`, `flent` or `ss`; None for others, such as a capture.

    Raises `OSError` if it cannot be read.
    """
    text = head_of(path)
    if text is None:
        return None
    if path.endswith((".flent", ".flent.gz")) or flent.looks_like_flent(text):
        return FLENT
    if iperf3_file.looks_like_iperf3(text):
        return IPERF3
    found = next((reader.kind for reader in READERS if reader.looks_like(text)), None)
    # A session at a host has `iw` too, and is for twins.
    is_log = ss_log.looks_like_ss(text) and IW.search(text) is None
    return found or (SS if is_log else None)


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
            tests.append(flent.test_of(path, text_of(path)))
        elif kind == IPERF3:
            documents += iperf3_file.documents(path, text_of(path))
        elif kind == SS:
            logs.append(ss_log.read_log(path, lines_of(path, "is it a log of ss?")))
        else:
            tests += _whole_tests(path, kind)
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
        test.name, test.version, test.notes = (
            plain(test.name),
            plain(test.version),
            [plain(note) for note in test.notes],
        )
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
        remedy = "" if test.tool != IPERF3 else "; what arrived in each interval is in the file of the other end"
        found.append(
            f"{files}: goodput of {', '.join(flow.id for flow in written)} over time is the sender's writes{remedy}"
        )
    return found


def _whole_tests(path: str, kind: str | None) -> list[Test]:
    for reader in READERS:
        if reader.kind == kind:
            return reader.tests_of(path, text_of(path, is_log=reader.is_log))
    raise Unreadable(f"{path}: is not a file of {TAKEN}")


def _by_test(documents: list[Document]) -> list[list[Document]]:
    """Documents of the same test together: a client, a server, or both."""
    found: dict[object, list[Document]] = {}
    for place, document in enumerate(documents):
        found.setdefault(document.cookie or place, []).append(document)
    return [_each_end_once(group) for group in found.values()]


def _each_end_once(group: list[Document]) -> list[Document]:
    """Keeps the first report of an end that is reported twice, e.g. by its own file and by --get-server-output."""
    return list({document.is_client: document for document in reversed(group)}.values())
