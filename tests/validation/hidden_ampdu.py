"""Event-by-event Monte-Carlo of two hidden 802.11n stations that send A-MPDUs to one AP.

A and B both have an endless queue of uplink data for the AP and never hear each other;
both hear the AP. No RTS, no capture, no noise, no propagation delay. Times are integer us.
Written from the rules alone, without reading the simulator that it judges.

  python3 tests/validation/hidden_ampdu.py --seeds 5 --seconds 100
"""

import argparse
import heapq
import itertools
import math
import random
import statistics
from multiprocessing import Pool

SIFS, SLOT, AIFS, CW_MIN, CW_MAX = 16, 9, 16 + 3 * 9, 15, 1023
BLOCK_ACK = BAR = 32  # durations of the control frames
TIMEOUT = SIFS + SLOT + 20  # from the end of a PPDU without an answer
HT_PREAMBLE, BIT_RATE, SYMBOL = 36, 65, 4
SUBFRAME_BITS = 1544 * 8
MAX_MPDUS, WINDOW = 28, 64
ATTEMPTS, BAR_ATTEMPTS, QSRC_LIMIT = 7, 7, 7  # of an MPDU; of a BlockAckReq where it is limited
PAYLOAD_BITS = 1472 * 8  # of UDP in an MPDU of 1538 octets

# When a BlockAckReq becomes due (after each A-MPDU without a BlockAck; after an MPDU was given up;
# never), and its limit of attempts.
VARIANTS = {
    "1": ("loss", None),
    "2": ("loss", BAR_ATTEMPTS),
    "3": ("giveup", None),
    "4": ("giveup", BAR_ATTEMPTS),
    "5": (None, None),
}
# What besides a success puts CW to CWmin: QSRC at its limit; any data MPDU given up; the same or a
# BlockAckReq given up; nothing.
RESETS = {"q": "QSRC", "m": "MPDU", "b": "MPDU/BAR", "n": "never"}
RESULT, END, START, ANSWER = range(4)  # order of events at one instant


def ppdu_time(n):
    """Duration of an A-MPDU of n MPDUs (28: 5360 us)."""
    return HT_PREAMBLE + SYMBOL * math.ceil((n * SUBFRAME_BITS + 22) / (BIT_RATE * SYMBOL))


def survivors(n, start, hits):
    """Indices of those of n MPDUs of a PPDU begun at start that no interval of hits touches."""
    if not hits:
        return range(n)
    if any(s < start + HT_PREAMBLE for s, _ in hits):
        return []
    good = []
    for i in range(n):
        begin = start + HT_PREAMBLE + (16 + i * SUBFRAME_BITS) / BIT_RATE
        if not any(s < begin + SUBFRAME_BITS / BIT_RATE and e > begin for s, e in hits):
            good.append(i)
    return good


class Station:
    def __init__(self, rng):
        self.rng, self.cw, self.qsrc = rng, CW_MIN, 0
        self.pending, self.next_sn = [], 0  # [(sequence number, failed attempts)] to retransmit
        self.bar_due, self.bar_tries = False, 0
        self.sending, self.start, self.end = None, 0, 0  # frame on the air or not yet answered
        self.slots, self.idle_from, self.token = 0, 0, 0

    def compose(self):
        """The next frame: a BlockAckReq (None) if one is due, else a list of MPDUs."""
        if self.bar_due:
            return None
        mpdus = list(self.pending)
        first = mpdus[0][0] if mpdus else self.next_sn
        while len(mpdus) < MAX_MPDUS and self.next_sn < first + WINDOW:
            mpdus.append((self.next_sn, 0))
            self.next_sn += 1
        return mpdus


