"""The base class of error models in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..._core import ErrorModelContext, ReceivedFrame


class ErrorModel:
    """The losses by noise and interference in a run: `error_model = { kind = "python", file = "mine.py", class = "Mine" }`.

    One object judges all frames of a run. It returns probabilities and the engine draws, so a model with the
    probabilities of a built-in one gives the same run.

    >>> class Fixed(lasthop.ErrorModel):
    ...     def __init__(self, context, rate=0.1):
    ...         self.rate = rate
    ...
    ...     def success_probability(self, frame):
    ...         return 1.0 - self.rate
    """

    #: whether the probability depends on `frame.sinr`. It is then a function of the mode, `bits` and `sinr` alone, not lower
    #: with a higher SINR or fewer bits: the engine keeps results, and asks about each stretch of a frame with interference.
    #: Otherwise the model judges each frame once, and a frame below the sensitivity of its mode is lost without a call.
    needs_sinr = False

    def __init__(self, context: ErrorModelContext) -> None:
        """Starts a run; `context.random()` draws numbers that depend only on the seed."""

    def success_probability(self, frame: ReceivedFrame) -> float:
        """Returns the probability from 0 to 1 that all bits of a frame, or of a stretch of one, arrive. 0 and 1 decide.

        `frame` has `kind` ("data", "ack", "control" or "management"), `up` (to an AP), `link` (the number of the pair of
        transmitter and receiver), `now_s` (the time at which it ends, in seconds), `bits`, and `sinr`: signal over noise
        and interference within `bandwidth_hz` at one antenna, linear. Its mode has `rate_bps`, `modulation` ("dbpsk",
        "dqpsk", "cck", "bpsk", "qpsk", "qam16" to "qam1024"), `code_rate` (of the convolutional code; 1.0 for DSSS), `mcs`
        (None before 802.11n), `streams`, `antennas_per_stream` (their combination raises the SINR by this factor),
        `bandwidth_hz` and `sensitivity_dbm`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no success_probability")
