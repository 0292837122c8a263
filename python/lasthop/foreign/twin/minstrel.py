"""`rc_stats` and `rc_stats_csv` of mac80211's debugfs: attempts and successes of each rate of one link.

Minstrel prints them for frames that the host sends, as MPDUs, in tables that differ from kernel to kernel. In all of them the last two
columns of a row are the sums of successes and attempts; in CSV three more follow, which are of the whole link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from . import iw
from .observation import Mode

ADDRESS = re.compile(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", re.IGNORECASE)
FORMAT = re.compile(r"(CCK|OFDM|VHT|HT)(\d{0,4})\b", re.ASCII)
MCS = re.compile(r"MCS(\d{1,3})(?:/(\d{1,3}))?", re.ASCII)
# The marks of the best rates may touch the rate, as in "P54".
LEGACY = re.compile(r"[A-DTtP]{0,5}(\d{1,3}(?:\.\d{1,3})?)(M?)", re.ASCII)
LEGACY_MBPS = iw.DSSS_MBPS + iw.OFDM_MBPS
COUNT = re.compile(r"\d{1,18}", re.ASCII)
OF_LINK = 3
"""columns at the end of a CSV row that are of the whole link"""


@dataclass(frozen=True)
class Rates:
    """The rates of one link."""

    address: str | None
    """of the other end, if the text names it"""
    modes: tuple[Mode, ...]
    """those with attempts"""


def rates_of(context: str, lines: Iterable[str]) -> Rates:
    """The rates in a table; `context` is the line before it, often with the path of the file."""
    address = ADDRESS.search(context)
    modes = [mode for line in lines if (mode := _mode_of(line)) is not None]
    return Rates(address[0].lower() if address else None, tuple(modes))


def _mode_of(line: str) -> Mode | None:
    """The mode of a row with attempts; None for headings and rates that were not tried."""
    is_csv = line.count(",") > OF_LINK
    words = line.replace(",", " ").split() if is_csv else line.split()
    if is_csv:
        words = words[:-OF_LINK]
    if len(words) < 6 or not all(COUNT.fullmatch(word) for word in words[-2:]):
        return None
    succeeded, attempts = int(words[-2]), int(words[-1])
    if attempts == 0 or succeeded > attempts:
        return None
    return _named(words, attempts, attempts - succeeded)


def _named(words: list[str], attempts: int, failed: int) -> Mode | None:
    kind = FORMAT.match(words[0])
    head = " ".join(words[:6])
    index = MCS.search(head)
    if index is None:
        return _legacy(words, attempts, failed)
    is_vht = kind is not None and kind[1] == "VHT"
    width = int(kind[2]) if kind is not None and kind[2] else 20
    guard = 400 if "SGI" in head else 800
    number = int(index[1])
    streams = int(index[2]) if index[2] else number // 8 + 1
    name = f"{'VHT-' if is_vht else ''}MCS {number}{f' of {streams} streams' if is_vht else ''}"
    return iw.mode_by_index(name, "vht" if is_vht else "ht", number, streams, width, guard, attempts, failed)


def _legacy(words: list[str], attempts: int, failed: int) -> Mode | None:
    """The mode of the first rate in a row: the word with an M, or, where Minstrel has no groups, the first number."""
    rates = [found for word in words[:5] if (found := LEGACY.fullmatch(word))]
    rate = next((each for each in rates if each[2]), None if words[0] in ("CCK", "OFDM") or not rates else rates[0])
    if rate is None or float(rate[1]) not in LEGACY_MBPS:
        return None
    return iw.legacy_mode(f"{rate[1]} Mbit/s", float(rate[1]), attempts, failed)
