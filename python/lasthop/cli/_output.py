"""Where text goes, and tables as text: data to files or standard output, the rest aside when output is piped."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from ..confidence import estimate
from ..files import write_whole
from ..headline import Headline, headlines, mean_and_interval
from ..result import Result

FLOWS_SHOWN = 20


def aside(*, data_on_stdout: bool = False) -> TextIO:
    """Where tables and messages go: standard output in a terminal, unless data goes there or it is piped."""
    return sys.stdout if sys.stdout.isatty() and not data_on_stdout else sys.stderr


def note(message: str) -> None:
    """A message to the user."""
    sys.stderr.write(f"lasthop: {message}\n")


def write_data(target: str, pieces: Iterable[str]) -> None:
    """Writes text to a file, or to standard output for `-`."""
    if target == "-":
        sys.stdout.writelines(pieces)
    else:
        write_whole(target, pieces)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Aligned columns, the first `left` of them to the left."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    lines.insert(1, ["─" * width for width in widths])

    def cell(text: str, column: int) -> str:
        return text.ljust(widths[column]) if column < left else text.rjust(widths[column])

    return "".join("  ".join(cell(text, column) for column, text in enumerate(line)).rstrip() + "\n" for line in lines)


def label(headline: Headline) -> str:
    """`label (unit)`."""
    return f"{headline.label} ({headline.unit})" if headline.unit else headline.label


def summary_text(result: Result) -> str:
    """The headline numbers of a result, then its first flows."""
    runs = len(result.runs)
    head = f"{result.name}: {runs} {'seed' if runs == 1 else 'seeds'}"
    rows = [
        [label(headline), mean_and_interval(estimate(list(headline.by_seed.values())), headline.decimals)]
        for headline in headlines(result)
    ]
    return f"{head}\n\n{table(['', _mean_heading(runs)], rows)}\n{_flows_text(result)}"


def _mean_heading(runs: int) -> str:
    return "mean ± 95 % CI" if runs > 1 else "value"


def _flows_text(result: Result) -> str:
    metrics = result.metrics
    columns = [
        ("goodput (Mbit/s)", "goodput_bps", 1e-6, 3),
        ("cwnd (segments)", "cwnd_mean_segments", 1, 1),
        ("RTT (ms)", "rtt_mean_s", 1e3, 1),
        ("retransmitted", "segments_retransmitted", 1, 1),
        ("timeouts", "timeouts", 1, 1),
    ]
    flows = list(dict.fromkeys(flow["id"] for run in result.runs for flow in run["flows"]))
    rows = []
    for flow in flows[:FLOWS_SHOWN]:
        cells = []
        for _, key, scale, decimals in columns:
            values = metrics.get(f"flows.{flow}.{key}", {}).values()
            cells.append(mean_and_interval(estimate([value * scale for value in values]), decimals))
        rows.append([flow, *cells])
    if not rows:
        return ""
    more = len(flows) - len(rows)
    rest = f"and {more} more flows; --json or --out has them all\n" if more else ""
    return table(["flow", *(column[0] for column in columns)], rows) + rest
