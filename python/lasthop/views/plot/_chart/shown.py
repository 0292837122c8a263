"""A figure that a notebook shows without a matplotlib backend."""

from __future__ import annotations

from io import StringIO

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure with the method by which IPython shows an object."""

    def _repr_svg_(self) -> str:
        text = StringIO()
        self.savefig(text, format="svg")
        return text.getvalue()
