"""Numbers for sentences, without an exponent where digits do."""

from __future__ import annotations

# From here on digits say less than an exponent.
LARGE = 1e9


def plain(value: float, digits: int) -> str:
    """`value` with so many significant digits, and all digits before the point: 100, not 1e+02.

    Very small and very large numbers keep their exponent.
    """
    text = f"{value:.{digits}g}"
    return text if "e+" not in text or abs(value) >= LARGE else f"{value:.0f}"
