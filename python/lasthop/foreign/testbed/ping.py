"""Output of `ping`: of iputils, busybox, BSD and macOS, and of Windows in English.

Each answered echo is a sample. Its time is its stamp (`-D`, `--apple-time` has none of a date); without stamps the number of the echo,
times the interval that the summary shows, else times a second, which is every ping's default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...data.foreign_text import Unreadable
from ...data.quantities import FLOW, SERIES
from .model import PING, Flow, Series, Test, add_round_trips

HEAD = re.compile(r"\s*(?:PING|Pinging) (\S+?)(?: [\[(]([^\])]+)[\])])?(?::| with|\s|$)", re.IGNORECASE)
STAMP = re.compile(r"\[(\d{9,10}\.\d{1,9})\] ")
ANSWER = re.compile(
    r"(?:\d+ bytes from|Reply from) .*?\btime([=<])\s*(\d{1,9}(?:\.\d{1,9})?) ?(ms|us|s)?\b", re.IGNORECASE
)
NUMBER = re.compile(r"\b(?:icmp_)?seq=(\d{1,9})\b")
SUMMARY = re.compile(r"(\d{1,12}) packets transmitted, \d+(?: packets)? received")
WINDOWS = re.compile(r"Sent = (\d{1,12}), Received = \d+")
WHOLE = re.compile(r"\btime (\d{1,12})ms")
SECONDS = {"ms": 1e-3, "us": 1e-6, "s": 1.0, None: 1e-3}
DEFAULT_S = 1.0
WRAP = 1 << 16
"""the number of an echo has 16 bits"""


@dataclass
class _Run:
    """One run of ping."""

    host: str
    numbers: list[int] = field(default_factory=list)
    rtts_s: list[float] = field(default_factory=list)
    stamps_s: list[float | None] = field(default_factory=list)
    duplicates: int = 0
    sent: int | None = None
    whole_s: float | None = None

    @property
    def interval_s(self) -> float | None:
        """Between echoes, by the summary of iputils."""
        return self.whole_s / (self.sent - 1) if self.whole_s and self.sent and self.sent > 1 else None


def looks_like_ping(text: str) -> bool:
    """Whether a text that begins so is of ping."""
    lines = [line for line in text.splitlines()[:20] if line.strip()]
    return any(HEAD.match(line) for line in lines[:5]) or any(ANSWER.search(line) for line in lines)


def tests_of(file: str, text: str) -> list[Test]:
    """A test for each run of ping in a text. Raises `Unreadable` if none was answered."""
    runs = _runs(text.splitlines())
    answered = [run for run in runs if run.rtts_s]
    if not answered:
        raise Unreadable(f"{file}: no echo was answered; is the host there, and does it answer pings?")
    return [_test(file, run) for run in answered]


def _runs(lines: Iterable[str]) -> list[_Run]:
    found: list[_Run] = []
    for line in lines:
        head = HEAD.match(line)
        if head is not None and not line.lstrip().startswith("Ping statistics"):
            found.append(_Run(head[2] or head[1]))
        elif answer := ANSWER.search(line):
            found = found or [_Run("server")]
            _add(found[-1], line, answer)
        elif found:
            _summarise(found[-1], line)
    return found


def _add(run: _Run, line: str, answer: re.Match[str]) -> None:
    if "DUP!" in line:
        run.duplicates += 1
        return
    number, stamp = NUMBER.search(line), STAMP.match(line)
    rtt_s = float(answer[2]) * SECONDS[answer[3] and answer[3].lower()]
    # Linux wraps the number after 65,535.
    index = int(number[1]) if number else (run.numbers[-1] + 1 if run.numbers else 0)
    if run.numbers and index < WRAP:
        index += WRAP * round((run.numbers[-1] + 1 - index) / WRAP)
    run.numbers.append(index)
    run.rtts_s.append(rtt_s)
    run.stamps_s.append(float(stamp[1]) if stamp else None)


def _summarise(run: _Run, line: str) -> None:
    if counts := SUMMARY.search(line) or WINDOWS.search(line):
        run.sent = int(counts[1])
    if whole := WHOLE.search(line):
        run.whole_s = int(whole[1]) / 1e3


def _test(file: str, run: _Run) -> Test:
    flow = Flow("station", run.host, "up", "udp", PING, "ping")
    stamps = [stamp for stamp in run.stamps_s if stamp is not None]
    began_s = stamps[0] if len(stamps) == len(run.rtts_s) else None
    step_s = run.interval_s or DEFAULT_S
    times_s = (
        [stamp - began_s for stamp in stamps]
        if began_s is not None
        else [(n - run.numbers[0]) * step_s for n in run.numbers]
    )
    flow.series[SERIES.rtt_s] = Series(times_s, run.rtts_s)
    add_round_trips(flow, run.rtts_s)
    _add_lost(flow, run)
    notes = []
    if began_s is None and run.interval_s is None:
        notes.append(f"{file}: has no times; echoes are taken to be a second apart, which is the default")
    if run.duplicates:
        notes.append(f"{file}: {run.duplicates} answers came twice and are left out")
    return Test("ping", "ping", "", [file], [flow], began_s, 0.0, max(times_s), notes)


def _add_lost(flow: Flow, run: _Run) -> None:
    """Echoes without an answer, by the summary; in its absence those between the first and the last answer."""
    sent = run.sent or run.numbers[-1] - run.numbers[0] + 1
    flow.values[FLOW.segments_sent] = sent
    if sent >= len(run.rtts_s):
        flow.values[FLOW.loss_fraction] = 1 - len(run.rtts_s) / sent
