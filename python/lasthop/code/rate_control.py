"""What a rate control in Python extends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._core import Frame, Peer, Status


class RateControl:
    """The rates to one peer: `rate_control = { kind = "python", file = "mine.py", class = "Mine" }`.

    Modes are numbers from 0, the slowest that the peer has; `peer.rates_bps` has their PHY rates. As it stands it is the slowest.
    """

    def __init__(self, peer: Peer) -> None:
        """`peer`: rates_bps, received_dbm, random()."""

    def rates_for(self, frame: Frame) -> int | list[tuple[int, int]]:
        """The mode of the next attempt, or up to four pairs of a mode and how many attempts are made in it."""
        return 0

    def on_tx_status(self, status: Status) -> None:
        """What became of an attempt that asked for an acknowledgement."""
