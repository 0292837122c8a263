"""NewReno three times: as standardised, as a current Linux kernel counts, and as Linux 2.6 did.

    congestion_control = { kind = "python", file = "newreno.py", class = "NewReno", beta = 0.7 }

Each gives the bytes of the built-in `newreno` of its era. [RFC 5681, RFC 6582; docs/model/congestion-control-rules.md]
"""

import math

import lasthop


class NewReno(lasthop.CongestionControl):
    """A window is a real number: the built-in `era = "rfc5681"`."""

    eases_marks = True

    def __init__(self, context, increase=1.0, beta=0.5):
        self.increase = increase
        self.beta = beta
        self.abe = context.abe
        self.counts_acks = context.avoidance_growth == "per_ack"
        self.credit = 0.0  # segments acknowledged towards the next increase, where bytes are counted

    def on_ack(self, ack):
        if ack.in_recovery or ack.app_limited:
            return
        acked = ack.avoidance_credit
        if self.window < self.ssthresh:
            credit = ack.slow_start_credit
            used = min(credit, self.ssthresh - self.window)
            self.window += used
            left = 1.0 - used / credit if credit > 0.0 else 0.0
            if left == 0.0:
                return
            acked *= left
        if self.counts_acks:
            self.window += self.increase * acked / self.window
            return
        self.credit += acked
        if self.credit >= self.window:
            self.credit -= self.window
            self.window += self.increase

    def on_congestion(self, event):
        self.ssthresh = self.window = self.reduced(event)
        self.credit = 0.0

    def on_timeout(self, event):
        if not event.repeated:
            self.ssthresh = self.reduced(event)
        self.window = 1.0
        self.credit = 0.0

    def reduced(self, event):
        kept = 0.8 if self.abe and event.cause == "ecn" else self.beta  # [RFC 8511 §3]
        return max(event.window * kept, 2.0)


class LinuxNewReno(lasthop.CongestionControl):
    """Windows are whole segments, and a count of acknowledged segments buys the next: `era = "linux"`."""

    eases_marks = True

    def __init__(self, context):
        self.abe = context.abe
        self.slow_start_per_ack = context.slow_start_growth == "per_ack"
        self.avoidance_per_ack = context.avoidance_growth == "per_ack"
        self.count = 0  # acknowledged segments that wait to become a segment of window
        self.window = int(context.initial_window)

    def on_ack(self, ack):
        acked = ack.acked_segments
        if acked and not ack.in_recovery and not ack.app_limited:
            self.grow(acked)

    def grow(self, acked):
        window = int(self.window)
        if window < self.ssthresh:
            counted = 1 if self.slow_start_per_ack else acked
            grown = min(window + counted, self.ssthresh)
            left = counted - (grown - window)
            window = grown
        else:
            left = 1 if self.avoidance_per_ack else acked
        if left:
            # Credit earned under a larger window buys one segment at most.
            due, credit = (1, 0) if self.count >= window else (0, self.count)
            bought, self.count = divmod(credit + left, window)
            window += due + bought
        self.window = window

    def on_congestion(self, event):
        self.window = self.reduce(event)

    def on_timeout(self, event):
        if not event.repeated:
            self.reduce(event)
        self.window = 1
        self.count = 0

    def reduce(self, event):
        lost_at = int(event.window)
        kept = lost_at * 4 // 5 if self.abe and event.cause == "ecn" else lost_at // 2
        self.ssthresh = max(kept, 2)
        self.count = 0
        return self.ssthresh

    def on_recovery_exit(self, at):
        if self.ssthresh < math.inf:
            self.window = self.ssthresh

    def on_idle(self, restart_window):
        self.window = min(self.window, int(restart_window))


class OlderLinuxNewReno(LinuxNewReno):
    """Linux 2.6.16 to 2.6.22, which counts ACKs: `era = "linux-2.6"`."""

    def __init__(self, context):
        super().__init__(context)
        self.uncounted = 0  # segments acknowledged that byte counting has not used [RFC 3465]

    def observe(self, ack):
        self.uncounted += ack.acked_segments

    def on_ack(self, ack):
        if not ack.observed:
            self.observe(ack)
        super().on_ack(ack)

    def grow(self, acked):
        window = int(self.window)
        if window <= self.ssthresh:
            self.uncounted = 0
            # Each segment earns as much credit as the window is large, and each segment of growth costs as much.
            credit = self.count + (1 if self.slow_start_per_ack else acked) * window
            twice = 2 * window - 1
            bought = (math.isqrt(twice * twice + 8 * credit) - twice) // 2
            self.count = credit - bought * window - bought * (bought - 1) // 2
            self.window = window + bought
        elif self.avoidance_per_ack:
            if self.count >= window:
                self.window, self.count = window + 1, 0
            else:
                self.count += 1
        elif self.uncounted >= window:
            self.uncounted -= window
            self.window = window + 1

    def reduce(self, event):
        self.uncounted = 0
        return super().reduce(event)
