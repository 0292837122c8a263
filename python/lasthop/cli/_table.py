"""Tables as text, no wider than the terminal: words are folded, columns of numbers continue below."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence

GAP = "  "
# Columns of words are not folded to less.
LEAST = 12


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, fit: int | None = None) -> str:
    """Aligned columns, the first `left` of them, of words, to the left.

    `fit`: the largest width; by default the terminal's, and unlimited without a terminal.
    """
    fit = _terminal_width() if fit is None else fit
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    if fit is None or _total(widths) <= fit:
        return _text(lines, widths, left)
    numbers = list(range(left, len(head)))
    widest = max((widths[column] for column in numbers), default=0)
    room = fit - (widest + len(GAP) if numbers else 0)
    # A name is found by being whole: columns of several words give way first.
    sentences = [column for column in range(left) if any(" " in line[column].strip() for line in lines)]
    widths[:left] = _folded(widths[:left], room, sentences)
    widths[:left] = _folded(widths[:left], room, range(left))
    blocks = _blocks(widths, left, numbers, fit)
    parts = [[*range(left), *block] for block in blocks]
    return "\n".join(
        _text([[line[column] for column in part] for line in lines], [widths[column] for column in part], left)
        for part in parts
    )


def _terminal_width() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _folded(widths: Sequence[int], room: int, among: Sequence[int]) -> list[int]:
    """Widths that fit into `room`: the widest columns of `among` shrink, at most to `LEAST`."""
    folded = list(widths)
    while _total(folded) > room:
        widest = max(among, key=folded.__getitem__, default=None)
        if widest is None or folded[widest] <= LEAST:
            break
        folded[widest] -= 1
    return folded


def _blocks(widths: Sequence[int], left: int, numbers: Sequence[int], fit: int) -> list[list[int]]:
    """Columns of numbers that fit side by side; at least one in each block."""
    blocks: list[list[int]] = [[]]
    for column in numbers:
        wide = _total([*widths[:left], *(widths[other] for other in blocks[-1]), widths[column]])
        if blocks[-1] and wide > fit:
            blocks.append([])
        blocks[-1].append(column)
    return blocks


def _text(lines: Sequence[Sequence[str]], widths: Sequence[int], left: int) -> str:
    head, *rows = lines
    rule = ["─" * width for width in widths]
    return "".join(_line(line, widths, left) for line in (head, rule, *rows))


def _line(line: Sequence[str], widths: Sequence[int], left: int) -> str:
    """One row, on as many lines as its longest cell needs."""
    cells = [_wrapped(text, width) for text, width in zip(line, widths, strict=True)]
    height = max((len(cell) for cell in cells), default=1)
    text = ""
    for number in range(height):
        parts = [cell[number] if number < len(cell) else "" for cell in cells]
        aligned = [
            part.ljust(width) if column < left else part.rjust(width)
            for column, (part, width) in enumerate(zip(parts, widths, strict=True))
        ]
        text += GAP.join(aligned).rstrip() + "\n"
    return text


def _wrapped(text: str, width: int) -> list[str]:
    return [text] if len(text) <= width else textwrap.wrap(text, width) or [""]
