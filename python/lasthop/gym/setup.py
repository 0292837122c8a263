"""The controls, observations and reward of an agent: the arguments of all environments, checked once, and their spaces."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .. import _core
from ..data import arguments as given
from ..data.quantities import TOTALS
from ..study.scenario import Scenario, scenario_or_file

#: Goodput of all flows since the last step, in Mbit/s.
DEFAULT_REWARD = f"totals.{TOTALS.goodput_bps} / 1e6"
Numbers = NDArray[np.float64]
#: Names of knobs; or of each its least and greatest value as a tuple, a list of values to choose from, or None.
Control = Iterable[str] | Mapping[str, tuple[float, float] | list[float] | None]


@dataclass(frozen=True)
class Knob:
    """A control: a knob with its bounds, or with the values to choose from."""

    name: str
    unit: str
    least: float
    most: float
    is_whole: bool
    #: at the start of an episode; None if an algorithm decides, or entities differ
    initial: float | None
    choices: tuple[float, ...] | None = None


class Setup:
    """A scenario with the controls, observations and reward of an agent."""

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str],
        control: Control,
        observe: Iterable[str],
        reward: str = DEFAULT_REWARD,
        every: str | None = None,
        at: str | None = None,
    ) -> None:
        """`control`: knobs such as "edca.cw_min:*" (`lasthop list knob`), perhaps as a mapping to bounds (a tuple) or to
        values to choose from (a list); `observe`: dotted names of quantities, in which a pattern means each entity
        that matches; `reward`: an expression of quantities. An agent decides `every` "10 ms", or `at` "ack:FLOW",
        "attempt:SENDER->RECEIVER" or "txop:AP". Raises `ScenarioError`, `TypeError` and `ValueError`.
        """
        if every is not None and at is not None:
            raise ValueError("every, at: both say when the agent decides; give one of them")
        self.scenario = scenario_or_file(scenario)
        asked = control if isinstance(control, Mapping) else dict.fromkeys(_names("control", control))
        if not isinstance(reward, str):
            raise TypeError(f"reward: an expression of quantities is needed, not {given.shown(reward)}")
        self.resolved = self.scenario.resolve()
        decide = at if at is not None else "10 ms" if every is None else every
        if not isinstance(decide, str):
            raise TypeError(f"every, at: a text such as '10 ms' is needed, not {given.shown(decide)}")
        self.core = _core.Task(self.resolved, list(asked), list(_names("observe", observe)), [reward], decide)
        #: its controls, in the order of actions
        self.knobs = tuple(map(_knob, asked.items(), self.core.controls()))
        #: quantities of an observation that no node with one of its knobs could measure, each with the reason
        self.unseen: dict[str, str] = dict(self.core.unseen())
        #: names of the quantities of an observation, in order
        self.quantities = tuple(self.core.seen())
        kinds = {knob.choices is None for knob in self.knobs}
        if len(kinds) > 1:
            raise ValueError("control: bounds for some knobs and choices for others; give all of them the same")
        self.is_discrete = kinds == {False}

    def action_space(self) -> spaces.Space[Any]:
        """A `Box` in the units of the knobs, a `Discrete` for one with choices, or a `MultiDiscrete` for several."""
        if self.is_discrete:
            counts = [len(knob.choices or ()) for knob in self.knobs]
            return spaces.Discrete(counts[0]) if len(counts) == 1 else spaces.MultiDiscrete(counts)
        least = np.array([knob.least for knob in self.knobs])
        return spaces.Box(least, np.array([knob.most for knob in self.knobs]), dtype=np.float64)

    def observation_space(self) -> spaces.Space[Numbers]:
        """A `Box` from 0 to the greatest value that each quantity can have; no quantity is negative."""
        most = [np.inf if bound is None else bound for bound in self.core.bounds()]
        return cast(
            "spaces.Space[Numbers]",
            spaces.Box(0.0, np.array(most, dtype=np.float64), shape=(len(most),), dtype=np.float64),
        )

    def values(self, actions: Any, rows: int) -> Numbers:
        """The values of the knobs for `rows` actions, as an array of rows; raises `ValueError` for another shape."""
        array = np.asarray(actions, dtype=np.int64 if self.is_discrete else np.float64)
        if array.size != rows * len(self.knobs):
            raise ValueError(f"action: {rows * len(self.knobs)} numbers are needed, not {array.size}")
        array = array.reshape(rows, len(self.knobs))
        if not self.is_discrete:
            return np.ascontiguousarray(array, dtype=np.float64)
        columns = [np.asarray(knob.choices)[array[:, place]] for place, knob in enumerate(self.knobs)]
        return np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.float64)


def _names(argument: str, names: Iterable[str]) -> tuple[str, ...]:
    return given.names(argument, names, "the name of a knob" if argument == "control" else "the name of a quantity")


def _knob(asked: tuple[str, Any], row: tuple[str, str, float, float, bool, float | None]) -> Knob:
    (name, limits), (_, unit, least, most, is_whole, initial) = asked, row
    choices = None
    if isinstance(limits, tuple):
        if len(limits) != 2 or not least <= limits[0] < limits[1] <= most:
            raise ValueError(f"control: {name}: bounds from {least} to {most} {unit} are needed, not {limits}")
        least, most = map(float, limits)
    elif isinstance(limits, Sequence) and not isinstance(limits, str) and len(limits):
        choices = tuple(given.real("control", value, f"a value of {name}") for value in limits)
        wrong = [value for value in choices if not least <= value <= most or (is_whole and value % 1)]
        if wrong:
            kind = "whole numbers" if is_whole else "numbers"
            raise ValueError(f"control: {name}: {kind} from {least} to {most} {unit} are needed, not {wrong[0]}")
    elif limits is not None:
        raise TypeError(f"control: {name}: bounds (a tuple) or values (a list) are needed, not {given.shown(limits)}")
    return Knob(name, unit, least, most, is_whole, initial, choices)
