"""Every figure of every paper: nothing is drawn beyond its canvas, whatever its title, labels and marks.

The numbers are made up, of the size that runs give, so that no run is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy
import pytest
from lasthop.papers import paper_files, read_paper
from lasthop.papers.drawing import Drawing
from lasthop.papers.gallery import of_figure
from lasthop.papers.measure import Rehearsal, evaluate
from lasthop.papers.paper import FigurePlan, Paper
from lasthop.views.plot import Chart, Curve, draw_chart, new_figure

PAPERS = [read_paper(file) for file in paper_files()]
EACH = [(paper, figure) for paper in PAPERS for figure in paper.figures]
FIGURES = [pytest.param(paper, figure, id=f"{paper.key}-{figure.number}") for paper, figure in EACH]
# As long as it gets: a figure of three claims, none of them decided, of a quick run.
SUBTITLE = "K-10: undecided: more seeds needed, K-11: undecided: more seeds needed, K-12: holds in part (quick run)"
# That of the files, as the widths of letters depend on it.
DPI = 300


class MadeUp(Rehearsal):
    """Sixteen flows with names as runs have them, and values that are about 300 once a figure has scaled them."""

    def __init__(self, size: float) -> None:
        super().__init__(lambda _case: None)
        self._size = size

    def section(self, point, section, metric):
        return self._size * super().section(point, section, metric)

    def rows(self, point, table, metric, wanted):
        return self._size * self._array(16)

    def names(self, point, wanted):
        return [f"near{number}.down" for number in range(1, 17)]

    def series(self, point, metric, pattern):
        return self._size * self._array(200)


@dataclass
class Work:
    """What a drawing needs of a reproduction."""

    paper: Paper
    source: Rehearsal

    def value(self, place, expression, _seed, names=None):
        return evaluate(expression, place, self.paper.cases, self.source, names)


def made_up(paper: Paper, figure: FigurePlan) -> Chart:
    chart = Drawing(Work(paper, MadeUp(300 / figure.scale)), figure, figure.seeds or (1, 2, 3)).chart()
    return replace(chart, subtitle=SUBTITLE)


def outside(chart: Chart) -> list[str]:
    """What a drawn chart has beyond its canvas, and whether ink stands on the outermost dots."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with new_figure() as figure:
        draw_chart(chart, figure)
        figure.set_dpi(DPI)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        dots = numpy.asarray(canvas.buffer_rgba())[..., :3]
        page, found = figure.bbox, []
        for name, box in extents(figure):
            # A dot of tolerance: extents are those of whole letters, with some empty space.
            if box.x0 < -1 or box.y0 < -1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1:
                found.append(f"{name} at {box.extents.round()} of {page.extents.round()}")
    edges = (dots[0], dots[-1], dots[:, 0], dots[:, -1])
    return found + ["ink at the edge"] * any((edge < 250).any() for edge in edges)


def extents(figure):
    """Where texts, legends and axes with their ticks and labels stand."""
    for text in (*figure.texts, *figure.legends, *(text for axes in figure.axes for text in (*axes.texts, axes.title))):
        yield repr(text), text.get_window_extent()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        if (box := axis.get_tightbbox()) is not None:
            yield repr(axis), box


@pytest.mark.parametrize(("paper", "figure"), FIGURES)
def test_no_figure_draws_beyond_its_canvas(paper, figure):
    assert outside(made_up(paper, figure)) == []


def test_long_paths_beside_a_heat_map_stay_on_its_canvas():
    path = "station.0.congestion_control.parameters.of_a_controller.initial_window"
    rows = tuple(Curve(str(row), [1, 2, 3], [1.0, 2.0, 3.0]) for row in range(4))
    chart = Chart("heat_map", f"totals.goodput_bps by {path}", path, path, rows, value_label=f"{path} (Mbit/s)")
    assert outside(chart) == []


def test_a_label_longer_than_its_axis_is_seen_by_the_test(monkeypatch):
    monkeypatch.setattr("lasthop.views.plot._chart.labels.fit", lambda _figure, _texts: False)
    label = "throughput of a fast host beside one that is slow (Mbit/s)"
    chart = Chart("lines", "", "x", label, (Curve("a", [1, 2], [1, 2]),))
    assert outside(chart) != []


@pytest.mark.parametrize(("paper", "figure"), FIGURES)
def test_intervals_of_figures_stay_within_possible_values(paper, figure):
    assert figure.y_least is not None
    if figure.seeds is None or len(figure.seeds) > 1:
        carries_rates = figure.scale in (1e-6, 1.25e-4, 1.25e-7)
        assert figure.y_most is not None or not carries_rates, "say what the link can carry: y_most"


@pytest.mark.parametrize(("paper", "figure"), FIGURES)
def test_every_figure_has_a_verdict_below_it(paper, figure):
    assert of_figure(figure, [Outcome(claim) for claim in paper.claims])


@dataclass
class Outcome:
    """A claim that might have been judged."""

    claim: object
