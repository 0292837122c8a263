"""Any metric of timeseries.parquet over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...data.arguments import Argument, ArgumentError, ArgumentLookupError
from ...data.metric import unknown
from ...data.quantities import SERIES
from ._chart import Chart
from ._over_time import chart_of
from ._quantity import quantity
from ._results import results_only

if TYPE_CHECKING:
    from ...data.result import Result
    from ._options import Options

SUMMARY = "any time series (--metric) of every flow, node or link that has it, first seed"
NUMBERS_ALONG = True
OPTIONS = ("metric", "flow", "node", "traffic")
DEFAULT = SERIES.goodput_bps


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """Lines of one metric."""
    metric = options.metric or DEFAULT
    results = results_only(sources, "time_series")
    for result in results:
        known = sorted(result.series.present_metrics())
        if metric not in known:
            of_result = f"{result.name} has: {', '.join(known)}"
            raise ArgumentLookupError(Argument("metric"), f" {unknown(metric, known, of_result)}")
    _check(results, metric, options)
    flows = {flow["id"] for result in results for run in result.runs for flow in run["flows"]}
    is_of_flows = any(flows & set(result.series.of_metric(metric).present_entities()) for result in results)
    what = f"{quantity(metric).label.split(' (')[0]} over time"
    return chart_of(sources, "time_series", metric, what, is_of_flows=is_of_flows)


def _check(results: Sequence[Result], metric: str, options: Options) -> None:
    """Raises `ValueError` for selected flows and a metric of nodes or links, or the other way round."""
    for result in results:
        entities = set(result.series.of_metric(metric).present_entities())
        of_flows = bool(entities & {flow["id"] for run in result.runs for flow in run["flows"]})
        wrong = [name for name in (("node",) if of_flows else ("flow", "traffic")) if getattr(options, name)]
        if entities and wrong:
            whose, right = ("flows", "flow") if of_flows else ("nodes or links", "node")
            reason = f" has no effect on the time series of {metric}, which is a metric of {whose}; choose them with "
            raise ArgumentError(Argument(wrong[0]), reason, Argument(right))
