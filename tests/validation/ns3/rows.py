"""Lines of `tests/data/ns3.csv`: cell, quantity, mean, standard deviation, seeds, seconds."""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping

Measure = Callable[[int], Mapping[str, float]]


def main(cells: Iterable[tuple[str, float, Measure]], seeds: int) -> None:
    """Prints the lines of cells: their name, their seconds, and what measures one seed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--only", default="", help="cells whose name begins so; several apart by semicolons")
    given = parser.parse_args()
    write = csv.writer(sys.stdout, lineterminator="\n").writerow
    for name, seconds, measure in cells:
        if any(name.startswith(start) for start in given.only.split(";")):
            runs = [measure(seed) for seed in range(1, given.seeds + 1)]
            for quantity in runs[0]:
                values = [run[quantity] for run in runs]
                deviation = statistics.stdev(values) if len(values) > 1 else 0.0
                mean = statistics.mean(values)
                write([name, quantity, f"{mean:.4g}", f"{deviation:.2g}", len(runs), f"{seconds:g}"])
            sys.stdout.flush()
