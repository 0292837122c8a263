"""Where text goes: results to standard output, what is said about them to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import chain
from math import inf
from typing import Any

from ..files import write_whole
from ..headline import Headline, chosen, mean_and_interval
from ..losses import bottleneck_text
from ..quantities import FLOW, Quantity
from ..result import Result, is_number
from ..runs import columns as columns_of
from ..runs import first_rows
from ..sequential import percent
from ._table import table

FLOWS_SHOWN = 20
WIDTHS_SHOWN = 4


def show(text: str, *, beside_data: bool = False) -> None:
    """Writes a result as text to standard output; beside data that goes there (`--json -`), to standard error."""
    stream = sys.stderr if beside_data else sys.stdout
    stream.write(text)
    # What is said of it on the other stream comes after it.
    stream.flush()


def note(message: str) -> None:
    """A message to the user."""
    sys.stderr.write(f"lasthop: {message}\n")


def note_few(seeds: int) -> None:
    """What intervals of two seeds are worth: the half-width has the factor t / sqrt(n), 9.0 of 2, 2.5 of 3, 1.2 of 5."""
    if seeds == 2:
        note("with 2 seeds an interval rests on one difference (t = 12.7); with 3 it is some 4 times narrower, with 5 some 7")


def write_data(target: str, pieces: Iterable[str | bytes]) -> None:
    """Writes text, or its UTF-8, to a file, or to standard output for `-`."""
    if target == "-":
        sys.stdout.writelines(piece if isinstance(piece, str) else piece.decode() for piece in pieces)
    else:
        write_whole(target, pieces)


def label(name: str, unit: str) -> str:
    """`name (unit)`."""
    return f"{name} ({unit})" if unit else name


def summary_text(result: Result, patterns: Iterable[str] = ()) -> str:
    """The headline numbers of a result, or those that match `patterns`, then its first flows."""
    runs = len(result.told_runs)
    head = f"{result.name}: {runs} {'seed' if runs == 1 else 'seeds'}"
    rows = [
        [label(headline.label, headline.unit), _estimate(result, headline)] for headline in chosen(result, patterns)
    ]
    numbers = f"{table(['', _mean_heading(runs)], rows)}{bottleneck_text(result.told_runs)}"
    return f"{head}\n\n{numbers}\n{_flows_text(result)}"


def _estimate(result: Result, headline: Headline) -> str:
    found = result.estimate(headline.by_seed.values())
    return mean_and_interval(found and found.scaled(headline.scale), headline.decimals)


def until_text(until: dict[str, Any]) -> str:
    """How adding seeds ended: each metric's half-width, and whether all are within the target."""
    target = percent(until["target"])
    widest = sorted(until["half_widths"].items(), key=lambda item: inf if item[1] is None else item[1], reverse=True)
    widths = [f"{name} {'without a width' if width is None else f'± {percent(width)}'}" for name, width in widest]
    more = [f"and {len(widths) - WIDTHS_SHOWN} narrower"] if len(widths) > WIDTHS_SHOWN else []
    what = f"{', '.join([*widths[:WIDTHS_SHOWN], *more]) or 'no interval'} after {until['n']} seeds"
    return f"{what}: within ± {target}" if until["reached"] else f"{what}: not within ± {target}"


def _mean_heading(runs: int) -> str:
    return "mean ± 95 % CI" if runs > 1 else "value"


# What is told of each flow, with a short heading where the label is too long for a column; one that no flow has is left out.
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


def _flows_text(result: Result) -> str:
    shown, more = _first_flows(result)
    if not shown:
        return ""

    def values(flow: str, quantity: Quantity) -> list[float]:
        return [row[quantity] for row in shown[flow] if is_number(row.get(quantity))]

    def cell(flow: str, quantity: Quantity) -> str:
        scaled = (value * quantity.shown.scale for value in values(flow, quantity))
        return mean_and_interval(result.estimate(scaled), quantity.shown.decimals)

    columns = [quantity for quantity in FLOW_COLUMNS if any(values(flow, quantity) for flow in shown)]
    heads = [label(FLOW_COLUMNS[quantity] or quantity.label, quantity.shown.unit) for quantity in columns]
    rows = [[flow, _what(shown[flow][-1]), *(cell(flow, quantity) for quantity in columns)] for flow in shown]
    rest = f"and {more} more flows; --json or --out has them all\n" if more else ""
    return table(["flow", "traffic", *heads], rows, left=2) + rest


def _first_flows(result: Result) -> tuple[dict[str, list[dict[str, Any]]], int]:
    """The flows that are shown, each with its row in every run that has it, and how many there are besides."""
    of_runs = [columns_of(run, "flows", ("id",))[0] for run in result.told_runs]
    ids = list(dict.fromkeys(chain.from_iterable(of_runs)))
    shown: dict[str, list[dict[str, Any]]] = {flow: [] for flow in ids[:FLOWS_SHOWN]}
    for run, own in zip(result.told_runs, of_runs, strict=True):
        last = max((place for place, flow in enumerate(own) if flow in shown), default=-1)
        # Of one that stands twice, the last row is its own.
        rows = {row["id"]: row for row in first_rows(run, "flows", last + 1)}
        for flow, found in shown.items():
            found.extend([rows[flow]] if flow in rows else [])
    return shown, len(ids) - len(shown)


def _what(flow: dict[str, Any]) -> str:
    """What a flow carries, and with which code point if it has one."""
    kind = flow.get("traffic") or "bulk"
    carried = flow["transport"] if kind == "bulk" else kind
    dscp = flow.get("dscp") or "CS0"
    return carried if dscp in ("CS0", 0) else f"{carried} {dscp}"
