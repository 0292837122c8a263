"""Claims of a page: a sentence, a number for each seed, and the bounds that its 95 % interval must keep."""

from __future__ import annotations

import pandas
from lasthop import Result
from lasthop.data.confidence import Estimate, estimate
from lasthop.data.metric import matching


def per_seed(result: Result, pattern: str) -> pandas.Series:
    """A metric by seed, such as `totals.goodput_bps`; of a glob, such as `flows.fast*.goodput_bps`, the sum of those it matches.

    Two of one campaign may be subtracted and divided: pandas does that seed by seed. Raises `KeyError` where nothing matches.
    """
    return each(result, pattern).sum(axis="columns", skipna=False)


def each(result: Result, pattern: str) -> pandas.DataFrame:
    """The metrics that a glob matches: a row for each seed, a column for each metric. Raises `KeyError` where there is none."""
    names = matching(pattern, result.metrics)
    if not names:
        raise KeyError(f"{result.name}: no metric matches {pattern}; `lasthop list quantity` names them")
    return pandas.DataFrame({name: result.metrics[name] for name in names}).rename_axis("seed")


def estimated(values: pandas.Series) -> Estimate:
    """Mean and Student's t interval at 95 % over the seeds. Raises `ValueError` for fewer than two."""
    found = estimate(values.dropna().tolist())
    if found is None or found.ci95_low is None:
        raise ValueError(f"{len(values.dropna())} seeds say nothing about spread; at least two are needed")
    return found


def claim(sentence: str, values: pandas.Series, *, above: float | None = None, below: float | None = None) -> None:
    """Raises `AssertionError` with the sentence unless the whole interval of `values` is within the bounds; else prints both."""
    if above is None and below is None:
        raise ValueError(f"{sentence} A claim without a bound cannot fail; give above or below")
    found = estimated(values)
    seen = f"{found.mean:.4g} ({found.ci95_low:.4g} to {found.ci95_high:.4g}, {found.n} seeds)"
    bounds = [f"{word} {bound:g}" for word, bound in (("above", above), ("below", below)) if bound is not None]
    holds = (above is None or found.ci95_low > above) and (below is None or found.ci95_high < below)
    if not holds:
        raise AssertionError(f"{sentence} The interval is not {' and '.join(bounds)}: {seen}")
    print(f"{sentence}\n    {seen}, {' and '.join(bounds)}\n")
