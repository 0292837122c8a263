"""Texts with the output of several commands, cut into one report for each command.

A report begins with a line that only its command prints. Indented and empty lines continue it, other lines end it: a shell's prompt,
or the name that `head` and `tail` print before a file. Such a line is the context of the next report, as it may name a device or a station.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..testbed.ss_log import STATES

IW, SS, TC, SURVEY, RATES, NIC = "iw", "ss", "tc", "survey", "rc_stats", "ethtool"
HEADS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (IW, re.compile(r"(?:Station|Connected to)\s+[0-9A-Fa-f:]{17}\s+\(on \S+\)")),
    (SURVEY, re.compile(r"Survey data from \S+")),
    (TC, re.compile(r"qdisc \S+ [0-9a-fA-F]+: ")),
    (
        RATES,
        re.compile(r"\s*best\s+_{4,}\s*rate_|\s*(?:type\s+)?rate\s+throughput|(?:CCK|OFDM|V?HT\d+)(?:,|/[LS]GI|\s)"),
    ),
    (NIC, re.compile(r"NIC statistics:")),
)
# Fields of `iw` that have lost their indentation on the way through a forum.
OF_IW = re.compile(
    r"(?:[rt]x|RX|TX|signal|beacon|inactive|connected|associated|current|auth|preamble|WMM|MFP|TDLS|DTIM|dtim|short|mesh|last ack|avg ack|expected"
    r"|airtime|SSID|freq|bss flags)[^:]*:"
)
# The first line of a report, behind a time stamp, the name of a log, or the mark of a quotation.
PREFIXED = re.compile(
    r"(?P<prefix>\S.*?[\s>|]|\s+)(?:(?:Station|Connected to)\s+[0-9A-Fa-f:]{17}\s+\(on \S+\)|Survey data from \S|NIC statistics:|qdisc \S+ [0-9a-fA-F]+: dev )"
)
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# The second and third line of a table of rates, and its last ones.
OF_RATES = re.compile(r"mode guard #|rate\s+\[name|Total packet count|Average ")
LOOKED_AT = 400
"""lines of a text in which a report must begin"""


@dataclass
class Report:
    """The output of one command."""

    kind: str
    context: str
    """the latest line before it that belongs to no report"""
    lines: list[str] = field(default_factory=list)


def reports(text: str) -> list[Report]:
    """The reports in a text, in their order."""
    found: list[Report] = []
    current: Report | None = None
    context = ""
    for line in _lines(text):
        kind = _kind(line)
        if kind is not None and (current is None or current.kind != kind):
            current = Report(kind, context)
            found.append(current)
        elif kind is None and not _continues(line, current):
            current, context = None, line if line.strip() else context
        if current is not None:
            current.lines.append(line)
    return found


def has_report(text: str) -> bool:
    """Whether a text has the output of a command that is read."""
    return any(_kind(line) is not None for line in _lines(text)[:LOOKED_AT])


def _lines(text: str) -> list[str]:
    """The lines of a text without colours, and without a prefix of them all."""
    lines = COLOURS.sub("", text).splitlines()
    found = next((found for line in lines[:LOOKED_AT] if (found := PREFIXED.match(line))), None)
    if found is None:
        return lines
    # Times change from line to line.
    shape = re.compile(re.sub(r"\d+", r"\\d+", re.escape(found["prefix"])))
    return [shape.sub("", line, count=1) if shape.match(line) else line for line in lines]


def _kind(line: str) -> str | None:
    for kind, head in HEADS:
        if head.match(line):
            return kind
    return SS if _is_of_ss(line) else None


def _is_of_ss(line: str) -> bool:
    words = line.split()
    return not line[:1].isspace() and (bool(STATES.intersection(words[:2])) or words[1:2] == ["Recv-Q"])


def _continues(line: str, current: Report | None) -> bool:
    if current is None:
        return False
    more = {RATES: OF_RATES, IW: OF_IW}.get(current.kind)
    return not line.strip() or line[0].isspace() or (more is not None and more.match(line) is not None)


def of_kind(every: list[Report], kind: str) -> Iterator[Report]:
    """The reports of one command."""
    return (report for report in every if report.kind == kind)
