"""Output of `ping`: of iputils, busybox, BSD and macOS, and of Windows, in any language.

Each answered echo is a sample. Its time is its stamp (`-D`, `--apple-time` has none of a date); without stamps the number of the echo,
times the interval that the summary shows, else times a second, which is every ping's default. A flood and `-q` have the summary alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...data.foreign_text import Unreadable
from ...data.quantities import FLOW, SERIES
from .model import PING, Flow, Series, Test, add_round_trips

# "PING host (address)", "PING host(name (address))" of IPv6, "PING6(56=40+8+8 bytes) own --> address" of BSD, "PING host: 56 data bytes".
HEAD = re.compile(
    r"\s*PING (?P<name>[^\s(]+) ?\((?:\S+ \()?(?P<address>[^()\s]+)\)"
    r"|\s*PING6\(.*\) \S+ --> (?P<six>\S+)"
    r"|\s*PING (?P<host>\S+?):?(?:\s|$)"
)
# Windows: its words, but not their order, depend on the language: "Pinging host [address] with 32 bytes of data:".
HEAD_WINDOWS = re.compile(r".*\bping(?:ing)?\b.*?\s(\S+)(?: \[([^\]]+)\])? \S+ \d+ \S+ .*:\s*$", re.IGNORECASE)
STAMP = re.compile(r"\[(\d{9,10}\.\d{1,9})\] ")
DECIMAL = r"\d{1,9}(?:[.,]\d{1,9})?"
# The word for time comes before the number, so the number of the echo or its TTL, which no language changes, shows an answer.
ANSWER = re.compile(
    rf"\b(?:\d+ bytes from|Reply from) .*?\btime[=<]\s*({DECIMAL}) ?(ms|us|s)?\b"
    rf"|\b(?:icmp_)?[sr]eq=\d+\b.*\s[^\s=<]+[=<]({DECIMAL}) ?(ms|us|s)\b"
    rf"|[^\s=<] ?[=<]({DECIMAL}) ?(ms)\s*(?:TTL=\d+\s*)?$",
    re.IGNORECASE,
)
NUMBER = re.compile(r"\b(?:icmp_)?[sr]eq=(\d{1,9})\b")
SUMMARY = re.compile(r"\s*(\d{1,12}) [^\d,%=]+, (\d{1,12}) [^\d,%=]+,.*\d ?%")
SUMMARY_WINDOWS = re.compile(
    r"[^=]*[^\s=] ?= ?(\d{1,12})[,\uff0c][^=]+= ?(\d{1,12})[,\uff0c][^=]+= ?\d{1,12}(?!\d| ?ms)"
)
WHOLE = re.compile(r", \S+ (\d{1,12}) ?ms\s*$")
# Minimum, mean and maximum; Windows has them in another order, and in whole milliseconds.
LEVELS = re.compile(rf"min/avg/max\S* = ({DECIMAL})/({DECIMAL})/{DECIMAL}(?:/{DECIMAL})? (ms|us|s)\b")
# A line of Windows for an echo without an answer, in words: no heading, prompt or break.
SENTENCE = re.compile(r"[^>:]+ [^>]*[^>:\s]\s*$")
SECONDS = {"ms": 1e-3, "us": 1e-6, "s": 1.0, None: 1e-3}
LONGEST_LINE = 500
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
    unanswered: int = 0
    """of Windows, which has a line for each"""
    sent: int | None = None
    received: int | None = None
    whole_s: float | None = None
    levels_s: tuple[float, float] | None = None
    """minimum and mean of the summary"""
    is_windows: bool = False

    @property
    def interval_s(self) -> float | None:
        """Between echoes, by the summary of iputils."""
        return self.whole_s / (self.sent - 1) if self.whole_s and self.sent and self.sent > 1 else None

    @property
    def is_answered(self) -> bool:
        """Whether the host answered, by its answers or by the summary alone."""
        return bool(self.rtts_s) or (self.levels_s is not None and bool(self.received))


def looks_like_ping(text: str) -> bool:
    """Whether a text that begins so is of ping."""
    lines = [line for line in text.splitlines()[:20] if line.strip() and len(line) < LONGEST_LINE]
    return any(_head(line) for line in lines[:5]) or any(ANSWER.search(line) for line in lines)


def tests_of(file: str, text: str) -> list[Test]:
    """A test for each run of ping in a text. Raises `Unreadable` if none was answered."""
    runs = _runs(text.splitlines())
    answered = [run for run in runs if run.is_answered]
    if not answered:
        raise Unreadable(f"{file}: no echo was answered; is the host there, and does it answer pings?")
    return [_test(file, run) for run in answered]


def _head(line: str) -> _Run | None:
    """The run that a line begins."""
    if found := HEAD.match(line):
        return _Run(found["address"] or found["six"] or found["host"])
    if found := HEAD_WINDOWS.match(line):
        return _Run(found[2] or found[1], is_windows=True)
    return None


def _runs(lines: Iterable[str]) -> list[_Run]:
    found: list[_Run] = []
    for line in (each for each in lines if len(each) < LONGEST_LINE):
        if run := _head(line):
            found.append(run)
        elif answer := ANSWER.search(line):
            found = found or [_Run("server", is_windows=NUMBER.search(line) is None)]
            _add(found[-1], line, answer)
        elif found:
            _summarise(found[-1], line)
    return found


def _add(run: _Run, line: str, answer: re.Match[str]) -> None:
    if "DUP!" in line:
        run.duplicates += 1
        return
    number, stamp = NUMBER.search(line), STAMP.match(line)
    told, unit = next(
        (value, unit) for value, unit in zip(answer.groups()[::2], answer.groups()[1::2], strict=True) if value
    )
    # Linux wraps the number after 65,535.
    index = int(number[1]) if number else len(run.numbers) + run.unanswered
    if run.numbers and index < WRAP:
        index += WRAP * round((run.numbers[-1] + 1 - index) / WRAP)
    run.numbers.append(index)
    run.rtts_s.append(_decimal(told) * SECONDS[unit and unit.lower()])
    run.stamps_s.append(float(stamp[1]) if stamp else None)


def _decimal(text: str) -> float:
    return float(text.replace(",", "."))


def _summarise(run: _Run, line: str) -> None:
    if counts := SUMMARY.match(line):
        run.sent, run.received = int(counts[1]), int(counts[2])
        if whole := WHOLE.search(line):
            run.whole_s = int(whole[1]) / 1e3
    elif counts := SUMMARY_WINDOWS.match(line):
        run.sent = int(counts[1])
    elif levels := LEVELS.search(line):
        scale = SECONDS[levels[3]]
        run.levels_s = _decimal(levels[1]) * scale, _decimal(levels[2]) * scale
    elif run.is_windows and run.sent is None and SENTENCE.match(line):
        run.unanswered += 1


def _test(file: str, run: _Run) -> Test:
    flow = Flow("station", run.host, "up", "udp", PING, "ping")
    notes: list[str] = []
    began_s, times_s = _times(file, run, notes)
    if run.rtts_s:
        flow.series[SERIES.rtt_s] = Series(times_s, run.rtts_s)
        add_round_trips(flow, run.rtts_s)
    elif run.levels_s is not None:
        flow.values[FLOW.rtt_min_s], flow.values[FLOW.rtt_mean_s] = run.levels_s
    _add_lost(flow, run)
    if run.received is not None and len(run.rtts_s) < run.received:
        what = f"round trips of {len(run.rtts_s)}" if run.rtts_s else "no single round trips"
        notes.append(f"{file}: has {what} of {run.received} answers; the summary has the count of all")
    if run.duplicates:
        notes.append(f"{file}: {run.duplicates} answers came twice and are left out")
    return Test("ping", "ping", "", [file], [flow], began_s, 0.0, max(times_s, default=run.whole_s or 0.0), notes)


def _times(file: str, run: _Run, notes: list[str]) -> tuple[float | None, list[float]]:
    """When the run began, in seconds since 1970, and the times of its answers."""
    stamps = [stamp for stamp in run.stamps_s if stamp is not None]
    if stamps and len(stamps) == len(run.rtts_s):
        return stamps[0], [stamp - stamps[0] for stamp in stamps]
    if run.rtts_s and run.interval_s is None:
        notes.append(f"{file}: has no times; echoes are taken to be a second apart, which is the default")
    step_s = run.interval_s or DEFAULT_S
    return None, [(number - run.numbers[0]) * step_s for number in run.numbers]


def _add_lost(flow: Flow, run: _Run) -> None:
    """Echoes without an answer, by the summary; in its absence those between the first and the last answer.

    Windows counts an answer of a router, "host unreachable", among the received.
    """
    answers = run.rtts_s if run.received is None else range(run.received)
    sent = run.sent or (len(answers) + run.unanswered if run.is_windows else run.numbers[-1] - run.numbers[0] + 1)
    flow.values[FLOW.segments_sent] = sent
    if sent >= len(answers):
        flow.values[FLOW.loss_fraction] = 1 - len(answers) / sent
