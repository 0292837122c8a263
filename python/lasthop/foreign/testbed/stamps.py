"""Times of a log, as `date` and people write them before each sample."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

EPOCH = re.compile(r"(?:[A-Za-z]{1,20}[:=]?\s*)?[^\w.]*(\d{9,10}(?:[.,]\d+)?|\d{13}|\d{16}|\d{19})[^\w.]*", re.ASCII)
CLOCK = re.compile(r"(?<![\w:.])(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?![\w:])", re.ASCII)
YEAR = re.compile(r"\b(?:19|20)\d\d\b", re.ASCII)
DAY_S = 86_400.0
MOST_WORDS = 8
"""of a date in any language"""
ZONES = (
    "UTC+0 GMT+0 WET+0 WEST+1 CET+1 CEST+2 EET+2 EEST+3 EST-5 EDT-4 CDT-5 MST-7 MDT-6 PST-8 PDT-7 JST+9 NZST+12 NZDT+13"
)
HOURS = {name: int(hours) for name, hours in re.findall(r"([A-Z]+)([+-]\d+)", ZONES)}
"""east of Greenwich, of the names of zones that have one meaning"""


class Stamp(NamedTuple):
    """A time in seconds: since 1970, or if its date or zone is unknown, since a midnight."""

    time_s: float
    is_dated: bool = True


def stamp_of(line: str) -> Stamp | None:
    """The time that a line is; None for other lines."""
    text = line.strip()
    if not text or line[:1].isspace():
        return None
    if found := EPOCH.fullmatch(text):
        digits = found[1].replace(",", ".")
        whole = len(digits.partition(".")[0])
        return Stamp(float(digits) / float(10 ** max(0, whole - 10)))
    if text[0].isdigit():
        with suppress(ValueError):
            return Stamp(datetime.fromisoformat(text).timestamp())
    return _of_date(text)


def _of_date(text: str) -> Stamp | None:
    """The time of a date as `date` writes it in any language, or of a clock alone."""
    clock = CLOCK.search(text)
    if clock is None or len(text.split()) > MOST_WORDS:
        return None
    is_alone = clock[0] == text
    if not is_alone and not YEAR.search(text.replace(clock[0], "")):
        return None
    hour, minute, second = (int(clock[place]) for place in (1, 2, 3))
    words = [word for word in text.split() if word not in ("AM", "PM")]
    if len(words) < len(text.split()):
        hour = hour % 12 + (12 if "PM" in text.split() else 0)
    if hour > 23 or minute > 59 or second > 60:
        return None
    of_day_s = hour * 3600.0 + minute * 60.0 + second + float(f"0.{clock[4] or 0}")
    if len(words) == 6 and words[4] in HOURS:
        with suppress(ValueError):
            day = datetime.strptime(" ".join([*words[1:3], words[5]]), "%b %d %Y").replace(tzinfo=UTC)
            return Stamp(day.timestamp() + of_day_s - 3600.0 * HOURS[words[4]])
    return Stamp(of_day_s, is_dated=False)
