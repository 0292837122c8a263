"""The base class of congestion controls in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from ..._core import Ack, Context, Event, Moment, Prior


class CongestionControl:
    """A controller of one connection: `congestion_control = { kind = "python", file = "mine.py", class = "Mine", alpha = 2 }`.

    Each connection gets its own object, made with the `context` of the connection and the other keys of the table as
    keyword arguments. The engine reads `window`, `ssthresh` and `pacing_rate` after each call. It sets the first two itself
    after a lost ACK (`ack_loss`) and a drop in the host's own queue (`local_drop`).

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
    #: slow-start threshold in segments; infinite before the first loss
    ssthresh: float
    #: pacing rate of payload and headers in bit/s; None: as the window allows
    pacing_rate: float | None

    #: whether segments are paced at `pacing_rate` instead of leaving in bursts
    paced = False
    #: whether it needs `ack.rate` with `recovery = "rfc"` as well
    rate_samples = False
    #: how the receiver reports marks: "as_configured" (by the key `ecn`), for "each_packet", or "counted"
    marks = "as_configured"
    #: whether data carries ECT(1) [RFC 9331 §4.1]
    is_scalable = False
    #: whether it may reduce the window less on a mark than on a loss [RFC 8511 §3]
    eases_marks = False
    #: whether it sets the window during recovery itself, in place of proportional rate reduction
    owns_recovery = False
    #: the RTT that it uses, in whole nanoseconds, or None; an attribute or a property
    rtt_ns: int | None = None

    def __new__(cls, context: Context, *_: Any, **__: Any) -> Self:
        """Sets the initial window and threshold and no pacing rate, before `__init__`."""
        control = super().__new__(cls)
        control.window = context.initial_window
        control.ssthresh = context.initial_ssthresh
        control.pacing_rate = None
        return control

    def __init__(self, context: Context) -> None:
        """Starts a connection; `context` has initial_window, initial_ssthresh, mss_bytes, random() and more."""

    def on_established(self, rtt_s: float | None, at: Moment) -> None:
        """Called after the handshake; `rtt_s` is its measured RTT, or None."""

    def on_transmit_start(self, at: Moment) -> None:
        """Called when new data is sent and no other data is outstanding."""

    def observe(self, ack: Ack) -> None:
        """Called for each ACK before the reaction to a loss or mark that it shows; only with `recovery = "linux"`."""

    def on_ack(self, ack: Ack) -> None:
        """Called for each ACK that delivers data. `ack` is reused for every call: keep its numbers, not the object."""

    def on_congestion(self, event: Event) -> None:
        """Called for a loss or a mark, once per recovery. The base class halves `event.window`."""
        self.ssthresh = self.window = max(2.0, event.window / 2)

    def on_timeout(self, event: Event) -> None:
        """Called when the retransmission timer expires. The base class sets the window to one segment. [RFC 5681 §3.1]"""
        if not event.repeated:
            self.ssthresh = max(2.0, event.window / 2)
        self.window = 1.0

    def on_recovery_exit(self, at: Moment) -> None:
        """Called when all data that was in flight at the loss is acknowledged."""

    def on_spurious(self, prior: Prior, at: Moment) -> None:
        """Called when the last reduction was spurious. The base class restores the earlier window, unless the window is
        larger by now.
        """
        self.window = max(self.window, prior.window)
        self.ssthresh = max(self.ssthresh, prior.ssthresh)

    def on_idle(self, restart_window: float) -> None:
        """Called when the sender was idle for longer than the RTO. [RFC 5681 §4.1]"""
        self.window = min(self.window, restart_window)
