"""Distribution of latency from the quantiles in a result: round trips of TCP flows, one-way delays of UDP, or links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...data.arguments import Argument, ArgumentError
from ...data.confidence import estimate
from ...data.quantities import FLOW, LINK
from ._chart import Chart, Curve, shares_curve
from ._left_out import has, not_shown
from ._results import BAND, labels, results_only, titled, traffic_of

if TYPE_CHECKING:
    from ...data.result import Result
    from ._options import Options

SUMMARY = "distribution of latency: one result has a line for each flow, several for each kind of traffic (--by)"
NUMBERS_ALONG = True
OPTIONS = ("metric", "by", "flow", "node", "traffic", "log_x")
WITHOUT = ("log_y",)
# Choices of --metric.
METRICS = {"rtt": FLOW.rtt_quantiles_s, "delay": FLOW.delay_quantiles_s, "link_delay": LINK.delay_quantiles_s}
OF_FLOWS, OF_LINKS = ("rtt", "delay"), "link_delay"
# Choices of --by.
BY = ("flow", "traffic", "result")
POINTS = 200
# Seed, name, kind of traffic, and an array of probabilities and milliseconds.
Row = tuple[int, str, str, Any]
# Values over a wider range than this need a logarithmic axis.
WIDE = 30


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """Shares of samples up to x: the mean over seeds and its 95 % band. Every flow of a line has the same weight."""
    results = results_only(sources, "latency_cdf")
    _check(options)
    names = labels(results)
    metrics = [options.metric] if options.metric else _measured(results)
    for metric in metrics:
        _check_choice(metric, options)
    by = options.by or ("flow" if len(results) == 1 else "traffic")
    panels = {
        metric: _lines(names, _rows_of(results, names, metric, metrics), by, is_alone=len(metrics) == 1)
        for metric in metrics
    }
    low, high = _range([row[-1] for lines in panels.values() for line in lines.values() for row in line])
    log_x = options.log_x or high > WIDE * low
    grid = _grid(low, high, log_x)
    curves = tuple(
        _curve(name, line, grid, METRICS[metric].label if len(metrics) > 1 else "")
        for metric, lines in panels.items()
        for name, line in lines.items()
    )
    title = titled(
        f"distribution of {' and of '.join(METRICS[metric].label for metric in metrics)}", results, called=BAND
    )
    axis = METRICS[metrics[0]].axis if len(metrics) == 1 else "latency (ms)"
    return Chart("cdf", title, axis, "share of samples", curves, log_x=log_x, remarks=_remarks(results, metrics))


def _measured(results: Sequence[Result]) -> list[str]:
    """The latencies of flows that some result has, a panel each; without any, the latency of links."""
    found = [name for name in OF_FLOWS if any(map(_rows, results, [name] * len(results)))]
    of_links = any(map(_rows, results, [OF_LINKS] * len(results)))
    return found or [OF_LINKS if of_links else OF_FLOWS[0]]


def _rows_of(results: Sequence[Result], names: Sequence[str], metric: str, metrics: Sequence[str]) -> list[list[Row]]:
    """The rows of each result; raises `LookupError` for a result without any, unless it has another latency."""
    rows = [_rows(result, metric) for result in results]
    for result, name, of_result in zip(results, names, rows, strict=True):
        if not of_result and not any(_rows(result, other) for other in metrics):
            raise LookupError(
                f"{name}: has no {METRICS[metric]} of any {METRICS[metric].table[:-1]}; a run of an older lasthop has none, nor most files that were analysed"
            )
    return rows


def _remarks(results: Sequence[Result], metrics: Sequence[str]) -> tuple[str, ...]:
    if OF_LINKS in metrics:
        return ()
    what = " or ".join(METRICS[metric].label for metric in metrics)
    return not_shown(results, lambda flow: any(has(METRICS[metric])(flow) for metric in metrics), f"no {what}")


def _check(options: Options) -> None:
    if options.metric is not None and options.metric not in METRICS:
        raise ArgumentError(Argument("metric"), f" {options.metric}: must be one of: {', '.join(METRICS)}")
    if options.by is not None and options.by not in BY:
        raise ArgumentError(Argument("by"), f" {options.by}: must be one of: {', '.join(BY)}")


def _check_choice(metric: str, options: Options) -> None:
    """Raises `ValueError` for a selection of flows and a metric of links, or the other way round."""
    of_links = METRICS[metric].table == LINK.delay_quantiles_s.table
    for name in ("flow", "traffic") if of_links else ("node",):
        if getattr(options, name):
            whose, right = ("links", "node") if of_links else ("flows", "flow")
            reason = f" has no effect on the {metric} of latency_cdf, which is a metric of {whose}; choose them with "
            raise ArgumentError(Argument(name), reason, Argument(right))


def _rows(result: Result, metric: str) -> list[Row]:
    """Seed, name, kind of traffic and (probabilities, milliseconds) of every entity that has quantiles."""
    import numpy

    quantity = METRICS[metric]
    for run in result.runs:
        count = len(run["quantile_probabilities"])
        if any(len(row[quantity]) != count for row in run[quantity.table] if row.get(quantity)):
            raise LookupError(f"{result.source or result.name}: seed {run['seed']}: {quantity} has not {count} values")
    return [
        (
            run["seed"],
            row.get("id") or f"{row['node']}->{row['peer']}",
            traffic_of(row) if "traffic" in row else "links",
            numpy.array([run["quantile_probabilities"], row[quantity]]) * [[1], [quantity.shown.scale]],
        )
        for run in result.runs
        for row in run[quantity.table]
        if row.get(quantity)
    ]


def _lines(names: Sequence[str], rows: Sequence[Sequence[Row]], by: str, *, is_alone: bool) -> dict[str, list[Row]]:
    """The rows of each line by its name, which leaves out the part that all share in a panel that is alone."""
    rows_of: dict[tuple[str, str], list[Row]] = {}
    for name, of_result in zip(names, rows, strict=True):
        for row in of_result:
            part = {"flow": row[1], "traffic": row[2], "result": ""}[by]
            rows_of.setdefault((name, part), []).append(row)
    if is_alone and len({part for _, part in rows_of}) == 1 and len(names) > 1:
        return {name: of_line for (name, _), of_line in rows_of.items()}
    return {
        (f"{name}, {part}" if len(names) > 1 and part else part or name): of_line
        for (name, part), of_line in rows_of.items()
    }


def _range(quantiles: Sequence[Any]) -> tuple[float, float]:
    """The least and the greatest quantile, in milliseconds; the least is at least a microsecond, for a log axis."""
    lists = [values for _, values in quantiles]
    return max(1e-3, min(values[0] for values in lists)), max(values[-1] for values in lists)


def _grid(low: float, high: float, log_x: bool) -> Any:
    """The values of x at which shares are computed."""
    import numpy

    return numpy.geomspace(low, high, POINTS) if log_x else numpy.linspace(low, high, POINTS)


def _curve(name: str, rows: Sequence[Row], grid: Any, panel: str) -> Curve:
    """The mean over seeds of the mean over entities of the share below each point of `grid`."""
    import numpy

    by_seed: dict[int, list[Any]] = {}
    for seed, _, _, (probabilities, values) in rows:
        by_seed.setdefault(seed, []).append(numpy.interp(grid, values, probabilities, left=0.0))
    seeds = numpy.array([numpy.mean(shares, axis=0) for shares in by_seed.values()])
    return shares_curve(name, grid.tolist(), [estimate(shares) for shares in seeds.T.tolist()], panel)
