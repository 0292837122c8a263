"""Figures as files and as part of the page: drawn, and with their numbers beside them."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from ..headline import number
from ..plot import Chart, Curve, write_chart
from .paper import FigurePlan
from .reproduction import ClaimOutcome, Reproduction

# Longer tables are left to the CSV.
MAX_ROWS = 40


@contextmanager
def draughtsmen(jobs: int) -> Iterator[Callable[..., Iterable[Any]]]:
    """A `map` for drawings, by as many processes. Spawned, as the threads of runs must not be copied."""
    if jobs < 2:
        yield map
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield pool.map


class Drawings(NamedTuple):
    """Figures that are being drawn."""

    figures: Sequence[FigurePlan]
    charts: Sequence[Chart]
    written: Iterable[list[Path]]

    def on_page(self, out: Path, outcomes: Sequence[ClaimOutcome]) -> list[dict[str, Any]]:
        """What the page needs of each, once all are drawn."""
        each = zip(self.figures, self.charts, self.written, strict=True)
        return [_on_page(figure, chart, files, out, outcomes) for figure, chart, files in each]


def drawn(
    work: Reproduction, figures: Sequence[FigurePlan], out: Path, each: Callable[..., Iterable[Any]] = map
) -> Drawings:
    """Begins to draw figures as PDF, PNG and CSV under `out/figures`."""
    folder = out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    charts = [work.chart(figure) for figure in figures]
    stems = [folder / f"{work.paper.key}-fig{figure.number}" for figure in figures]
    return Drawings(figures, charts, each(write_chart, charts, stems))


def _on_page(
    figure: FigurePlan, chart: Chart, written: Sequence[Path], out: Path, outcomes: Sequence[ClaimOutcome]
) -> dict[str, Any]:
    files = {file.suffix: file for file in written}
    return {
        "id": files[".png"].stem,
        "number": figure.number,
        "title": figure.title,
        "png": base64.b64encode(files[".png"].read_bytes()).decode("ascii"),
        "pdf": files[".pdf"].relative_to(out).as_posix(),
        "csv": files[".csv"].relative_to(out).as_posix(),
        "head": [chart.x_label, *(curve.label for curve in chart.curves)],
        "rows": _rows(chart),
        "claims": [outcome.claim.id for outcome in outcomes if shows(outcome.claim.place, figure.number)][:1],
    }


def shows(place: str, figure: str) -> bool:
    """Whether a claim's place, such as `Figs 2-4, section 3` or `Fig. 1a`, names this figure or a panel of it."""
    digits = int(re.match(r"\d*", figure)[0] or -1)
    for text in re.findall(r"Figs?\.?\s*([0-9a-z ,–-]+)", place):
        for first, panel, last in re.findall(r"(\d+)([a-z]?)(?:\s*[-–]\s*(\d+))?", text):
            if last and int(first) <= digits <= int(last):
                return True
            if f"{first}{panel}" == figure or (not panel and int(first) == digits):
                return True
    return False


def _rows(chart: Chart) -> list[list[str]]:
    """One row for each place on the x axis, where all curves have the same and there are few."""
    if not chart.curves or chart.kind in ("cdf", "scatter"):
        return []
    places = list(chart.curves[0].x)
    if len(places) > MAX_ROWS or any(list(curve.x) != places for curve in chart.curves):
        return []
    return [[_label(place), *(_cell(curve, row) for curve in chart.curves)] for row, place in enumerate(places)]


def _label(place: Any) -> str:
    return place if isinstance(place, str) else f"{place:g}"


def _cell(curve: Curve, row: int) -> str:
    mean = number(curve.mean[row], 3)
    if curve.low is None or curve.high is None or curve.low[row] == curve.high[row]:
        return mean
    return f"{mean} ± {number((curve.high[row] - curve.low[row]) / 2, 3)}"
