"""How cost and memory grow: with stations, BSSs, flows, simulated time and the runs of a sweep.

A cost is CPU time for each frame sent (of a sweep for each run), start-up apart as everywhere here; memory is the peak of
the whole process. Each grows as a power of the number, which is fitted by least squares of the logarithms.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import several_bss
from child import Usage, note, printed, run
from costs import MEGABYTE, SATURATION, UPLOADS, Sweep, command
from engines import Engine

# A cost is the difference of two runs; the longer is extended until they are this many CPU seconds apart.
LEAST_S, QUICK_LEAST_S = 0.4, 0.05
# And this fraction of the time of the shorter run, where start-up is much of it.
SHARE_OF_START = 0.25
MOST_SIMULATED_S = 10_000
STEPPED = Path(__file__).resolve().parent / "stepped.py"
FIXED_11B = 'bss.rate_control={ kind = "fixed", rate = "11 Mbit/s" }'
APART_M = 30
STATIONS = (1, 10, 100, 1000, 5000)
BSSS = (1, 2, 5, 10, 20, 50)
FLOWS = (10, 30, 100, 300, 1000)
SECONDS = (1, 10, 100, 1000, 10_000)
RUNS = (100, 1000, 10_000, 100_000)
# Number of the largest runs of each that make up the slow ones.
LEFT_OUT = 2


class Point(NamedTuple):
    """What one number of something cost: CPU seconds for each frame or run, and bytes at most."""

    number: int
    cost_s: float
    peak_bytes: int


class Growth(NamedTuple):
    """How the cost of one thing (`each`: frame or run) grows with the number of another."""

    what: str
    each: str
    points: tuple[Point, ...]

    def power(self, number: str) -> float:
        """The exponent with which `cost_s` or `peak_bytes` grows."""
        return power_law([p.number for p in self.points], [getattr(p, number) for p in self.points])


def power_law(x: Sequence[float], y: Sequence[float]) -> float:
    """The exponent b of y = a x^b that fits best: least squares of the logarithms; NaN with fewer than two points."""
    points = [(math.log(one), math.log(other)) for one, other in zip(x, y, strict=True) if other > 0]
    if len(points) < 2:
        return math.nan
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def growths(engine: Engine, *, quick: bool) -> list[Growth]:
    """All of them; with `quick` without the largest numbers."""
    return [
        Growth("stations", "frame", tuple(_stations(engine, quick))),
        Growth("BSSs 30 m apart", "frame", tuple(_bsss(engine, quick))),
        Growth("flows of ten stations", "frame", tuple(_flows(engine, quick))),
        Growth("simulated seconds", "frame", tuple(_seconds(engine, quick))),
        Growth("runs of a sweep", "run", tuple(_runs(engine, quick))),
    ]


def _numbers(what: str, numbers: Sequence[int], quick: bool) -> Iterator[int]:
    for number in numbers[:-LEFT_OUT] if quick else numbers:
        note(f"{what}: {number:,}")
        yield number


def _stations(engine: Engine, quick: bool) -> Iterator[Point]:
    for number in _numbers("stations", STATIONS, quick):
        yield _frames(engine, number, SATURATION, (f"station.0.count={number}",), quick)


def _bsss(engine: Engine, quick: bool) -> Iterator[Point]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "bss.toml"
        for number in _numbers("BSSs", BSSS, quick):
            file.write_text(several_bss.text("scale", number, APART_M), encoding="utf-8")
            yield _frames(engine, number, file, (), quick)


def _flows(engine: Engine, quick: bool) -> Iterator[Point]:
    for number in _numbers("flows", FLOWS, quick):
        yield _frames(engine, number, UPLOADS, (FIXED_11B, f"flow.0.count={number // 10}"), quick)


def _seconds(engine: Engine, quick: bool) -> Iterator[Point]:
    """The CPU time of the simulation alone: a second takes less than the start of a command varies."""
    for number in _numbers("simulated seconds", SECONDS, quick):
        script = [sys.executable, STEPPED, UPLOADS, str(number), FIXED_11B]
        usage = run(script, environment=engine.environment)
        (cpu_s,), (frames,) = (printed(usage.output, name) for name in ("cpu_s", "frames"))
        yield Point(number, cpu_s / frames, usage.peak_bytes)


def _runs(engine: Engine, quick: bool) -> Iterator[Point]:
    sweep = Sweep(engine)
    few = 10
    start = sweep.usage(few)[0].cpu_s
    for number in _numbers("runs", RUNS, quick):
        usage, _ = sweep.usage(number)
        yield Point(number, (usage.cpu_s - start) / (number - few), usage.peak_bytes)


def _frames(engine: Engine, number: int, file: Path, settings: tuple[str, ...], quick: bool) -> Point:
    """The difference of a run of one second and of one that is long enough; memory is that of the longer."""
    short, few = _run(engine, file, settings, 1)
    least_s = max(QUICK_LEAST_S if quick else LEAST_S, SHARE_OF_START * short.cpu_s)
    seconds = 2.0
    while True:
        long, many = _run(engine, file, settings, seconds)
        apart_s = long.cpu_s - short.cpu_s
        if apart_s >= least_s or seconds >= MOST_SIMULATED_S:
            return Point(number, apart_s / (many - few), long.peak_bytes)
        seconds *= 4


def _run(engine: Engine, file: Path, settings: tuple[str, ...], seconds: float) -> tuple[Usage, int]:
    """The usage of the whole command, and the frames of the whole run."""
    laid_over = [word for setting in (*settings, f"duration={seconds} s", "warmup=0 s") for word in ("--set", setting)]
    with TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        usage = command(engine, ["run", file, *laid_over, "--seed", "1", "--jobs", "1", "--json", result])
        (found,) = json.loads(result.read_text(encoding="utf-8"))["runs"]
    return usage, sum(node["frames_sent"] for node in found["nodes"])


def draw(found: Sequence[Growth], target: Path) -> None:
    """The picture: cost, over that of the first number, and memory, both over how many there are."""
    from lasthop.views.plot._chart import Chart, Curve, draw_chart, new_figure, save_picture

    cost, memory = "CPU time for each frame or run, over that of the first", "peak memory (MB)"
    curves = []
    for growth in found:
        x = [point.number for point in growth.points]
        first = growth.points[0].cost_s
        # A cost below the resolution of the kernel's clock is not a point of a logarithmic axis.
        relative = [point.cost_s / first if point.cost_s > 0 < first else math.nan for point in growth.points]
        curves.append(Curve(growth.what, x, relative, panel=cost))
        curves.append(Curve(growth.what, x, [point.peak_bytes / MEGABYTE for point in growth.points], panel=memory))
    curves.sort(key=lambda curve: curve.panel != cost)
    labels = {cost: "relative cost", memory: "MB"}
    chart = Chart(
        "lines", "How cost and memory grow", "how many", "", tuple(curves), log_x=True, log_y=True, y_labels=labels
    )
    with new_figure() as figure:
        draw_chart(chart, figure)
        save_picture(figure, target, target.suffix[1:])
