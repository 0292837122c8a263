"""CUBIC three times: as standardised, in the whole numbers of a current Linux kernel with HyStart, and in those of Linux 2.6.

    congestion_control = { kind = "python", file = "cubic.py", class = "Cubic", beta = 0.7 }

Each gives the bytes of the built-in `cubic` of its era. [RFC 9438; Ha, Rhee, Xu 2008; docs/model/congestion-control-rules.md]
"""

import math

import lasthop


class Cubic(lasthop.CongestionControl):
    """Windows are real numbers: the built-in `era = "rfc9438"` without HyStart++."""

    eases_marks = True

    def __init__(self, context, beta=0.7, c=0.4, fast_convergence=True, reno_friendly=True):
        self.beta, self.c = beta, c
        self.fast_convergence, self.reno_friendly = fast_convergence, reno_friendly
        self.abe = context.abe
        self.w_max = 0.0  # window at the last loss
        self.cwnd_prior = 0.0  # window before the last reduction
        self.from_plateau = True  # the next epoch starts at its own plateau [RFC 9438 §4.8]
        self.start_ns = None  # of the epoch, while there is one
        self.k_s = self.origin = self.w_est = 0.0
        self.last_ack_ns = 0
        self.srtt_ns = None

    @property
    def rtt_ns(self):
        return self.srtt_ns

    def on_ack(self, ack):
        since_last = ack.now_ns - self.last_ack_ns
        self.last_ack_ns = ack.now_ns
        self.srtt_ns = ack.srtt_ns
        if ack.in_recovery:
            return
        if ack.app_limited:
            if self.start_ns is not None:
                self.start_ns += since_last  # [RFC 9438 §5.8]
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
        self.avoid_congestion(ack, acked)

    def avoid_congestion(self, ack, acked):
        if self.start_ns is None:
            self.begin_epoch(ack.now_ns)
        # alpha, and 1 from cwnd_prior on [RFC 9438 §4.3]
        alpha = 1.0 if self.w_est >= self.cwnd_prior else 3.0 * (1.0 - self.beta) / (1.0 + self.beta)
        self.w_est += alpha * acked / self.window
        t_s = (ack.now_ns - self.start_ns) / 1e9
        if self.reno_friendly and self.w_cubic(t_s) < self.w_est:
            self.window = max(self.window, self.w_est)
            return
        target = self.w_cubic(t_s + (ack.srtt_s or 0.0))
        target = min(max(target, self.window), 1.5 * self.window)
        self.window += (target - self.window) / self.window * acked

    def begin_epoch(self, now_ns):
        below = 0.0 if self.from_plateau else max(self.w_max - self.window, 0.0)
        self.start_ns = now_ns
        self.k_s = math.cbrt(below / self.c)  # [RFC 9438 §4.2 (2)]
        self.origin = self.window + below
        self.w_est = self.window

    def w_cubic(self, t_s):
        offset = t_s - self.k_s
        return self.c * offset * offset * offset + self.origin  # [RFC 9438 §4.2 (1)]

    def on_congestion(self, event):
        self.reduce(event)
        self.window = self.ssthresh
        self.from_plateau = False

    def on_timeout(self, event):
        if not event.repeated:
            self.reduce(event)
        self.start_ns = None
        self.window = 1.0
        self.from_plateau = True

    def on_idle(self, restart_window):
        super().on_idle(restart_window)
        self.start_ns = None

    def reduce(self, event):
        window = event.window
        gives_way = self.fast_convergence and window < self.w_max  # [RFC 9438 §4.7]
        self.w_max = window * (1.0 + self.beta) / 2.0 if gives_way else window
        self.cwnd_prior = window
        kept = 0.85 if self.abe and event.cause == "ecn" else self.beta  # [RFC 8511 §3]
        self.ssthresh = max(window * kept, 2.0)
        self.start_ns = None


TICK_SHIFT = 10  # the cubic function counts time in 1/1024 s
C = 410  # in 1/1024 segments/s^3
U32 = 2**32 - 1
BEFORE_FIRST_LOSS = 20  # the highest price then: 5 % per round trip
LOWEST = 2  # the lowest: half a window per round trip
QUOTES_HOLD = 32  # a price holds for this part of a second while the window stays


