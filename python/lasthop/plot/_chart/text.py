"""The widths of texts, by which titles are broken and names laid out, before anything is drawn."""

from __future__ import annotations

FONT = "DejaVu Sans"


def wrapped(text: str, width_points: float, size_points: float) -> list[str]:
    """`text` in lines of at most this width and much the same length, broken at spaces but not at those that do not break."""
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
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size_points) <= width_points:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def width_of(text: str, size_points: float) -> float:
    """The width of a line of text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font = FontProperties(family=FONT, size=size_points)
    return TextToPath().get_text_width_height_descent(text, font, ismath=False)[0]
