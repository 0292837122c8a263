"""The first thing to see: what a falling data rate costs ten uploads over 802.11b. `make demo` runs it.

Collisions look like a bad channel to AARF, so it lowers the rate although the signal is perfect; beside it the same
scenario with the rate held at 11 Mbit/s, on the same random numbers [khademi2011 Fig. 1].
"""

from __future__ import annotations

import sys
from pathlib import Path

from .cli._output import note
from .cli.compare import comparison_text
from .data.result import Result
from .study.comparison import compare
from .study.progress import Progress
from .study.scenario import Scenario, load
from .study.simulation import core_count, seed_list, simulate
from .views import plot

SCENARIO = "khademi2011-uplink-11b"
VARIANTS = {
    "AARF": "aarf",
    "fixed at 11 Mbit/s": {"kind": "fixed", "rate": "11 Mbit/s"},
}
SEEDS = 5


def main(out: Path = Path("out") / "demo") -> int:
    """Runs both variants, prints their comparison and writes the picture; the exit status is the commands'."""
    out.mkdir(parents=True, exist_ok=True)
    results: list[Result] = []
    for label, rate_control in VARIANTS.items():
        result = _run(label, load(SCENARIO).set("bss.rate_control", rate_control).set("name", label))
        for failure in result.failures:
            note(failure["error"])
        if result.interrupted or result.failures:
            return 130 if result.interrupted else 1
        results.append(result)
    (a, first), (b, second) = zip(VARIANTS, results, strict=True)
    sys.stdout.write(comparison_text(a, b, compare(first, second)))
    picture = out / "goodput.png"
    plot.draw("goodput_over_time", results, out=picture)
    sys.stdout.write(f"\nGoodput over time: {picture}\n")
    return 0


def _run(label: str, scenario: Scenario) -> Result:
    with Progress.fitting(label) as progress:
        return simulate(scenario, seed_list(SEEDS), core_count(), 1.0, progress, keep_series=True)


if __name__ == "__main__":
    sys.exit(main())
