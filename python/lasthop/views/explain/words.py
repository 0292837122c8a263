"""Shares, rates and lists in words."""

from __future__ import annotations

from collections.abc import Sequence


def percent(share: float) -> str:
    """A share of time: two digits, three from 10 % on."""
    value = 100 * share
    decimals = 1 if abs(value) < 99.95 else 0
    if 0 < value < 0.0005:
        return "< 0.001 %"
    if 0 < abs(value) < 0.05:
        return f"{value:.1g} %"
    return f"{value:.{decimals}f} %"


def points(change: float) -> str:
    """A change of a share, in percentage points."""
    return f"{100 * change:+.1f}"


def rate(bps: float) -> str:
    """A rate in Mbit/s, with three digits."""
    mbps = bps / 1e6
    return f"{mbps:.0f} Mbit/s" if mbps >= 100 else f"{mbps:.3g} Mbit/s"


def count(number: float, noun: str) -> str:
    """A mean count with its noun: `1 time`, `2.5 times`."""
    text = f"{number:.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"
    return f"{text} {noun}{'' if text == '1' else 's'}"


def listed(items: Sequence[str]) -> str:
    """`a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def also(flows: int) -> str:
    """The number of other flows with the same finding, to follow the name of one."""
    return "" if flows == 1 else f" (so {'does' if flows == 2 else 'do'} {flows - 1} more)"
