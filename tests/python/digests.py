"""Digests of the results of ready scenarios, papers and benchmarks, one for each quantity: they show which results a change alters.

A quantity is a column of a table of a run, such as `flows.goodput_bps`, or a time series, such as `series.goodput_bps`. Its digest
is the start of the SHA-256 of its values in all runs of a subject, so that a new metric leaves the digests of the others as they
are. The scenario, the warnings and the simulator's own numbers have none.

`python tests/python/digests.py --write` renews tests/data/digests.json, `--write PREFIX` the subjects with names that begin so.
The file has a line for each quantity, with one digest for each subject in their order; `-` if the subject lacks the quantity.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import lasthop
import pandas
from lasthop.papers import read_paper
from lasthop.study.progress import Progress
from lasthop.study.scenario import Scenario
from lasthop.study.simulation import simulate

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "data" / "digests.json"
TABLES = ("flows", "totals", "nodes", "links", "medium")
SECONDS = 2.0
INTERVAL_S = 0.5
HEX_DIGITS = 8
ABSENT = "-"

Digests = dict[str, str]


def subjects() -> Iterator[tuple[str, list[Scenario]]]:
    """Name and scenarios of all subjects: a ready scenario, a case of a paper, a benchmark."""
    for file in sorted((ROOT / "scenarios").glob("*.toml")):
        yield f"scenarios/{file.stem}", [lasthop.load(file)]
    for file in sorted((ROOT / "papers").glob("*.toml")):
        for case in read_paper(file).cases.values():
            yield f"papers/{file.stem}/{case.name}", [point.scenario for point in case.points()]
    sys.path.insert(0, str(ROOT / "benches"))
    from cases import CASES

    for case in CASES:
        scenario = lasthop.load(case.file)
        settings = [setting.split("=", 1) for setting in case.settings] + [["station.0.count", case.stations]]
        for path, value in settings:
            scenario = scenario.set(path, value)
        yield f"benches/{case.name}", [scenario]


def digests(scenarios: Iterable[Scenario]) -> Digests:
    """The digests of one seed of each scenario, by quantity."""
    return of_runs(map(_quantities_of, scenarios))


def of_runs(runs: Iterable[Mapping[str, bytes]]) -> Digests:
    """The digests of runs, each of which gives the bytes of its quantities."""
    sums: dict[str, Any] = {}
    for index, quantities in enumerate(runs):
        for name, values in quantities.items():
            sums.setdefault(name, hashlib.sha256()).update(b"%d:%d:%b" % (index, len(values), values))
    return {name: sums[name].hexdigest()[:HEX_DIGITS] for name in sorted(sums)}


def columns(run: Mapping[str, Any]) -> dict[str, bytes]:
    """The bytes of each column of each table: its value in each row, or `ABSENT`."""
    encode = json.JSONEncoder(sort_keys=True).encode
    values: dict[str, bytes] = {}
    for table in TABLES:
        rows = run[table] if isinstance(run[table], list) else [run[table]]
        for column in dict.fromkeys(itertools.chain(*rows)):
            values[f"{table}.{column}"] = encode([row.get(column, ABSENT) for row in rows]).encode()
    return values


def series_values(series: pandas.DataFrame) -> dict[str, bytes]:
    """The bytes of each time series: time, entity and value of its points."""
    names, *points = (series[column].tolist() for column in ("metric", "time_s", "entity", "value"))
    cells: dict[str, list[Any]] = {}
    for metric, *point in zip(names, *points, strict=True):
        cells.setdefault(f"series.{metric}", []).append(point)
    return {name: repr(values).encode() for name, values in cells.items()}


def _quantities_of(scenario: Scenario) -> dict[str, bytes]:
    result = simulate(_short(scenario), [1], 1, INTERVAL_S, Progress.silent(), keep_series=True)
    (run,) = result.runs
    return columns(run) | series_values(result.timeseries)


def _short(scenario: Scenario) -> Scenario:
    """The scenario from the start of its last flow on, for a moment."""
    flows = json.loads(scenario.resolve().to_json())["flow"]
    starts = [_seconds(flow["start"]) + _seconds(flow["start_jitter"]) for flow in flows]
    start = max(starts, default=0.0)
    return scenario.set("duration", f"{start + SECONDS} s").set("warmup", f"{start + SECONDS / 2} s")


def _seconds(text: str) -> float:
    number, unit = re.fullmatch(r"([0-9.]+) (ns|us|ms|s|min)", text).groups()
    return float(number) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}[unit]


def recorded() -> dict[str, Digests]:
    """The digests in the file, by subject and quantity."""
    file = json.loads(FILE.read_text())
    rows = {quantity: line.split() for quantity, line in file["quantities"].items()}
    return {
        subject: {quantity: row[place] for quantity, row in rows.items() if row[place] != ABSENT}
        for place, subject in enumerate(file["subjects"])
    }


def write(by_subject: Mapping[str, Digests]) -> None:
    """Writes the file."""
    names = sorted({quantity for found in by_subject.values() for quantity in found})
    lines = {name: " ".join(found.get(name, ABSENT) for found in by_subject.values()) for name in names}
    FILE.write_text(json.dumps({"subjects": list(by_subject), "quantities": lines}, indent=1) + "\n")


def difference(old: Digests, new: Digests) -> str:
    """The quantities that changed, appeared and disappeared, as a text; empty if there are none."""
    parts = {
        "changed": [name for name in new if name in old and old[name] != new[name]],
        "new": [name for name in new if name not in old],
        "gone": [name for name in old if name not in new],
    }
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in parts.items() if names)


def main(words: list[str]) -> None:
    """Renews the file."""
    if words[:1] != ["--write"]:
        sys.exit(__doc__)
    old = recorded() if FILE.exists() else {}
    chosen = tuple(words[1:] or [""])
    new = {
        name: digests(scenarios) if name.startswith(chosen) or name not in old else old[name]
        for name, scenarios in subjects()
    }
    for name, by_quantity in new.items():
        if found := difference(old.get(name, {}), by_quantity):
            print(f"{name}: {found}")
    write(new)


if __name__ == "__main__":
    main(sys.argv[1:])
