"""The measurements as Markdown for the README, and as data."""

from __future__ import annotations

from typing import Any

from cases import CASES, Case
from checks import Check
from table import Row, Table


def markdown(table: Table, measured: list[Check], wall_s: float) -> str:
    """All tables, ready to be pasted."""
    return "\n".join(
        [
            "| scenario | simulator | simulated s per CPU s | CPU time, lasthop = 1 | goodput (Mbit/s) |",
            "|---|---|--:|--:|--:|",
            *(line for case in CASES if case.peers for line in _comparison(table, case)),
            "",
            "| lasthop alone | simulated s per CPU s | frames per CPU s | ns per frame | ns per packet delivered |",
            "|---|--:|--:|--:|--:|",
            *(_cost(table, case) for case in CASES),
            "",
            "| bound | aim | measured | |",
            "|---|--:|--:|---|",
            *(_check(check) for check in (*table.targets(), *measured)),
            "",
            f"Measured in {wall_s:.0f} s.",
        ]
    )


def document(table: Table, measured: list[Check], wall_s: float) -> dict[str, Any]:
    """The same as data: costs in CPU seconds for each simulated second, every round of them."""
    return {
        "format": 1,
        "missing": {simulator.label: simulator.missing for simulator in table.simulators if simulator.missing},
        "cases": [
            {
                "name": case.name,
                "title": case.title,
                "seconds_per_attempt": table.seconds_per_attempt(case),
                "seconds_per_delivery": table.seconds_per_delivery(case),
                "simulators": [_row_document(table, row) for row in table.rows(case)],
            }
            for case in CASES
        ],
        "checks": [check._asdict() | {"kept": check.kept} for check in (*table.targets(), *measured)],
        "wall_s": wall_s,
    }


def _row_document(table: Table, row: Row) -> dict[str, Any]:
    return {
        "simulator": row.simulator.label,
        "cpu_s_per_simulated_s": row.cost,
        "ratio": row.ratio,
        "goodput_bps": row.goodput_bps,
        "rounds": [sample.cost for sample in table.samples(row.case, row.simulator.key)],
    }


def _comparison(table: Table, case: Case) -> list[str]:
    rows = table.rows(case)
    lines = [
        f"| {case.title} | {row.simulator.label} | {_number(1 / row.cost)} | {_number(row.ratio)} "
        f"| {row.goodput_bps / 1e6:.2f} |"
        for row in rows
    ]
    ran = {row.simulator.key for row in rows}
    absent = [
        f"| {case.title} | {simulator.label} | {simulator.missing} | | |"
        for simulator in table.simulators
        if simulator.missing and simulator.key in case.peers and simulator.key not in ran
    ]
    return lines + absent


def _cost(table: Table, case: Case) -> str:
    cost = table.median(case, "lasthop", "cost")
    attempt_s, delivery_s = table.seconds_per_attempt(case), table.seconds_per_delivery(case)
    numbers = (1 / cost, 1 / attempt_s, attempt_s * 1e9, delivery_s * 1e9)
    return f"| {case.title} | {' | '.join(_number(number) for number in numbers)} |"


def _check(check: Check) -> str:
    aim = f"{'≥' if check.at_least else '≤'} {check.bound:g} {check.unit}".strip()
    measured = f"{_number(check.measured)} {check.unit}".strip()
    return f"| {check.what} | {aim} | {measured} | {'yes' if check.kept else 'no'} |"


def _number(value: float) -> str:
    """Three digits, and no more than whole ones where that is many; thousands apart."""
    if abs(value) >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"
