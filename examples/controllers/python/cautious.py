"""One mode up after some good attempts in a row, one down after a few bad ones.

rate_control = { kind = "python", file = "cautious.py", class = "Cautious", patience = 6, tolerance = 3 }
"""

import lasthop


class Cautious(lasthop.RateControl):
    """`patience` good attempts make a step up, `tolerance` bad ones a step down."""

    def __init__(self, peer, patience=6, tolerance=3):
        if min(patience, tolerance) < 1:
            raise ValueError("patience and tolerance are at least 1")
        self.patience, self.tolerance = patience, tolerance
        self.fastest = len(peer.rates_bps) - 1
        self.mode = self.good = self.bad = 0

    def rates_for(self, frame):
        return self.mode

    def on_tx_status(self, status):
        self.good, self.bad = (self.good + 1, 0) if status.is_good else (0, self.bad + 1)
        if self.good == self.patience:
            self.turn_to(min(self.mode + 1, self.fastest))
        elif self.bad == self.tolerance:
            self.turn_to(max(self.mode - 1, 0))

    def turn_to(self, mode):
        self.mode, self.good, self.bad = mode, 0, 0
