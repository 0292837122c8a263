"""The base class of policies in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from ..._core import AgentContext, Observation


class Policy:
    """The policy of an agent: `policy = { kind = "python", file = "mine.py", class = "Mine" }` in `[[agent]]`.

    One object decides for a run, from the end of the warm-up on.

    >>> class Halving(lasthop.Policy):
    ...     def act(self, observation):
    ...         idle = self.value(observation, "medium.idle_fraction")
    ...         return 127 if idle < 0.2 else 63
    """

    _places: dict[str, int]

    def __new__(cls, context: AgentContext, *_: Any, **__: Any) -> Self:
        """Keeps the order of the quantities, whether or not a subclass calls `__init__` of this class."""
        policy = super().__new__(cls)
        policy._places = {name: place for place, name in enumerate(context.quantities)}
        return policy

    def __init__(self, context: AgentContext) -> None:
        """Starts a run. `context` has `quantities` (names of its quantities, in order), `controls` (of each knob its name, and its
        smallest and greatest value in the knob's unit) and `seed`.
        """

    def value(self, observation: Observation, quantity: str) -> float:
        """The value of a quantity by its dotted name, such as "medium.idle_fraction", in its unit.

        Raises `KeyError` with the names that there are if the agent does not observe it.
        """
        place = self._places.get(quantity)
        if place is None:
            raise KeyError(f"{quantity} is not observed; there are: {', '.join(self._places)}")
        return observation.values[place]

    def act(self, observation: Observation) -> Sequence[float] | float | None:
        """Returns the value of each control in the unit of its knob, one value for all, or None to turn none.

        The nearest allowed value counts, and a control whose value is NaN stays. `observation` has `values` (the quantities
        since the last decision, in their units; one without a value keeps its last one, and is 0 before the first), `absent`
        (whether each has had no value) and `now_s`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no act")
