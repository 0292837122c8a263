"""Plots of results: one file each, found by listing this folder.

Each module has `SUMMARY` (one line for the help text) and `draw(results, figure)`.
"""

from __future__ import annotations

import os
import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

from ._chart import Chart, Curve, cdf_curve, csv_text, draw_chart, write_chart
from ._style import INCHES_PER_COLUMN, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..result import Result

FORMATS = ("png", "pdf", "svg")


def kinds() -> list[str]:
    """The names of all plots."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def draw(kind: str, results: list[Result], out: str | os.PathLike[str] | None = None) -> Figure:
    """Draws `kind` of one result or several, and writes it to `out` if given, whole or not at all.

    Raises `ValueError` for an unknown kind or ending, `LookupError` where a result lacks what the plot shows.
    """
    if kind not in kinds():
        raise ValueError(f"unknown plot {kind!r}; one of: {', '.join(kinds())}")
    ending = file_format(out) if out is not None else "png"
    # Loaded only now: matplotlib takes longer to import than many a run to finish.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from ..files import PendingFile, is_special

    with rc_context(style()):
        figure = Figure(figsize=INCHES_PER_COLUMN, layout="constrained")
        import_module(f".{kind}", __name__).draw(results, figure)
        if out is not None:
            with PendingFile(out) as pending:
                special = is_special(out)
                figure.savefig(out if special else pending.temporary, format=ending, metadata=_undated(ending))
                if not special:
                    pending.commit()
    return figure


def file_format(out: str | os.PathLike[str]) -> str:
    """The format that a file's ending asks for; raises `ValueError`."""
    ending = os.path.splitext(out)[1].lower().lstrip(".")
    if ending not in FORMATS:
        raise ValueError(f"{os.fspath(out)}: a picture ends in one of: {', '.join('.' + known for known in FORMATS)}")
    return ending


def _undated(ending: str) -> dict[str, None]:
    # The same result gives the same file: no date inside.
    return {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(ending, {})
