"""CPU seconds of a simulation alone, without the start of anything: `stepped.py FILE SECONDS [path=value]...`

Prints `cpu_s` and `frames` of as many runs as take long enough to be told, one after the other.
"""

from __future__ import annotations

import sys
import time

import lasthop

LEAST_S = 0.2
MOST_RUNS = 1000


def main(file: str, seconds: str, *settings: str) -> None:
    """Runs it."""
    scenario = lasthop.load(file)
    for path, value in (*(word.split("=", 1) for word in settings), ("duration", f"{seconds} s"), ("warmup", "0 s")):
        scenario = scenario.set(path, value)
    cpu_s, frames = 0.0, 0
    for _ in range(MOST_RUNS):
        simulation = lasthop.open(scenario, seed=1, interval_s=None)
        before_s = time.process_time()
        simulation.run_until(float(seconds))
        cpu_s += time.process_time() - before_s
        frames += sum(node["frames_sent"] for node in simulation.metrics()["nodes"])
        if cpu_s >= LEAST_S:
            break
    print(f"cpu_s {cpu_s}\nframes {frames}")


if __name__ == "__main__":
    main(*sys.argv[1:])