class LinuxCubic(lasthop.CongestionControl):
    """Windows are whole segments and time is ticks: the built-in `era = "linux"`, with classic HyStart.

    Growth has a price: so many acknowledged segments for one of window.
    """

    BETA = 717  # in 1/1024

    eases_marks = True

    def __init__(self, context, hystart=True):
        self.reno_eighths = 8 * (1024 + self.BETA) // 3 // (1024 - self.BETA)
        self.hystart = Hystart() if hystart else None
        self.abe = context.abe
        self.tick_ns = context.tick_ns
        self.hz = min(max(1_000_000_000 // self.tick_ns, 1), 1_000_000)
        self.price_holds = self.hz // QUOTES_HOLD  # ticks
        self.slow_start_per_ack = context.slow_start_growth == "per_ack"
        self.avoidance_per_ack = context.avoidance_growth == "per_ack"
        self.count = 0
        self.window = int(context.initial_window)
        self.in_recovery = False
        self.last_sent = 0
        self.forget(0, 0)

    def forget(self, now_ns, snd_nxt):
        """What a timeout wipes out."""
        self.last_max = 0
        self.start = None  # of the stage, in clock ticks
        self.k = self.origin = 0
        self.reno_window = self.reno_credit = 0
        self.price, self.price_window, self.price_at = 0, -1, -1
        self.delay_min = None  # in µs
        if self.hystart:
            self.hystart.found = False
            self.hystart.begin_round(now_ns, snd_nxt)

    @property
    def rtt_ns(self):
        return None if self.delay_min is None else 1000 * self.delay_min

    def on_established(self, rtt_s, at):
        self.forget(at.now_ns, at.snd_nxt)
        self.last_sent = at.now_ns // self.tick_ns

    def on_transmit_start(self, at):
        """Time without data in flight does not count. [RFC 9438 §5.8]"""
        now = at.now_ns // self.tick_ns
        if self.start is not None:
            self.start = min(self.start + now - self.last_sent, now)

    def observe(self, ack):
        self.last_sent = now = ack.now_ns // self.tick_ns
        # Samples do not count for a second after a stage begins.
        if self.start is not None and now - self.start < self.hz:
            return
        rtt_ns = ack.rtt_ns
        if rtt_ns is None:
            return
        rtt = rtt_ns // 1000 or 1
        if self.delay_min is None or rtt < self.delay_min:
            self.delay_min = rtt
        if self.hystart and not self.hystart.found:
            window = ack.window if self.in_recovery and ack.window > 0 else self.window
            if window < self.ssthresh and self.hystart.is_over(window, ack, rtt, self.delay_min):
                self.ssthresh = window

    def on_ack(self, ack):
        if not ack.observed:
            self.observe(ack)
        if ack.ends_timeout:
            self.in_recovery = False
        acked = ack.acked_segments
        if not acked or ack.in_recovery or ack.app_limited:
            return
        window = int(self.window)
        if window < self.ssthresh:
            counted = 1 if self.slow_start_per_ack else acked
            grown = min(window + counted, self.ssthresh)
            acked = counted - (grown - window)
            self.window = window = grown
        elif self.avoidance_per_ack:
            acked = 1
        if not acked:
            return
        now = self.last_sent
        # The latest price holds for a while: most ACKs take this way.
        if self.price_window == window and now - self.price_at <= self.price_holds:
            if self.start is not None:
                self.reno_credit += acked
            price = self.price
        else:
            price = self.priced(window, acked, now)
        # Credit earned under a higher price buys one segment at most.
        due, credit = (1, 0) if self.count >= price else (0, self.count)
        credit += acked
        if credit < price and not due:
            self.count = credit
        else:
            bought, self.count = divmod(credit, price)
            self.window = window + due + bought

    def priced(self, window, acked, now):
        """Segments acknowledged that buy one now."""
        if self.start is not None:
            self.reno_credit += acked
        same_tick = self.price_at == now and self.start is not None
        if self.start is None:
            self.begin_stage(window, acked, now)
        if not same_tick:
            self.price, self.price_window, self.price_at = self.curve_price(window, now), window, now
        # What Reno with the same decrease would have. [RFC 9438 §4.3]
        per_segment = max(window * self.reno_eighths >> 3, 1)
        due = max(self.reno_credit - 1, 0) // per_segment
        self.reno_credit -= due * per_segment
        self.reno_window += due
        if self.reno_window > window:
            self.price = min(self.price, window // (self.reno_window - window))
        self.price = max(self.price, LOWEST)
        return self.price

    def begin_stage(self, window, acked, now):
        self.start = now
        below = max(self.last_max - window, 0)
        self.k = cube_root((1 << 4 * TICK_SHIFT) // C * below)
        self.origin = max(self.last_max, window)
        self.reno_window, self.reno_credit = window, acked

    def curve_price(self, window, now):
        """So as to be at W(t + least RTT) one round trip from now."""
        ahead = -(-(self.delay_min or 0) * 1000 // self.tick_ns)
        t = (now - self.start + ahead << TICK_SHIFT) // self.hz
        distance = min(C * abs(t - self.k) ** 3 >> 4 * TICK_SHIFT, U32)
        target = max(self.origin - distance, 0) if t < self.k else self.origin + distance
        price = window // (target - window) if target > window else 100 * window
        return min(price, BEFORE_FIRST_LOSS) if self.last_max == 0 else price

    def on_congestion(self, event):
        self.reduce(event)
        self.window = self.ssthresh
        self.in_recovery = True

    def on_timeout(self, event):
        if not event.repeated:
            self.reduce(event)
        self.window = 1
        self.count = 0
        self.in_recovery = False
        self.forget(event.now_ns, event.snd_nxt)

    def reduce(self, event):
        lost_at = int(event.window)
        self.start = None
        self.last_max = lost_at * (1024 + self.BETA) // 2048 if lost_at < self.last_max else lost_at
        kept = lost_at * 17 // 20 if self.abe and event.cause == "ecn" else lost_at * self.BETA // 1024
        self.ssthresh = max(kept, 2)
        self.count = 0

    def on_recovery_exit(self, at):
        if self.ssthresh < math.inf:
            self.window = self.ssthresh
        self.in_recovery = False

    def on_spurious(self, prior, at):
        super().on_spurious(prior, at)
        self.in_recovery = False

    def on_idle(self, restart_window):
        self.window = min(self.window, int(restart_window))


class OlderLinuxCubic(LinuxCubic):
    """Linux 2.6.16 to 2.6.22, which counts ACKs: `era = "linux-2.6"`.

    Above the origin it grows at most 16 segments per 100 ms, and one ACK per segment counts as 31/16.
    """

    BETA = 819
    ACKS_BEFORE_FIRST_LOSS = 50
    MAX_INCREMENT = 16  # segments per 100 ms

    is_open = True  # neither in recovery nor after a timeout

    def __init__(self, context):
        super().__init__(context, hystart=False)

    def forget(self, now_ns, snd_nxt):
        super().forget(now_ns, snd_nxt)
        self.lost_before = False
        self.more_per_ack = 0  # in 1/16 segment, above 2

    @property
    def rtt_ns(self):
        """`delay_min` is in eighths of a tick here."""
        return None if self.delay_min is None else self.delay_min * self.tick_ns // 1000 // 8 * 1000

    def on_transmit_start(self, at):
        """Time without data in flight counts."""

    def observe(self, ack):
        if self.is_open and ack.acked_segments:
            self.more_per_ack += ack.acked_segments - (self.sixteenths_per_ack() >> 4)

    def sixteenths_per_ack(self):
        return 32 + self.more_per_ack

    def on_ack(self, ack):
        if not ack.observed:
            self.observe(ack)
        if ack.ends_timeout:
            self.in_recovery, self.is_open = False, True
        acked = ack.acked_segments
        if not acked or ack.in_recovery or ack.app_limited:
            return
        now = ack.now_ns // self.tick_ns
        self.measure_delay(ack, now)
        window = int(self.window)
        if window <= self.ssthresh:
            self.buy(window, 1 if self.slow_start_per_ack else acked)
            return
        if self.start is not None:
            self.reno_credit += 1
        if self.count >= self.priced(window, 1, now):
            self.window, self.count = window + 1, 0
        else:
            self.count += 1

    def buy(self, window, acked):
        """Each segment earns as much credit as the window is large, and each segment of growth costs as much."""
        credit = self.count + acked * window
        while credit >= window:
            credit -= window
            window += 1
        self.window, self.count = window, credit

    def measure_delay(self, ack, now):
        """The time since a segment was sent, by its timestamp."""
        if ack.rtt_ns is None or (self.start is not None and now - self.start < self.hz):
            return
        sent = max(ack.now_ns - ack.rtt_ns, 0) // self.tick_ns
        if sent:
            delay = max(now - sent << 3, 1)
            self.delay_min = delay if self.delay_min is None else min(self.delay_min, delay)

    def priced(self, window, acked, now):
        """ACKs that buy a segment now."""
        if self.price_window == window and now - self.price_at <= self.price_holds:
            return self.price
        if self.start is None:
            self.begin_stage(window, acked, now)
        price = self.curve_price(window, now) if self.lost_before else self.ACKS_BEFORE_FIRST_LOSS
        per_segment = max(window * self.reno_eighths >> 3, 1)
        due = max(self.reno_credit - 1, 0) // per_segment
        self.reno_credit -= due * per_segment
        self.reno_window += due
        if self.reno_window > window:
            price = min(price, window // (self.reno_window - window))
        self.price = max((price << 4) // max(self.sixteenths_per_ack(), 1), 1)
        self.price_window, self.price_at = window, now
        return self.price

    def curve_price(self, window, now):
        delay = self.delay_min or 0
        t = (now + delay // 8 - self.start << TICK_SHIFT) // self.hz
        distance = min(C * abs(t - self.k) ** 3 >> 4 * TICK_SHIFT, U32)
        target = max(self.origin - distance, 0) if t < self.k else self.origin + distance
        price = window // (target - window) if target > window else 100 * window
        if t < self.k or not delay:
            return price
        return max(price, 8 * window * self.hz // (10 * self.MAX_INCREMENT * delay))

    def reduce(self, event):
        super().reduce(event)
        self.lost_before = True
        self.is_open = False

    def on_timeout(self, event):
        super().on_timeout(event)
        self.is_open = False

    def on_recovery_exit(self, at):
        super().on_recovery_exit(at)
        self.is_open = True

    def on_spurious(self, prior, at):
        super().on_spurious(prior, at)
        self.is_open = True


def cube_root(a):
    """The largest whole number whose cube is not above `a`."""
    root = round(a ** (1 / 3))
    while root**3 > a:
        root -= 1
    while (root + 1) ** 3 <= a:
        root += 1
    return root


class Hystart:
    """The two signs of a queue in slow start. [Ha, Rhee 2011]"""

    LOW_WINDOW = 16  # it watches from this window on
    TRAIN_GAP_US = 2000  # ACKs so close together are of one train
    SAMPLES = 8  # of a round trip before its least counts

    found = False

    def begin_round(self, now_ns, end):
        self.round_end = end
        self.train_start = self.train_end = now_ns // 1000
        self.least = None
        self.samples = 0

    def is_over(self, window, ack, rtt, delay_min):
        if ack.snd_una > self.round_end:
            self.begin_round(ack.now_ns, ack.snd_nxt)
        if window < self.LOW_WINDOW:
            return False
        self.found = self.train_is_long(ack, delay_min)
        enough = self.samples == self.SAMPLES
        self.least = rtt if self.least is None else min(self.least, rtt)
        self.samples = min(self.samples + 1, self.SAMPLES)
        if enough and self.least > delay_min + min(max(delay_min // 8, 4000), 16_000):
            self.found = True
        return self.found

    def train_is_long(self, ack, delay_min):
        now = ack.now_ns // 1000
        if now - self.train_end > self.TRAIN_GAP_US:
            return False
        self.train_end = now
        # Large sends hold their last segments back, and so the ACKs; pacing may do so for half a round trip.
        held = min(4 * 65_536 * 1_000_000 // ack.send_rate, 1000) if ack.send_rate else 0
        span = delay_min + held
        return now - self.train_start > (span if ack.is_paced else span // 2)
