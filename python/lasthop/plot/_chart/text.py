"""The widths of texts, by which titles are broken and names laid out, before anything is drawn."""

from __future__ import annotations

FONT = "DejaVu Sans"


def wrapped(text: str, width_points: float, size_points: float) -> list[str]:
    """`text` in lines of at most this width, broken at spaces but not at those that do not break."""
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
