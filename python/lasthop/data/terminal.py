"""The one door for text to a terminal: it takes control characters out, since names and messages may be somebody else's."""

from __future__ import annotations

import re

# C0 but tab and line feed, DEL, C1, line and paragraph separators, and marks that turn the direction of text around.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""`text` with `\u001b` in place of an escape character, and so on; within JSON it means the same."""
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
