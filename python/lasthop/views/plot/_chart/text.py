"""The widths of texts, needed to break titles and lay out names before anything is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

FONT = "DejaVu Sans"


def wrapped(text: str, width_points: float, size_points: float) -> list[str]:
    """`text` in lines of at most this width and of similar length, broken at spaces except no-break spaces.

    A word longer than a line, such as a path, is broken behind its dots and underscores.
    """
    pieces = list(_pieces(text, width_points, size_points))
    lines = _filled(pieces, width_points, size_points)
    # As narrow as the number of lines allows: the last line has no lone word.
    least, most = 0.0, width_points
    while len(lines) > 1 and most - least > size_points:
        middle = (least + most) / 2
        narrower = _filled(pieces, middle, size_points)
        if len(narrower) > len(lines) or max(width_of(line, size_points) for line in narrower) > width_points:
            least = middle
        else:
            lines, most = narrower, middle
    return lines


def _pieces(text: str, width_points: float, size_points: float) -> Iterator[tuple[str, str]]:
    """Splits text into unbreakable pieces, each with the separator before it."""
    for word in text.split(" "):
        if width_of(word, size_points) <= width_points:
            yield " ", word
        else:
            first, *others = (piece for piece in re.split(r"(?<=[._/])", word) if piece)
            yield " ", first
            yield from (("", piece) for piece in others)


def _filled(pieces: Iterable[tuple[str, str]], width_points: float, size_points: float) -> list[str]:
    lines: list[str] = []
    for between, piece in pieces:
        longer = f"{lines[-1]}{between}{piece}" if lines else piece
        if lines and width_of(longer, size_points) <= width_points:
            lines[-1] = longer
        else:
            lines.append(piece)
    return lines


def width_of(text: str, size_points: float) -> float:
    """The width of a line of text in points."""
    return size_points * _width_in_ems(text)


@lru_cache(maxsize=4096)
def _width_in_ems(text: str) -> float:
    """Outlines without hints scale with their size, so one measure is enough for all sizes."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    return TextToPath().get_text_width_height_descent(text, FontProperties(family=FONT, size=1.0), ismath=False)[0]
