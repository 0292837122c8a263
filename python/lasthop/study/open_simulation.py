"""A simulation that pauses between calls: run it for a while, read its metrics, continue."""

from __future__ import annotations

import os
from typing import Any

from .. import _core
from ..data.arguments import seconds, whole
from ..data.result import Result
from .scenario import Scenario, scenario_or_file
from .simulation import RunFailed, Runs, check_interval, seed_list


class Simulation:
    """One run of a scenario with one seed; `lasthop.open` starts it.

    >>> simulation = lasthop.open("scenarios/khademi2011-uplink-11b.toml", seed=3)
    >>> simulation.run_until("1 s")
    >>> simulation.metrics()["totals"]["goodput_bps"]
    >>> result = simulation.finish()
    """

    def __init__(self, scenario: Scenario, seed: int, interval_s: float | None) -> None:
        self._runs = Runs(scenario, 1, interval_s, keep_series=True)
        self._core = _core.Simulation(self._runs.resolved, seed, interval_s)

    @property
    def now_s(self) -> float:
        """The current time in simulated seconds."""
        return self._core.now_ns() / 1e9

    def run_until(self, time: str | float) -> bool:
        """Handles all events before `time`, such as "1 s" or 1.0 in seconds, or before the end; returns true at the end.

        An earlier time has no effect. Ctrl-C stops between two events; the simulation can continue afterwards. Raises
        `ValueError` if `time` is not a time.
        """
        at = time if isinstance(time, str) else f"{seconds('run_until', time)!r} s"
        return self._core.run_until(at)

    def metrics(self) -> dict[str, Any] | None:
        """Returns `flows`, `totals`, `nodes`, `links` and `medium` as in a result, from the end of the warm-up until now.

        Returns None during the warm-up. Reading has no effect on the simulation.
        """
        run = self._core.metrics()
        return None if run is None else run.document()

    def finish(self) -> Result:
        """Runs to the end, closes the simulation and returns the result that `lasthop.run` gives for this seed.

        Raises `RunFailed` if the run failed.
        """
        self._runs.deliver(self._core.finish())
        result = self._runs.judged()
        if result.failures:
            raise RunFailed(result)
        return result


def open(scenario: Scenario | str | os.PathLike[str], seed: int = 1, *, interval_s: float | None = 1.0) -> Simulation:
    """Starts a simulation of `scenario`, or of the file of that name, at time zero.

    `interval_s`: simulated seconds between rows of the time series; None keeps none.
    Raises `ScenarioError`, and `ValueError` for an impossible seed or interval.
    """
    check_interval(interval_s)
    whole("seed", seed, "a seed")
    return Simulation(scenario_or_file(scenario), seed_list([seed])[0], interval_s)