class Cell:
    def __init__(self, variant, reset, seed, aifs_after_timeout=True):
        self.bar_when, self.bar_limit = VARIANTS[variant]
        self.reset = RESETS[reset]
        self.wait = TIMEOUT if aifs_after_timeout else TIMEOUT - AIFS
        rng = random.Random(f"{variant}{reset}{seed}")
        self.stations, self.events = [Station(rng), Station(rng)], []
        self.locked, self.hits = None, []  # whose PPDU the AP follows; intervals that disturb it
        self.ap_busy_until, self.received = 0, [set(), set()]
        self.decoded = []  # (time, station, new MPDUs) of each answered A-MPDU
        self.given_up = self.bars = self.ampdus = 0

    def push(self, time, kind, who, extra=None):
        heapq.heappush(self.events, (time, kind, who, extra))

    def contend(self, who, idle_from):
        """(Re)start the countdown of the slots that are left, from an AIFS after idle_from."""
        st = self.stations[who]
        st.token += 1
        st.idle_from = idle_from
        self.push(idle_from + AIFS + st.slots * SLOT, START, who, st.token)

    def new_backoff(self, who, idle_from):
        st = self.stations[who]
        st.sending = None
        st.slots = st.rng.randint(0, st.cw)
        self.contend(who, max(idle_from, self.ap_busy_until))

    def freeze(self, who, now):
        """The AP begins to send: a counting station stops and goes on after it."""
        st = self.stations[who]
        if st.sending is None:
            st.slots -= max(0, (now - st.idle_from - AIFS) // SLOT)
            self.contend(who, self.ap_busy_until)

    def on_start(self, who, now):
        st, other = self.stations[who], self.stations[1 - who]
        frame = st.compose()
        st.sending = (frame,)  # a tuple, so that a BlockAckReq is not None
        st.start, st.end = now, now + (BAR if frame is None else ppdu_time(len(frame)))
        self.bars, self.ampdus = self.bars + (frame is None), self.ampdus + (frame is not None)
        if self.locked is not None:
            self.hits.append((now, st.end))
        elif other.end <= now and self.ap_busy_until <= now:
            self.locked, self.hits = who, []
        self.push(st.end, END, who)

    def on_end(self, who, now):
        st = self.stations[who]
        (frame,) = st.sending
        answered, good = False, []
        if self.locked == who:
            self.locked = None
            if frame is None:
                answered = not self.hits
            else:
                good = survivors(len(frame), st.start, self.hits)
                answered = bool(good)
        if not answered:
            return self.push(now + TIMEOUT, RESULT, who, None)
        if frame is not None:
            fresh = {frame[i][0] for i in good} - self.received[who]
            self.received[who] |= fresh
            self.decoded.append((now, who, len(fresh)))
        self.push(now + SIFS, ANSWER, who)
        self.push(now + SIFS + BLOCK_ACK, RESULT, who, frozenset(good))

    def on_answer(self, now):
        self.ap_busy_until = now + BLOCK_ACK
        if self.locked is not None:  # begun within the SIFS: the AP's own frame destroys it
            self.hits.append((self.stations[self.locked].start, self.ap_busy_until))
        for who in (0, 1):
            self.freeze(who, now)

    def on_result(self, who, now, good):
        """good: indices of the MPDUs acknowledged, or None where no BlockAck came."""
        st = self.stations[who]
        (frame,) = st.sending
        gave_up = bar_gave_up = False
        if frame is None:
            st.bar_tries += 1
            bar_gave_up = good is None and st.bar_tries == self.bar_limit
            st.bar_due = good is None and not bar_gave_up
        else:
            lost = [m for i, m in enumerate(frame) if good is None or i not in good]
            st.pending = [(sn, tries + 1) for sn, tries in lost if tries + 1 < ATTEMPTS]
            gave_up = len(st.pending) < len(lost)
            self.given_up += len(lost) - len(st.pending)
            if (self.bar_when == "loss" and good is None) or (self.bar_when == "giveup" and gave_up):
                st.bar_due, st.bar_tries = True, 0
        if good is not None:
            st.cw, st.qsrc = CW_MIN, 0
        else:
            st.cw = min(2 * st.cw + 1, CW_MAX)
            st.qsrc += 1
            if self.reset == "QSRC" and st.qsrc == QSRC_LIMIT:
                st.cw, st.qsrc = CW_MIN, 0
            if (self.reset.startswith("MPDU") and gave_up) or (self.reset == "MPDU/BAR" and bar_gave_up):
                st.cw = CW_MIN
        self.new_backoff(who, now if good is not None else now - TIMEOUT + self.wait)

    def run(self, seconds):
        for who in (0, 1):
            self.new_backoff(who, 0)
        while self.events[0][0] < seconds * 1_000_000:
            now, kind, who, extra = heapq.heappop(self.events)
            if kind == START and extra == self.stations[who].token:
                self.on_start(who, now)
            elif kind == END:
                self.on_end(who, now)
            elif kind == ANSWER:
                self.on_answer(now)
            elif kind == RESULT:
                self.on_result(who, now, extra)
        return self.report(seconds)

    def report(self, seconds):
        windows = [[0, 0] for _ in range(seconds)]
        tenths = [[0, 0] for _ in range(seconds * 10)]
        for t, who, n in self.decoded:
            windows[t // 1_000_000][who] += n
            tenths[t // 100_000][who] += n
        shares = [min(w) / sum(w) for w in windows if sum(w)] or [float("nan")]
        total = [sum(w[k] for w in windows) for k in (0, 1)]
        lead = [0 if w[0] > w[1] else 1 for w in tenths if w[0] != w[1]]
        holders = [who for _, who, _ in self.decoded]

        def changes(seq):
            return sum(a != b for a, b in itertools.pairwise(seq)) / seconds

        return (
            sum(total) * PAYLOAD_BITS / seconds / 1e6,
            statistics.mean(shares),
            min(total) / max(1, sum(total)),
            changes(holders),
            changes(lead),
            self.given_up / seconds,
            self.ampdus / seconds,
            self.bars / seconds,
        )


def job(args):
    variant, reset, seed, seconds, aifs = args
    return variant + reset, Cell(variant, reset, seed, aifs).run(seconds)


def interval(values):
    """Mean and half of the 95 % interval (Student) over the seeds."""
    t95 = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 8: 2.365, 10: 2.262}
    n = len(values)
    half = t95.get(n, 2.5) * statistics.stdev(values) / math.sqrt(n) if n > 1 else float("nan")
    return statistics.mean(values), half


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rows", default="1q 1m 2q 2m 3q 3m 4q 4m 5q 5m")
    p.add_argument("--seeds", type=int, default=5)
    p.add_argument("--seconds", type=int, default=100)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--no-aifs-after-timeout", action="store_true", help="AIFS runs from the end of the PPDU")
    a = p.parse_args()
    tasks = [
        (r[0], r[1], s, a.seconds, not a.no_aifs_after_timeout) for r in a.rows.split() for s in range(1, a.seeds + 1)
    ]
    results = {}
    print(
        "| row | BlockAckReq, attempts | CW reset by | Mbit/s | 95 % | weaker, 1 s | weaker, whole run "
        "| changes/s, BA to BA | changes/s, 100 ms | given up/s | A-MPDUs/s | requests/s |"
    )
    print("|" + "---|" * 12, flush=True)
    with Pool(a.jobs) as pool:
        for row, res in pool.imap(job, tasks):
            runs = results.setdefault(row, [])
            runs.append(res)
            if len(runs) == a.seeds:
                when, limit = VARIANTS[row[0]]
                g, half = interval([r[0] for r in runs])
                m = [statistics.mean(column) for column in zip(*runs, strict=True)][1:]
                print(
                    f"| {row} | {when or 'none'}, {(limit or 'no limit') if when else '-'} | {RESETS[row[1]]} "
                    f"| {g:.2f} | {g - half:.2f} to {g + half:.2f} | {m[0]:.3f} | {m[1]:.3f} | {m[2]:.2f} "
                    f"| {m[3]:.2f} | {m[4]:.1f} | {m[5]:.0f} | {m[6]:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
