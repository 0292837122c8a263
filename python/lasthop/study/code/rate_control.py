"""The base class of rate controls in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..._core import Frame, Peer, Status


class RateControl:
    """The rates to one peer: `rate_control = { kind = "python", file = "mine.py", class = "Mine" }`.

    Modes are numbered from 0, the peer's slowest; `peer.rates_bps` has their PHY rates. The base class always uses the
    slowest.
    """

    def __init__(self, peer: Peer) -> None:
        """Starts a link; `peer` has rates_bps, received_dbm and random()."""

    def rates_for(self, frame: Frame) -> int | list[tuple[int, int]]:
        """Returns the mode of the next attempt, or up to four pairs of a mode and its number of attempts."""
        return 0

    def on_tx_status(self, status: Status) -> None:
        """Called with the outcome of each attempt that expected an acknowledgement."""
