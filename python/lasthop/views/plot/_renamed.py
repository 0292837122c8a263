"""Renames curves, panels, names along an axis and the title of the legend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...data.arguments import Argument, ArgumentError, ArgumentLookupError
from ._chart import Chart, Curve


def renamed(chart: Chart, names: Mapping[str, str]) -> Chart:
    """`chart` with each name in `names` replaced by its value; raises `LookupError` for a name that the chart lacks."""
    if not names:
        return chart
    words = [*chart.rows, *(value for curve in chart.curves for value in curve.x if isinstance(value, str))]
    known = dict.fromkeys(
        [*(curve.label for curve in chart.curves), *filter(None, (*chart.panels, chart.legend_title)), *words]
    )
    for name in names:
        if name not in known:
            raise ArgumentLookupError(Argument("label"), f" {name}: no such name; the chart has: {', '.join(known)}")

    def of_curve(curve: Curve) -> Curve:
        x = [names.get(value, value) if isinstance(value, str) else value for value in curve.x]
        return replace(curve, label=names.get(curve.label, curve.label), panel=names.get(curve.panel, curve.panel), x=x)

    curves = tuple(map(of_curve, chart.curves))
    before = {(curve.label, curve.panel): curve for curve in chart.curves}
    if len({(curve.label, curve.panel) for curve in curves}) < len(before):
        raise ArgumentError(Argument("label"), ": two curves would have one name")
    y_labels = {names.get(panel, panel): label for panel, label in chart.y_labels.items()}
    title = names.get(chart.legend_title, chart.legend_title)
    rows = tuple(names.get(row, row) for row in chart.rows)
    return replace(chart, curves=curves, y_labels=y_labels, legend_title=title, rows=rows)
