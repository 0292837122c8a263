"""Distribution of latency from the quantiles in a result: round trips of TCP flows, one-way delays of UDP, or links."""

from __future__ import annotations

from ...data.confidence import estimate
from ...data.quantities import FLOW, LINK
from ._chart import Chart, Curve
from ._results import BAND, labels, results_only, titled, traffic_of

SUMMARY = "distribution of latency: one result has a line for each flow, several for each kind of traffic (--by)"
NUMBERS_ALONG = True
OPTIONS = ("metric", "by", "flow", "node", "traffic", "log_x")
WITHOUT = ("log_y",)
# Choices of --metric.
METRICS = {"rtt": FLOW.rtt_quantiles_s, "delay": FLOW.delay_quantiles_s, "link_delay": LINK.delay_quantiles_s}
# Choices of --by.
BY = ("flow", "traffic", "result")
POINTS = 200
# Values over a wider range than this need a logarithmic axis.
WIDE = 30


def chart(sources, options):
    """Shares of samples up to x: the mean over seeds and its 95 % band; on one line every flow weighs the same."""
    results = results_only(sources, "latency_cdf")
    _check(options)
    names = labels(results)
    metric = options.metric or next(
        (name for name in METRICS if any(map(_rows, results, [name] * len(results)))), "rtt"
    )
    _check_choice(metric, options)
    rows = [_rows(result, metric) for result in results]
    for name, found in zip(names, rows, strict=True):
        if not found:
            raise LookupError(
                f"{name}: has no {METRICS[metric]} of any {METRICS[metric].table[:-1]}; a run of an older lasthop has none, nor most files that were analysed"
            )
    by = options.by or ("flow" if len(results) == 1 else "traffic")
    lines = _lines(names, rows, by)
    low, high = _range([row[-1] for found in lines.values() for row in found])
    log_x = options.log_x or high > WIDE * low
    grid = _grid(low, high, log_x)
    curves = tuple(_curve(name, found, grid) for name, found in lines.items())
    title = titled(f"distribution of {METRICS[metric].label}", results, called=BAND)
    return Chart("cdf", title, METRICS[metric].axis, "share of samples", curves, log_x=log_x)


def _check(options):
    if options.metric is not None and options.metric not in METRICS:
        raise ValueError(f"--metric {options.metric}: latency_cdf knows {', '.join(METRICS)}")
    if options.by is not None and options.by not in BY:
        raise ValueError(f"--by {options.by}: latency_cdf has a line for each of: {', '.join(BY)}")


def _check_choice(metric, options):
    """Raises `ValueError` where what was chosen is not what the metric is of."""
    of_links = METRICS[metric].table == LINK.delay_quantiles_s.table
    for name in ("flow", "traffic") if of_links else ("node",):
        if getattr(options, name):
            whose = "links; choose them with --node" if of_links else "flows; choose them with --flow"
            raise ValueError(f"--{name} has no effect on the {metric} of latency_cdf, which is of {whose}")


def _rows(result, metric):
    """Seed, name, kind of traffic and (probabilities, milliseconds) of every entity that has quantiles."""
    import numpy

    quantity = METRICS[metric]
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


def _lines(names, rows, by):
    """The rows of each line by its name; a part that is the same for all is not said."""
    found = {}
    for name, of_result in zip(names, rows, strict=True):
        for row in of_result:
            part = {"flow": row[1], "traffic": row[2], "result": ""}[by]
            found.setdefault((name, part), []).append(row)
    if len({part for _, part in found}) == 1 and len(names) > 1:
        return {name: of_line for (name, _), of_line in found.items()}
    return {(f"{name}, {part}" if len(names) > 1 else part or name): of_line for (name, part), of_line in found.items()}


def _range(quantiles):
    """The least and the greatest quantile, in milliseconds; a log axis begins a microsecond from nothing."""
    lists = [values for _, values in quantiles]
    return max(1e-3, min(values[0] for values in lists)), max(values[-1] for values in lists)


def _grid(low, high, log_x):
    """Where the shares are taken."""
    import numpy

    return numpy.geomspace(low, high, POINTS) if log_x else numpy.linspace(low, high, POINTS)


def _curve(name, rows, grid):
    """The mean over seeds of the mean over entities of the share below each point of `grid`."""
    import numpy

    by_seed = {}
    for seed, _, _, (probabilities, values) in rows:
        by_seed.setdefault(seed, []).append(numpy.interp(grid, values, probabilities, left=0.0))
    seeds = numpy.array([numpy.mean(shares, axis=0) for shares in by_seed.values()])
    found = [estimate(shares) for shares in seeds.T.tolist()]
    mean = [one.mean for one in found]
    if len(seeds) == 1:
        return Curve(name, grid.tolist(), mean)
    low, high = [max(0.0, one.ci95_low) for one in found], [min(1.0, one.ci95_high) for one in found]
    return Curve(name, grid.tolist(), mean, low, high)
