"""Figures as files and as part of the page: drawings with tables of their numbers."""

from __future__ import annotations

import base64
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any, NamedTuple

from ..study.headline import number
from ..views.plot import Chart, Curve, write_chart
from .paper import FigurePlan
from .reproduction import ClaimOutcome, Reproduction

# Longer tables are only in the CSV.
MAX_ROWS = 40


# Begins a drawing: the function and its arguments.
Begin = Callable[..., "Future[Any]"]


@contextmanager
def draughtsmen(jobs: int) -> Iterator[Begin]:
    """A pool of processes that draw. They are spawned, as the threads of runs must not be copied."""
    if jobs < 2:
        yield _at_once
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_heed_no_signals) as pool:
        try:
            yield pool.submit
        except BaseException:
            # An order to stop does not wait for a drawing in progress.
            drawing = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in drawing:
                process.kill()
            raise


def _heed_no_signals() -> None:
    """Ctrl-C reaches all processes of a terminal; the parent process ends the others, also by its own end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed parent sends nothing, and the processes of a pool keep one another's pipes open."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _at_once(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    done: Future[Any] = Future()
    done.set_result(function(*arguments))
    return done


class Drawing(NamedTuple):
    """A figure in progress."""

    work: Reproduction
    figure: FigurePlan
    chart: Chart
    outcomes: Sequence[ClaimOutcome]
    written: Future[list[Path]]

    def on_page(self, out: Path) -> dict[str, Any]:
        """The data of a drawn figure for the page."""
        files = {file.suffix: file for file in self.written.result()}
        return {
            "id": files[".png"].stem,
            "number": self.figure.number,
            "title": self.figure.title,
            "png": base64.b64encode(files[".png"].read_bytes()).decode("ascii"),
            "pdf": files[".pdf"].relative_to(out).as_posix(),
            "csv": files[".csv"].relative_to(out).as_posix(),
            "head": [self.chart.x_label, *(curve.label for curve in self.chart.curves)],
            "rows": _rows(self.chart),
            "marks": [mark.label for mark in self.chart.marks],
            "outcomes": self.outcomes,
            "losses": self.work.losses_behind(self.figure),
        }


def begun(
    work: Reproduction, figure: FigurePlan, outcomes: Sequence[ClaimOutcome], out: Path, begin: Begin = _at_once
) -> Drawing:
    """Begins to draw a figure, with the verdicts below its title, as PDF, PNG and CSV under `out/figures`."""
    folder = out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    about = of_figure(figure, outcomes)
    chart = replace(work.chart(figure), subtitle=below_title(figure, about, quick=work.paper.quick))
    written = begin(write_chart, chart, folder / f"{work.paper.key}-fig{figure.number}")
    return Drawing(work, figure, chart, about, written)


def of_figure(figure: FigurePlan, outcomes: Sequence[ClaimOutcome]) -> list[ClaimOutcome]:
    """The claims of a figure: those that it names, else those with this figure as their place in the paper."""
    if figure.claims:
        return [outcome for outcome in outcomes if outcome.claim.id in figure.claims]
    return [outcome for outcome in outcomes if shows(outcome.claim.place, figure.number)]


def below_title(figure: FigurePlan, outcomes: Sequence[ClaimOutcome], *, quick: bool = False) -> str:
    """The text below a figure's title: `K-1: holds, K-2: does not hold; one run, seed 1`."""
    words = ", ".join(f"{outcome.claim.id}: {outcome.verdict.value}" for outcome in outcomes)
    runs = "quick" if quick else ""
    if figure.seeds and len(figure.seeds) == 1:
        runs = f"one {'short ' if quick else ''}run, seed {figure.seeds[0]}"
    return "; ".join(filter(None, (words, runs)))


def shows(place: str, figure: str) -> bool:
    """Whether a claim's place, such as `Figs 2-4, section 3` or `Fig. 1a`, names this figure or a panel of it."""
    digits = int("".join(takewhile(str.isdecimal, figure)) or -1)
    for text in re.findall(r"Figs?\.?\s*([0-9a-z ,–-]+)", place):
        for first, panel, last in re.findall(r"(\d+)([a-z]?)(?:\s*(?:[-–]|to)\s*(\d+))?", text):
            if last and int(first) <= digits <= int(last):
                return True
            if f"{first}{panel}" == figure or (not panel and int(first) == digits):
                return True
    return False


def _rows(chart: Chart) -> list[list[str]]:
    """One row for each place on the x axis, if all curves share the places and there are few."""
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
