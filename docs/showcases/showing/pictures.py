"""Pictures of a page: handed to pyplot, where sphinx-gallery looks for them, and written to `LASTHOP_SHOWCASES`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas
from lasthop import Result
from lasthop.views.plot import Chart, Curve, Options, chart, draw_chart, new_figure, save_picture

from .claims import estimated
from .places import place, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: As wide as a page of the site has room for, in inches.
SIZE = (6.4, 3.4)


def picture(
    what: str | Chart, *results: Result, name: str = "", size: tuple[float, float] = SIZE, **options: object
) -> None:
    """Draws a kind of plot of one result or several, as `lasthop plot` does and with its options, or a chart.

    `name` tells a second picture of a page from the first.
    """
    shown = what if isinstance(what, Chart) else chart(what, list(results), Options.of(size=size, **options))
    with new_figure() as figure:
        draw_chart(shown, figure)
        if (file := place(f"{name and '-'}{name}.png")) is not None:
            save_picture(figure, file, "png")
            say("picture", file)
        _hand_to_pyplot(figure)


def bars(
    title: str,
    y_label: str,
    groups: Mapping[str, Mapping[str, pandas.Series]],
    *,
    size: tuple[float, float] = SIZE,
    **look: object,
) -> Chart:
    """Bars with intervals: groups of bars by what stands along the axis, each of values by seed.

    `groups` has for each label of the legend the values at each place.
    """
    return Chart(
        "bars", title, "", y_label, tuple(_curve(label, at) for label, at in groups.items()), size=size, **look
    )


def lines(
    title: str,
    x_label: str,
    y_label: str,
    curves: Mapping[str, Mapping[float, pandas.Series]],
    *,
    size: tuple[float, float] = SIZE,
    **look: object,
) -> Chart:
    """Lines with bands over numbers: for each label of the legend the values by seed at each number."""
    return Chart(
        "lines", title, x_label, y_label, tuple(_curve(label, at) for label, at in curves.items()), size=size, **look
    )


def _curve(label: str, at: Mapping[str, pandas.Series] | Mapping[float, pandas.Series]) -> Curve:
    found = [estimated(values) for values in at.values()]
    low, high = [one.ci95_low for one in found], [one.ci95_high for one in found]
    return Curve(label, list(at), [one.mean for one in found], low, high)


def _hand_to_pyplot(figure: Figure) -> None:
    """Makes a figure one of pyplot's."""
    import matplotlib.pyplot

    manager = matplotlib.pyplot.figure().canvas.manager
    manager.canvas.figure = figure
    figure.set_canvas(manager.canvas)
