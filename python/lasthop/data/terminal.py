"""The one door for text to a terminal: it takes control characters out, since names and messages may be somebody else's."""

from __future__ import annotations

import re

# C0 but tab and line feed, DEL, C1, line and paragraph separators, and marks that turn the direction of text around.
RANGES = ((0, 8), (0x0B, 0x1F), (0x7F, 0x9F), (0x2028, 0x2029), (0x202A, 0x202E), (0x2066, 0x2069))
CONTROL = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in RANGES) + "]")


def printable(text: str) -> str:
    r"""`text` with `\u001b` in place of an escape character, and so on; within JSON it means the same."""
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
