"""What a congestion control in Python extends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._core import Ack, Context, Event, Moment, Prior


class CongestionControl:
    """A controller of one connection: `congestion_control = { kind = "python", file = "mine.py", class = "Mine", alpha = 2 }`.

    One is made for each connection, with the `context` of that connection and the other keys of the table by name. The
    engine reads `window`, `ssthresh` and `pacing_rate` after each call, and sets the first two itself where it knows
    better (an ACK that was lost, a drop in the own queue).

    >>> class Halving(lasthop.CongestionControl):
    ...     def on_ack(self, ack):
    ...         if not ack.in_recovery and not ack.app_limited:
    ...             self.window += ack.avoidance_credit / self.window
    ...
    ...     def on_congestion(self, event):
    ...         self.ssthresh = self.window = max(2.0, event.window / 2)
    """

    __slots__ = ("pacing_rate", "ssthresh", "window")

    #: congestion window in segments, 1 or more
    window: float
    #: slow-start threshold in segments; infinite where there is none
    ssthresh: float
    #: payload and headers in bit/s; None: as the window allows
    pacing_rate: float | None

    #: segments leave at its rate, not in bursts
    paced = False
    #: `ack.rate` is there also with `recovery = "rfc"`
    rate_samples = False
    #: how marks are reported: "as_configured" by the key `ecn`, for "each_packet", or "counted"
    marks = "as_configured"
    #: data carries ECT(1) [RFC 9331 §4.1]
    is_scalable = False
    #: it may take less of a mark than of a loss [RFC 8511 §3]
    eases_marks = False
    #: it sets its window during recovery itself, so that proportional rate reduction stands aside
    owns_recovery = False
    #: the RTT that it works with, in whole nanoseconds, if it works with one; an attribute or a property
    rtt_ns: int | None = None

    def __new__(cls, context: Context, *_: Any, **__: Any) -> CongestionControl:
        """With the window, the threshold and no rate, whatever `__init__` does."""
        control = super().__new__(cls)
        control.window = context.initial_window
        control.ssthresh = context.initial_ssthresh
        control.pacing_rate = None
        return control

    def __init__(self, context: Context) -> None:
        """`context`: initial_window, initial_ssthresh, mss_bytes, random() and more."""

    def on_established(self, rtt_s: float | None, at: Moment) -> None:
        """The handshake is over; `rtt_s` is what it measured, if it did."""

    def on_transmit_start(self, at: Moment) -> None:
        """New data goes out while nothing is outstanding."""

    def observe(self, ack: Ack) -> None:
        """What an ACK says, before a loss or a mark that it shows is answered; with `recovery = "linux"` only."""

    def on_ack(self, ack: Ack) -> None:
        """An ACK that delivered something. `ack` is the same object each time: keep its numbers, not it."""

    def on_congestion(self, event: Event) -> None:
        """A loss or a mark, once for each recovery; half of what was in flight, unless a class says otherwise."""
        self.ssthresh = self.window = max(2.0, event.window / 2)

    def on_timeout(self, event: Event) -> None:
        """The retransmission timer expired; one segment, unless a class says otherwise. [RFC 5681 §3.1]"""
        if not event.repeated:
            self.ssthresh = max(2.0, event.window / 2)
        self.window = 1.0

    def on_recovery_exit(self, at: Moment) -> None:
        """All that was in flight at the loss is acknowledged."""

    def on_spurious(self, prior: Prior, at: Moment) -> None:
        """The last reduction was for nothing: back to what was before, unless the window is larger by now."""
        self.window = max(self.window, prior.window)
        self.ssthresh = max(self.ssthresh, prior.ssthresh)

    def on_idle(self, restart_window: float) -> None:
        """The sender was idle for longer than the RTO. [RFC 5681 §4.1]"""
        self.window = min(self.window, restart_window)
