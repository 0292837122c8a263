"""Curves, panels, words along an axis and the title of the legend under names that a reader wants instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ._chart import Chart, Curve


def renamed(chart: Chart, names: Mapping[str, str]) -> Chart:
    """`chart` with what is called by a key of `names` called by its value; raises `LookupError` where nothing is."""
    if not names:
        return chart
    words = [*chart.rows, *(value for curve in chart.curves for value in curve.x if isinstance(value, str))]
    called = dict.fromkeys(
        [*(curve.label for curve in chart.curves), *filter(None, (*chart.panels, chart.legend_title)), *words]
    )
    for name in names:
        if name not in called:
            raise LookupError(f"--label {name}: nothing is called so; there are: {', '.join(called)}")

    def of_curve(curve: Curve) -> Curve:
        x = [names.get(value, value) if isinstance(value, str) else value for value in curve.x]
        return replace(curve, label=names.get(curve.label, curve.label), panel=names.get(curve.panel, curve.panel), x=x)

    curves = tuple(map(of_curve, chart.curves))
    before = {(curve.label, curve.panel): curve for curve in chart.curves}
    if len({(curve.label, curve.panel) for curve in curves}) < len(before):
        raise ValueError("--label: two curves would have one name")
    y_labels = {names.get(panel, panel): label for panel, label in chart.y_labels.items()}
    title = names.get(chart.legend_title, chart.legend_title)
    rows = tuple(names.get(row, row) for row in chart.rows)
    return replace(chart, curves=curves, y_labels=y_labels, legend_title=title, rows=rows)
