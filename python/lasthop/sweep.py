"""Varies settings of a scenario: every combination is a point, every point runs the same seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from .progress import Progress, progress_here
from .result import flat_metrics
from .scenario import Scenario, toml_value
from .simulation import Interrupted, RunFailed, core_count, seed_list, simulate

if TYPE_CHECKING:
    import pandas

SHOWN = ("totals.", "medium.")


def sweep(
    scenario: Scenario,
    over: Mapping[str, Iterable[Any]] | None = None,
    seeds: int | Iterable[int] = 5,
    *,
    jobs: int | None = None,
    progress: bool | None = None,
) -> pandas.DataFrame:
    """Runs every combination of the values in `over` (by default the file's `[sweep]`) for each seed.

    One row for each point and seed: the varied paths, `seed`, then the run's `totals.…` and `medium.…`.
    Raises `ScenarioError` before anything runs where one of the points is wrong.
    """
    import pandas

    show = progress_here() if progress is None else progress
    new_progress = Progress.in_terminal if show else lambda _label: Progress.silent()
    points = grid(scenario, over)
    rows, interrupted = sweep_rows(points, seed_list(seeds), jobs or core_count(), new_progress)
    table = pandas.DataFrame(rows)
    if interrupted:
        raise Interrupted(table)
    return table


def grid(scenario: Scenario, over: Mapping[str, Iterable[Any]] | None = None) -> list[tuple[dict[str, Any], Scenario]]:
    """The points of a sweep and their scenarios, all of them checked."""
    axes = {path: list(values) for path, values in (over or dict(scenario.resolve().sweep())).items()}
    if not axes:
        raise ValueError("nothing to sweep: give over={path: values}, or a [sweep] table in the file")
    points = []
    for values in product(*axes.values()):
        point = dict(zip(axes, values, strict=True))
        varied = scenario
        for path, value in point.items():
            varied = varied.set(path, value)
        varied.resolve()
        points.append((point, varied))
    return points


def sweep_rows(
    points: list[tuple[dict[str, Any], Scenario]], seeds: list[int], jobs: int, new_progress: Any
) -> tuple[list[dict[str, Any]], bool]:
    """Runs the points one after another; the rows that finished, and whether Ctrl-C ended it early."""
    rows: list[dict[str, Any]] = []
    for number, (point, scenario) in enumerate(points, start=1):
        with new_progress(f"point {number} of {len(points)}") as bar:
            result = simulate(scenario, seeds, jobs, None, bar)
        for run in result.runs:
            metrics = {name: value for name, value in flat_metrics(run).items() if name.startswith(SHOWN)}
            rows.append({**{path: _cell(value) for path, value in point.items()}, "seed": run["seed"], **metrics})
        if result.failures:
            raise RunFailed(result)
        if result.interrupted:
            return rows, True
    return rows, False


def _cell(value: Any) -> Any:
    return toml_value(value) if isinstance(value, dict | list | tuple) else value
