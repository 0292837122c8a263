"""A sweep of short runs on a Dask scheduler with two workers, or on two threads: `on_dask.py threads|dask FILE POINTS SEEDS`.

The processes of the cluster are children of this one and have ended when it ends, so that its usage holds theirs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import lasthop

WORKERS = 2
LONGEST_START_S = 60


def main(executor: str, file: str, points: str, seeds: str) -> None:
    """Runs it."""
    over = {"wired.delay": [f"{delay} ms" for delay in range(1, int(points) + 1)]}
    if executor == "threads":
        lasthop.sweep(file, over, int(seeds), jobs=WORKERS, progress=False)
        return
    from lasthop.study.executor.dask import Dask

    with TemporaryDirectory() as folder, cluster(folder) as address:
        lasthop.sweep(file, over, int(seeds), executor=Dask(address), progress=False)


@contextmanager
def cluster(folder: str) -> Iterator[str]:
    """The address of a scheduler with two workers, which end with it."""
    processes = [_start(folder, "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", "at.json")]
    try:
        address = _address(Path(folder) / "at.json")
        worker = ("dask_worker", address, "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")
        processes += [_start(folder, *worker) for _ in range(WORKERS)]
        yield address
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


def _start(folder: str, program: str, *arguments: str) -> subprocess.Popen[bytes]:
    code = f"from distributed.cli.{program} import main; main()"
    command = [sys.executable, "-c", code, *arguments, "--no-dashboard"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _address(file: Path) -> str:
    until = time.monotonic() + LONGEST_START_S
    while time.monotonic() < until:
        try:
            return json.loads(file.read_text(encoding="utf-8"))["address"]
        except (OSError, ValueError):
            time.sleep(0.05)
    raise TimeoutError("the Dask scheduler did not start")


if __name__ == "__main__":
    main(*sys.argv[1:])
