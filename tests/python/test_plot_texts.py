"""Every text of every kind of figure lies on the page and on no other text, whatever its size, names and legend."""

from __future__ import annotations

from dataclasses import replace

import pytest
from figure_texts import complaints
from lasthop.views.plot import KINDS, Chart, draw_chart, new_figure
from test_plot_chart import CROWDED, LONG, chart

LOOKS = [("below", None), ("right", (7.0, 3.0)), ("inside", (3.5, 2.5)), ("below", (2.5, 4.0))]


def wrong_in(data: Chart) -> list[str]:
    with new_figure() as figure:
        draw_chart(data, figure)
        return complaints(figure)


@pytest.mark.parametrize(("legend", "size"), LOOKS)
@pytest.mark.parametrize("kind", KINDS)
def test_texts_of_a_crowded_figure_are_apart(kind, legend, size):
    data = chart(
        kind,
        CROWDED[kind][:6],
        legend=legend,
        size=size,
        legend_title="queue of the AP",
        subtitle="a claim, and what came of it",
    )
    assert wrong_in(data) == []


@pytest.mark.parametrize("kind", KINDS)
def test_texts_of_long_names_are_apart(kind):
    curves = [replace(curve, label=f"{LONG[:40]} {number}") for number, curve in enumerate(CROWDED[kind][:4])]
    assert wrong_in(chart(kind, curves)) == []


@pytest.mark.parametrize("kind", ["lines", "bars", "stack", "box", "heat_map"])
def test_words_along_an_axis_are_apart(kind):
    words = ["airtime_fq_codel", "fq_codel", "a queue of a very long name", "fifo, 1000 packets", "sfq"]
    curves = [
        replace(
            curve,
            **{
                name: values if name == "label" or values is None else list(values)[:5]
                for name, values in (
                    ("label", curve.label),
                    ("mean", curve.mean),
                    ("low", curve.low),
                    ("high", curve.high),
                )
            },
            x=words,
            x_low=None,
            x_high=None,
            whisker_low=None,
            whisker_high=None,
        )
        if kind != "box"
        else replace(
            curve,
            x=words,
            **{
                name: [each] * 5
                for name, each in (
                    ("mean", 5.0),
                    ("low", 4.0),
                    ("high", 6.0),
                    ("whisker_low", 1.0),
                    ("whisker_high", 9.0),
                )
            },
        )
        for curve in CROWDED[kind][:3]
    ]
    assert wrong_in(chart(kind, curves)) == []


def test_overlaps_are_detected():
    with new_figure() as figure:
        draw_chart(chart("lines", CROWDED["lines"][:2]), figure)
        figure.text(0.5, 0.5, "one")
        figure.text(0.51, 0.5, "other")
        figure.text(0.99, 0.5, "beyond")
        assert complaints(figure)[:2] == ["'beyond' is beyond the edge", "'one' lies on 'other'"]


def test_names_too_long_for_a_page_of_fixed_size_are_cut():
    words = [f"{LONG} {number}" for number in range(4)]
    curves = [
        replace(curve, x=words, mean=list(curve.mean)[:4], low=None, high=None) for curve in CROWDED["heat_map"][:3]
    ]
    data = chart("heat_map", curves, size=(3.5, 2.5))
    assert wrong_in(data) == []
    with new_figure() as figure:
        draw_chart(data, figure)
        names = [label.get_text() for label in figure.axes[0].get_xticklabels()]
        assert all(name.endswith("…") and len(name) > 5 for name in names)
        # An axis of an inch is left, a third of the page at least.
        assert figure.axes[0].get_window_extent().height > 0.3 * figure.bbox.height
