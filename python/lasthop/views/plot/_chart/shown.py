"""A figure that a notebook shows without a backend of matplotlib being chosen."""

from __future__ import annotations

from io import StringIO

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure with what IPython asks an object for."""

    def _repr_svg_(self) -> str:
        text = StringIO()
        self.savefig(text, format="svg")
        return text.getvalue()
