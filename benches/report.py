"""The measurements as Markdown, as the tables between the marks of a page, and as data.

A page has `<!-- bench: NAME -->` above a table and `<!-- end -->` below it; what stands between is written again, and all
else is kept. A table that the page links to, as `recorded/speed-NAME.tsv`, goes into that file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aims import Aim
from cases import CASES, Case
from checks import Check
from engines import Engine
from history import Change
from scale import Growth
from table import Row, Table

MEGABYTE = 1_000_000
# The rows of the README: a case, and the peer it is compared with there.
OF_README = (
    "uplink-11b",
    "uplink-11g",
    "saturation-20",
    "saturation-100",
    "saturation-11n",
    "download-11n",
    "office-11ax",
)


def tables(
    table: Table, aims: Sequence[Aim], checks: Sequence[Check], growths: Sequence[Growth], engines: Sequence[Engine]
) -> dict[str, str]:
    """The tables by name; that of growth only where it was measured."""
    found = {
        "aims": _aims(aims, engines),
        "peers": _lines(
            ("scenario", "simulator", "simulated s per CPU s", "CPU time, lasthop = 1", "95 %", "goodput (Mbit/s)"),
            2,
            [line for case in CASES if case.peers for line in _comparison(table, case)],
        ),
        "alone": _lines(
            ("lasthop alone", "simulated s per CPU s", "frames per CPU s", "ns per frame", "ns per packet delivered"),
            1,
            [_cost(table, case) for case in CASES],
        ),
        "bounds": _lines(("bound", "aim", "measured", ""), 1, [_check(check) for check in checks]),
        "readme": _lines(
            ("scenario", "lasthop, simulated s per CPU s", "ns-2.35 takes", "ns-3.44 takes"),
            1,
            [_of_readme(table, case) for case in CASES if case.name in OF_README],
        ),
    }
    return found | ({"scale": _scale(growths)} if growths else {})


def markdown(found: Mapping[str, str], wall_s: float) -> str:
    """All tables, those of growth last."""
    return "\n\n".join([*(text for name, text in found.items() if name != "readme"), f"Measured in {wall_s:.0f} s."])


def write(page: Path, found: Mapping[str, str]) -> list[str]:
    """Puts the tables between their marks and into linked files; the names of both. Raises `ValueError` if the page has no mark."""
    text = page.read_text(encoding="utf-8")
    linked = [name for name in found if f"({linked_file(name)})" in text]
    written = [name for name in found if f"<!-- bench: {name} -->" in text]
    if not written:
        raise ValueError(f"{page}: there is no mark such as <!-- bench: aims -->")
    for name in written:
        between = re.compile(rf"(<!-- bench: {name} -->\n)(?:(?!<!-- bench:).)*?(<!-- end -->)", re.DOTALL)
        text, count = between.subn(lambda marks, name=name: f"{marks[1]}\n{found[name]}\n\n{marks[2]}", text)
        if not count:
            raise ValueError(f"{page}: <!-- bench: {name} --> has no <!-- end --> after it")
    page.write_text(text, encoding="utf-8")
    for name in linked:
        (page.parent / linked_file(name)).write_text(_separated(found[name]), encoding="utf-8")
    return written + linked


def linked_file(name: str) -> str:
    """The file of a table beside the page that links to it."""
    return f"recorded/speed-{name}.tsv"


def _separated(table: str) -> str:
    """The table as tab-separated values, without the line below its head."""
    head, _, *rows = table.splitlines()
    return "".join("\t".join(cell.strip() for cell in row[1:-1].split("|")) + "\n" for row in (head, *rows))


def document(
    table: Table, aims: Sequence[Aim], checks: Sequence[Check], growths: Sequence[Growth], wall_s: float
) -> dict[str, Any]:
    """The same as data: costs in CPU seconds for each simulated second, every round of them."""
    return {
        "format": 2,
        "missing": {simulator.label: simulator.missing for simulator in table.simulators if simulator.missing},
        "cases": [
            {
                "name": case.name,
                "title": case.title,
                "seconds_per_attempt": table.seconds_per_attempt(case.name),
                "seconds_per_delivery": table.seconds_per_delivery(case.name),
                "events_per_attempt": table.events_per_attempt(case.name),
                "simulators": [_row_document(table, row) for row in table.rows(case)],
            }
            for case in CASES
        ],
        "aims": [aim._asdict() | {"met": {key: aim.met(key) for key in aim.measured}} for aim in aims],
        "checks": [check._asdict() | {"kept": check.kept} for check in checks],
        "scale": [
            growth._asdict()
            | {"points": [point._asdict() for point in growth.points]}
            | {f"power_of_{number}": growth.power(number) for number in ("cost_s", "peak_bytes")}
            for growth in growths
        ],
        "wall_s": wall_s,
    }


def _row_document(table: Table, row: Row) -> dict[str, Any]:
    return {
        "simulator": row.simulator.label,
        "cpu_s_per_simulated_s": row.cost,
        "ratio": row.ratio,
        "interval": None if row.interval is None else [row.interval.low, row.interval.high],
        "goodput_bps": row.goodput_bps,
        "rounds": [sample.cost for sample in table.samples(row.case, row.simulator.key)],
    }


def _lines(head: Sequence[str], texts: int, rows: Sequence[str]) -> str:
    """A table whose first columns, `texts` of them, are text and the others numbers."""
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * texts}{'--:|' * (len(head) - texts)}", *rows])


def _aims(aims: Sequence[Aim], engines: Sequence[Engine]) -> str:
    columns = [column for engine in engines for column in (engine.label, "met")]
    return _lines(("aim", "", *columns), 1, [_aim(aim, engines) for aim in aims])


def _aim(aim: Aim, engines: Sequence[Engine]) -> str:
    sign = "≥" if aim.at_least else "≤"
    least = f" (at least {aim.least:g})" if aim.least is not None else ""
    cells = [f"{sign} {_number(aim.bound)} {aim.unit}".strip() + least]
    for engine in engines:
        value, met = aim.measured.get(engine.key), aim.met(engine.key)
        cells += (
            ["not measured", ""] if value is None else [f"{_number(value)} {aim.unit}".strip(), "yes" if met else "no"]
        )
    return f"| {aim.what} | {' | '.join(cells)} |"


def _comparison(table: Table, case: Case) -> list[str]:
    rows = table.rows(case)
    lines = [
        f"| {case.title} | {row.simulator.label} | {_number(1 / row.cost)} | {_number(row.ratio)} "
        f"| {_interval(row)} | {row.goodput_bps / 1e6:.2f} |"
        for row in rows
    ]
    ran = {row.simulator.key for row in rows}
    absent = [
        f"| {case.title} | {simulator.label} | {simulator.missing} | | | |"
        for simulator in table.simulators
        if simulator.missing and simulator.key in case.peers and simulator.key not in ran
    ]
    return lines + absent


def _interval(row: Row) -> str:
    found = row.interval
    if row.simulator.key == "lasthop" or found is None or found.low is None or found.high is None:
        return ""
    return f"{_number(found.low)} to {_number(found.high)}"


def changes(found: Sequence[Change], before: Mapping[str, Any]) -> str:
    """The table of what has changed since the last run on this machine."""
    titles = {case.name: case.title for case in CASES}
    rows = [f"| {titles.get(one.case, one.case)} | {one.simulator} | {one.ratio} | {one.verdict} |" for one in found]
    head = f"Since {before['at']} UTC (engine {before['engine']}), by CPU time:"
    return f"{head}\n\n{_lines(('scenario', 'simulator', 'now over then (95 %)', ''), 2, rows)}"


def _of_readme(table: Table, case: Case) -> str:
    found = [table.ratio(case.name, key, "lasthop") for key in ("ns2", "ns2-splay", "ns3")]
    ns2, splay, ns3 = ("" if ratio is None else f"{_number(ratio)} times" for ratio in found)
    faster = f" ({splay} with its splay scheduler)" if splay else ""
    return f"| {case.title} | {_number(1 / table.cost(case.name, 'lasthop'))} | {ns2}{faster} | {ns3} |"


def _cost(table: Table, case: Case) -> str:
    attempt_s, delivery_s = table.seconds_per_attempt(case.name), table.seconds_per_delivery(case.name)
    numbers = (1 / table.cost(case.name, "lasthop"), 1 / attempt_s, attempt_s * 1e9, delivery_s * 1e9)
    return f"| {case.title} | {' | '.join(_number(number) for number in numbers)} |"


def _check(check: Check) -> str:
    aim = f"{'≥' if check.at_least else '≤'} {check.bound:g} {check.unit}".strip()
    measured = f"{_number(check.measured)} {check.unit}".strip()
    return f"| {check.what} | {aim} | {measured} | {'yes' if check.kept else 'no'} |"


def _scale(growths: Sequence[Growth]) -> str:
    rows = []
    for growth in growths:
        for point in growth.points:
            cost = (
                f"{_number(point.cost_s * 1e9)} ns" if growth.each == "frame" else f"{_number(point.cost_s * 1e3)} ms"
            )
            rows.append(
                f"| {growth.what} | {point.number:,} | {cost} a {growth.each} | {_number(point.peak_bytes / MEGABYTE)} MB |"
            )
        powers = [growth.power(number) for number in ("cost_s", "peak_bytes")]
        rows.append(f"| {growth.what} | grows as | {' | '.join(_power(power) for power in powers)} |")
    return _lines(("with", "how many", "CPU time", "peak memory"), 1, rows)


def _power(power: float) -> str:
    return "" if math.isnan(power) else f"n^{power:.2f}"


def _number(value: float) -> str:
    """Three digits, and no more than whole ones where that is many; thousands apart."""
    if abs(value) >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"
