"""A chart as files: vector PDF, PNG at 300 dots an inch, and its data."""

from __future__ import annotations

import os
from pathlib import Path

from ....data.files import PendingFile, write_new
from .data import Chart, csv_text
from .drawing import draw_chart, new_figure, save_picture

PICTURES = ("pdf", "png")


def write_chart(chart: Chart, stem: str | os.PathLike[str]) -> list[Path]:
    """Writes `stem`.pdf, `stem`.png and `stem`.csv, each whole or not at all; the same data gives the same bytes."""
    stem = Path(stem)
    with new_figure() as figure:
        draw_chart(chart, figure)
        written = [stem.with_name(f"{stem.name}.{ending}") for ending in PICTURES]
        for path, ending in zip(written, PICTURES, strict=True):
            with PendingFile(path) as pending:
                save_picture(figure, pending.begun(), ending)
                pending.commit()
    data = stem.with_name(f"{stem.name}.csv")
    with PendingFile(data) as pending:
        write_new(pending, [csv_text(chart)])
        pending.commit()
    return [*written, data]
