"""The widths of texts, by which titles are broken and names laid out, before anything is drawn."""

from __future__ import annotations

import re
from functools import cache

FONT = "DejaVu Sans"


# A place in a long word where a line may end, itself nothing.
BREAK = "\N{ZERO WIDTH SPACE}"


def breakable(text: str) -> str:
    """`text` with such places behind the points of paths and the like."""
    return re.sub(r"(?<=\w[._/])(?=\w)", BREAK, text)


def wrapped(text: str, width_points: float, size_points: float) -> list[str]:
    """`text` in lines of at most this width and much the same length, broken at spaces that break."""
    lines = _filled(text, width_points, size_points)
    # As narrow as the same number of lines can be: no word is left alone on the last.
    least, most = 0.0, width_points
    while len(lines) > 1 and most - least > size_points:
        middle = (least + most) / 2
        narrower = _filled(text, middle, size_points)
        if len(narrower) > len(lines) or max(width_of(line, size_points) for line in narrower) > width_points:
            least = middle
        else:
            lines, most = narrower, middle
    return lines


def _filled(text: str, width_points: float, size_points: float) -> list[str]:
    lines: list[str] = []
    # Words, and in between them what parts them.
    first, *pairs = re.split(f"([ {BREAK}])", text)
    lines.append(first)
    for between, word in zip(pairs[::2], pairs[1::2], strict=True):
        longer = f"{lines[-1]}{between.strip(BREAK)}{word}"
        if width_of(longer, size_points) <= width_points:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


@cache
def width_of(text: str, size_points: float) -> float:
    """The width of a line of text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font = FontProperties(family=FONT, size=size_points)
    return TextToPath().get_text_width_height_descent(text, font, ismath=False)[0]
