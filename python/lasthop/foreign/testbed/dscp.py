"""Code points by their names, as scenarios write them."""

from __future__ import annotations

from typing import Any

NAMES = {
    **{8 * number: f"CS{number}" for number in range(8)},
    **{8 * group + 2 * drop: f"AF{group}{drop}" for group in range(1, 5) for drop in range(1, 4)},
    46: "EF",
    44: "VA",
    1: "LE",
}
"""[RFC 2474 §4.2.2.2; RFC 2597 §6; RFC 3246; RFC 5865; RFC 8622]"""


def dscp_of(tos: Any) -> str | None:
    """The name of the code point in the byte of the type of service; a number if it has no name."""
    if not isinstance(tos, int) or isinstance(tos, bool) or not 0 <= tos <= 255:
        return None
    return NAMES.get(tos >> 2, str(tos >> 2))
