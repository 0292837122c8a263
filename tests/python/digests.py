"""Digests of what ready scenarios, papers and benchmarks give, short: they tell a change of results from a change of words.

A digest is the SHA-256 over each run's flows, totals, nodes, links, medium and series; the scenario, the warnings and
what the simulator says of itself do not count. `python tests/python/digests.py --write` renews tests/data/digests.json,
`--write PREFIX` those whose name begins so.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import lasthop
from lasthop.papers import read_paper
from lasthop.study.progress import Progress
from lasthop.study.scenario import Scenario
from lasthop.study.simulation import simulate

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "data" / "digests.json"
COUNTED = ("flows", "totals", "nodes", "links", "medium")
SECONDS = 2.0
INTERVAL_S = 0.5


def subjects() -> Iterator[tuple[str, list[Scenario]]]:
    """Name and scenarios of all that has a digest: a ready scenario, a case of a paper, a benchmark."""
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


def digest(scenarios: Iterable[Scenario]) -> str:
    """The digest of one seed of each."""
    total = hashlib.sha256()
    for scenario in scenarios:
        result = simulate(_short(scenario), [1], 1, INTERVAL_S, Progress.silent(), keep_series=True)
        (run,) = result.runs
        total.update(json.dumps([run[part] for part in COUNTED], sort_keys=True).encode())
        total.update(result.timeseries.to_csv(index=False).encode())
    return total.hexdigest()


def _short(scenario: Scenario) -> Scenario:
    """The scenario from the start of its last flow on, for a moment."""
    flows = json.loads(scenario.resolve().to_json())["flow"]
    starts = [_seconds(flow["start"]) + _seconds(flow["start_jitter"]) for flow in flows]
    start = max(starts, default=0.0)
    return scenario.set("duration", f"{start + SECONDS} s").set("warmup", f"{start + SECONDS / 2} s")


def _seconds(text: str) -> float:
    number, unit = re.fullmatch(r"([0-9.]+) (ns|us|ms|s|min)", text).groups()
    return float(number) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}[unit]


def main(words: list[str]) -> None:
    """Renews the file."""
    if words[:1] != ["--write"]:
        sys.exit(__doc__)
    kept = json.loads(FILE.read_text()) if FILE.exists() else {}
    found = {
        name: digest(scenarios) if name.startswith(tuple(words[1:] or [""])) else kept.get(name)
        for name, scenarios in subjects()
    }
    for name in found:
        if kept.get(name) != found[name]:
            print(f"{name}: {'new' if name not in kept else 'changed'}")
    FILE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
