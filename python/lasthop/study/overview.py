"""A result at a glance: its headline numbers and its first flows as rows of words, for a terminal, a notebook or a page."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

from ..data.nulls import is_measured
from ..data.quantities import FLOW, Quantity
from ..data.result import Result
from ..data.runs import is_number
from .headline import Headline, chosen, label, mean_and_interval, number

FLOWS_SHOWN = 20


class FlowTable(NamedTuple):
    """Flows as words, the first two columns those that name them."""

    heads: list[str]
    rows: list[list[str]]
    more: int
    """flows that are not among them"""

    @property
    def more_text(self) -> str:
        """The number of further flows."""
        return f"and {self.more} more flows"


def heading(result: Result) -> str:
    """Name and number of seeds, or of measurements."""
    runs = len(result.told_runs)
    if any(map(is_measured, result.told_runs)):
        return f"{result.name}: {'measured' if runs == 1 else f'{runs} measurements'}"
    return f"{result.name}: {runs} {'seed' if runs == 1 else 'seeds'}"


def headline_table(result: Result, patterns: Iterable[str] = ()) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the headline numbers, or of those that match `patterns`."""
    rows = [[label(found.label, found.unit), _estimate(result, found)] for found in chosen(result, patterns)]
    return ["", "mean ± 95 % CI" if len(result.told_runs) > 1 else "value"], rows


def _estimate(result: Result, headline: Headline) -> str:
    found = result.estimate(headline.by_seed.values())
    return mean_and_interval(found and found.scaled(headline.scale), headline.decimals)


# Columns for each flow, with a short heading if the label is too long for a column; one that no flow has is left out, except the goodput.
FLOW_COLUMNS = {
    FLOW.goodput_bps: "",
    FLOW.cwnd_mean_segments: "cwnd",
    FLOW.rtt_mean_s: "RTT",
    FLOW.rtt_p95_s: "RTT p95",
    FLOW.segments_retransmitted: "retransmitted",
    FLOW.timeouts: "",
    FLOW.loss_fraction: "",
    FLOW.delay_p50_s: "delay p50",
    FLOW.delay_p95_s: "delay p95",
    FLOW.jitter_s: "",
    FLOW.mos: "",
    FLOW.pages: "",
    FLOW.page_load_time_p50_s: "page load p50",
    FLOW.page_load_time_p95_s: "page load p95",
    FLOW.stalls: "",
    FLOW.stall_time_s: "",
}


def flow_table(result: Result) -> FlowTable | None:
    """The first flows, each with the mean of the seeds and its interval; None without flows."""
    shown, more = _first_flows(result)
    if not shown:
        return None

    def values(flow: str, quantity: Quantity) -> list[float]:
        return [row[quantity] for row in shown[flow] if is_number(row.get(quantity))]

    def cell(flow: str, quantity: Quantity) -> str:
        scaled = (value * quantity.shown.scale for value in values(flow, quantity))
        return mean_and_interval(result.estimate(scaled), quantity.shown.decimals)

    def has_column(quantity: Quantity) -> bool:
        if quantity == FLOW.goodput_bps and any(_carries_data(rows[-1]) for rows in shown.values()):
            return True
        return any(values(flow, quantity) for flow in shown)

    columns = [quantity for quantity in FLOW_COLUMNS if has_column(quantity)]
    heads = [label(FLOW_COLUMNS[quantity] or quantity.label, quantity.shown.unit) for quantity in columns]
    rows = [[flow, _what(shown[flow][-1]), *(cell(flow, quantity) for quantity in columns)] for flow in shown]
    return FlowTable(["flow", "traffic", *heads], rows, more)


def roam_table(result: Result) -> tuple[list[str], list[list[str]]] | None:
    """Heads and rows of the changes of access point, of stations with a kernel's Wi-Fi; None without one."""
    roams = [
        (run["seed"], roam) for run in result.told_runs for roam in (run.get("simulator") or {}).get("roams") or ()
    ]
    if not roams:
        return None
    heads = ["roam of", "seed", "from", "to", "at (s)", "802.11r", "gap (ms)"]
    return heads, [_roam(seed, roam) for seed, roam in roams]


def _roam(seed: int, roam: dict[str, Any]) -> list[str]:
    gap_s, is_fast = roam["gap_s"], roam["fast_transition"]
    gap = "-" if gap_s is None else number(1e3 * gap_s, 1)
    ends = str(roam["from"]), str(roam["to"])
    return [str(roam["station"]), str(seed), *ends, number(roam["at_s"], 3), "yes" if is_fast else "no", gap]


def _first_flows(result: Result) -> tuple[dict[str, list[dict[str, Any]]], int]:
    """The flows that are shown, each with its row in every run that has it, and the number of further flows."""
    of_runs = [run.columns("flows", ["id"])[0] for run in result.told_runs]
    ids = list(dict.fromkeys(chain.from_iterable(of_runs)))
    shown: dict[str, list[dict[str, Any]]] = {flow: [] for flow in ids[:FLOWS_SHOWN]}
    for run, own in zip(result.told_runs, of_runs, strict=True):
        last = max((place for place, flow in enumerate(own) if flow in shown), default=-1)
        # For an id that occurs twice, the last row counts.
        rows = {row["id"]: row for row in run.rows_of("flows", last + 1)}
        for flow, found in shown.items():
            found.extend([rows[flow]] if flow in rows else [])
    return shown, len(ids) - len(shown)


def _carries_data(flow: dict[str, Any]) -> bool:
    """Whether it has a goodput, known or not: a ping has none."""
    return FLOW.goodput_bps in flow and flow.get("traffic") != "ping"


def _what(flow: dict[str, Any]) -> str:
    """Returns a flow's traffic, with its code point if it has one."""
    kind = flow.get("traffic") or "bulk"
    carried = str(flow.get("transport") or "-") if kind == "bulk" else str(kind)
    dscp = flow.get("dscp") or "CS0"
    return carried if dscp in ("CS0", 0) else f"{carried} {dscp}"
