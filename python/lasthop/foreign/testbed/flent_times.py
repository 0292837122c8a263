"""Series of Flent that are times: round trips of pings, and loads of pages.

A ping of netperf (UDP_RR) is measured as transactions a second over an interval, not as single round trips: it has a mean and no
quantiles. Means of the whole test, which Flent's tools report, include the seconds before and after the load.
"""

from __future__ import annotations

from typing import Any

from ...data.quantities import FLOW, SERIES
from .model import Flow, Series, Test, add_round_trips, is_number, within

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


def add_ping(flow: Flow, found: Series, raw: list[dict[str, Any]], meta: dict[str, Any], test: Test) -> None:
    """Adds round trips as measured; those at even steps if the file has no others."""
    scale = SECONDS.get(str(meta.get("UNITS")), 1e-3)
    flow.series[SERIES.rtt_s] = Series(found.times_s, [value * scale for value in found.values])
    mean = meta.get("MEAN_VALUE")
    flow.reported_mean = mean * scale if is_number(mean) else None
    measured = [row for row in raw if is_number(row.get("t")) and is_number(row.get("val"))]
    if any("dur" in row for row in measured):
        flow.values[FLOW.rtt_mean_s] = flow.reported_mean or _mean_of_rates(measured)
        return
    samples = flow.series[SERIES.rtt_s]
    if measured and test.began_s is not None:
        samples = Series([row["t"] - test.began_s for row in measured], [row["val"] * scale for row in measured])
    add_round_trips(flow, within(samples, test.from_s, test.to_s))
    if test.began_s is not None:
        _add_lost(flow, [row for row in measured if test.from_s <= row["t"] - test.began_s <= test.to_s])


def _mean_of_rates(measured: list[dict[str, Any]]) -> float | None:
    """The mean round trip of transactions, whose rates are given for intervals."""
    whole = [(row["dur"], row["dur"] * row["val"]) for row in measured if is_number(row.get("dur"))]
    count = sum(transactions for _, transactions in whole)
    return sum(length_s for length_s, _ in whole) / count if count > 0 else None


def _add_lost(flow: Flow, measured: list[dict[str, Any]]) -> None:
    """Pings that are missing between the first answered and the last; only ICMP's are numbered."""
    numbers = [row["seq"] for row in measured if is_number(row.get("seq"))]
    if len(numbers) == len(measured) > 0:
        sent = int(max(numbers) - min(numbers)) + 1
        flow.values[FLOW.segments_sent] = sent
        flow.values[FLOW.loss_fraction] = 1 - len(set(numbers)) / sent


def add_pages(flow: Flow, found: Series, meta: dict[str, Any], test: Test) -> None:
    """Adds the mean time that a page took; its values are at even steps, so there are no quantiles."""
    scale = SECONDS.get(str(meta.get("UNITS")), 1e-3)
    values = within(found, test.from_s, test.to_s)
    flow.values[FLOW.page_load_time_mean_s] = scale * sum(values) / len(values) if values else None
