"""The base class of policies in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..._core import AgentContext, Observation


class Policy:
    """The policy of an agent: `policy = { kind = "python", file = "mine.py", class = "Mine" }` in `[[agent]]`.

    One object decides for a run, from the end of the warm-up on.

    >>> class Halving(lasthop.Policy):
    ...     def act(self, observation):
    ...         idle = observation.values[0]
    ...         return 127 if idle < 0.2 else 63
    """

    def __init__(self, context: AgentContext) -> None:
        """Starts a run. `context` has `quantities` (names of its quantities, in order), `controls` (of each knob its name, and its
        smallest and greatest value in the knob's unit) and `seed`.
        """

    def act(self, observation: Observation) -> Sequence[float] | float | None:
        """Returns the value of each control in the unit of its knob, one value for all, or None to turn none.

        The nearest allowed value counts, and a control whose value is NaN stays. `observation` has `values` (the quantities
        since the last decision, in their units; one without a value keeps its last one, and is 0 before the first), `absent`
        (whether each has had no value) and `now_s`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no act")
