//! COBALT, the law of CAKE: CoDel for flows that answer to signals, and BLUE for those that do not.
//!
//! Source: [Høiland-Jørgensen 2018], CoDel as in [RFC 8289], BLUE as in [Feng 2002]. Its CoDel differs from the RFC's in how it
//! forgets: the count of signals falls by one each time a signal would have been due while the queue was below the
//! target, so that it knows how often to signal when the queue returns. BLUE drops packets with a probability that an
//! overflow raises by 1/256 and an empty queue lowers by 1/4096, each at most once in the target time. As in Linux 6.1, whose
//! drops show it, a queue that has never been signalled is signalled at its second packet above the target, without the
//! interval. Left out: the table of square roots by which Linux divides.
//!
//! ```text
//!                   above the target: signals interval/sqrt(count) apart, each adds one
//!        count = 0 ────────────────────────────────────────────────────────────────────► count = n
//!                  ◄────────────────────────────────────────────────────────────────────
//!                   below the target: one less after each interval/sqrt(count)
//! ```

use lasthop_engine::Stream;
use lasthop_units::{Duration, Time};

use super::Verdict;
use super::codel::control_law;

/// Steps of BLUE's probability: up at an overflow, down when the queue is empty. [Feng 2002 §3]
const BLUE_UP: f64 = 1.0 / 256.0;
const BLUE_DOWN: f64 = 1.0 / 4096.0;

/// Settings of the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// sojourn time to keep
    pub target: Duration,
    /// time that a queue stands before the first signal
    pub interval: Duration,
}

/// A packet that has just been taken from the head of its queue.
#[derive(Clone, Copy, Debug)]
pub struct Departing {
    /// time that it was in the queue
    pub sojourn: Duration,
    /// time that a few packets take, which are no standing queue
    pub allowance: Duration,
    /// whether it may be marked
    pub is_capable: bool,
    /// whether its queue is empty now: such a packet is never dropped
    pub is_last: bool,
}

/// State of COBALT for one queue.
#[derive(Clone, Copy, Debug)]
pub struct Cobalt {
    /// Signals given, less those forgotten.
    count: u32,
    /// The time at which the next signal is due, or one is forgotten.
    due: Time,
    /// True while the queue is above the target.
    stands: bool,
    /// True until it has given or forgotten a signal.
    is_new: bool,
    /// BLUE's probability of a drop.
    probability: f64,
    /// The time at which it changed last.
    changed: Time,
}

impl Default for Cobalt {
    fn default() -> Self {
        Cobalt { count: 0, due: Time::ZERO, stands: false, is_new: true, probability: 0.0, changed: Time::ZERO }
    }
}

impl Cobalt {
    /// The verdict on the packet that has just left the queue. After [`Verdict::Drop`] the queue takes out the next one
    /// and calls this again, at the same `now`.
    pub fn judge(&mut self, settings: &Settings, now: Time, packet: Departing, random: &mut Stream) -> Verdict {
        let signals = self.signals(settings, now, packet);
        let by_blue = self.probability > 0.0 && random.chance(self.probability);
        let drops = by_blue || signals && !packet.is_capable;
        if self.count == 0 {
            self.due = now + settings.interval;
        } else if self.due < now && !drops {
            // Overdue signals are not made up for in a row.
            self.due = now;
        }
        match (drops && !packet.is_last, signals && packet.is_capable) {
            (true, _) => Verdict::Drop,
            (false, true) => Verdict::Mark,
            (false, false) => Verdict::Forward,
        }
    }

    /// Whether CoDel gives a signal.
    fn signals(&mut self, settings: &Settings, now: Time, packet: Departing) -> bool {
        let is_due = self.count > 0 && self.due <= now;
        let was_standing = std::mem::replace(&mut self.stands, packet.sojourn > settings.target.max(packet.allowance));
        if self.stands {
            if !was_standing {
                let waits = |interval| control_law(now, interval, self.count.max(1));
                self.due = if self.is_new { now } else { waits(settings.interval) };
            }
            self.count = self.count.max(1);
        }
        if is_due && self.stands {
            self.is_new = false;
            self.count = self.count.saturating_add(1);
            self.due = control_law(self.due, settings.interval, self.count);
            return true;
        }
        if is_due {
            self.forget_passed(settings, now);
        }
        false
    }

    /// Forgets a signal for each that has come due.
    fn forget_passed(&mut self, settings: &Settings, now: Time) {
        while self.count > 0 && self.due <= now {
            self.forget_one(settings);
        }
    }

    fn forget_one(&mut self, settings: &Settings) {
        self.is_new = false;
        self.count -= 1;
        self.due = control_law(self.due, settings.interval, self.count.max(1));
    }

    /// Called when a packet of this queue was dropped because there was no room.
    pub fn on_overflow(&mut self, settings: &Settings, now: Time) {
        if now.since(self.changed) > settings.target {
            self.probability = (self.probability + BLUE_UP).min(1.0);
            self.changed = now;
        }
        (self.stands, self.due, self.count) = (true, now, self.count.max(1));
    }

    /// Called when a packet comes to a queue that is empty: it has been below the target since it was emptied.
    pub fn on_refill(&mut self, settings: &Settings, now: Time) {
        self.forget_passed(settings, now);
        if self.probability > 0.0 {
            let steps = now.since(self.changed).as_nanos() / settings.target.as_nanos().max(1);
            self.probability = (self.probability - steps as f64 * BLUE_DOWN).max(0.0);
            self.changed = if steps > 0 { now } else { self.changed };
        }
    }

    /// Called when the queue has no packet to take out.
    pub fn on_empty(&mut self, settings: &Settings, now: Time) {
        if self.probability > 0.0 && now.since(self.changed) > settings.target {
            self.probability = (self.probability - BLUE_DOWN).max(0.0);
            self.changed = now;
        }
        self.stands = false;
        if self.count > 0 && self.due <= now {
            self.forget_one(settings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings { target: Duration::from_millis(5), interval: Duration::from_millis(100) };

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn packet(sojourn_ms: u64, is_capable: bool) -> Departing {
        let sojourn = Duration::from_millis(sojourn_ms);
        Departing { sojourn, allowance: Duration::ZERO, is_capable, is_last: false }
    }

    /// The milliseconds of `during` at which a packet with this sojourn time, one each, is not forwarded.
    fn signals(law: &mut Cobalt, during: std::ops::Range<u64>, sojourn_ms: u64) -> Vec<u64> {
        let mut random = Stream::new(1, "queue", 0);
        during
            .filter(|t| law.judge(&SETTINGS, ms(*t), packet(sojourn_ms, true), &mut random) != Verdict::Forward)
            .collect()
    }

    #[test]
    fn a_standing_queue_is_signalled_faster_and_faster() {
        // The first signal after an interval, the next ones 100/sqrt(2), 100/sqrt(3), ... ms later:
        // 100, 170.71, 228.45, 278.45, 323.17, 363.99.
        assert_eq!(signals(&mut used(), 0..400, 20), [100, 171, 229, 279, 324, 364]);
        // A queue that has never been signalled does not wait for the first one: 0, 70.71, 128.45, 178.45.
        assert_eq!(signals(&mut Cobalt::default(), 0..200, 20), [1, 71, 129, 179]);
    }

    /// A law that has given signals and forgotten them all.
    fn used() -> Cobalt {
        Cobalt { is_new: false, ..Cobalt::default() }
    }

    #[test]
    fn below_the_target_signals_are_forgotten_one_by_one() {
        let mut law = used();
        signals(&mut law, 0..400, 20);
        assert_eq!(law.count, 7);
        // The next was due at 363.99 + 100/sqrt(7) = 401.78; then one less after 100/sqrt(6) = 40.82: 442.61, 100/sqrt(5):
        // 487.33, 537.33.
        assert!(signals(&mut law, 400..500, 1).is_empty());
        assert_eq!(law.count, 4);
        // A queue that returns is signalled after 100/sqrt(4) = 50 ms, not after an interval.
        assert_eq!(signals(&mut law, 500..560, 20), [550]);
    }

    #[test]
    fn an_empty_queue_forgets_as_one_below_the_target() {
        let mut law = used();
        signals(&mut law, 0..400, 20);
        // As above: 401.78, 442.61 and 487.33 have passed at 500 ms, and the next would be 537.33.
        law.on_refill(&SETTINGS, ms(500));
        assert_eq!(law.count, 4);
        law.on_refill(&SETTINGS, ms(2_000));
        assert_eq!(law.count, 0);
    }

    #[test]
    fn a_flow_that_overflows_its_queue_is_dropped_with_a_growing_probability() {
        let mut law = Cobalt::default();
        // 128 steps of 1/256, one for each 6 ms: half of the packets are dropped whatever their sojourn time.
        (1..=128).for_each(|step| law.on_overflow(&SETTINGS, ms(6 * step)));
        assert_eq!(law.probability, 0.5);
        // Two overflows within the target count once.
        law.on_overflow(&SETTINGS, ms(6 * 128 + 5));
        assert_eq!(law.probability, 0.5);
        law.count = 0;
        let mut random = Stream::new(1, "queue", 0);
        let drops = (0..10_000)
            .filter(|_| law.judge(&SETTINGS, ms(780), packet(0, true), &mut random) == Verdict::Drop)
            .count();
        // The standard deviation is 50.
        assert!((4_800..5_200).contains(&drops), "{drops}");
        (1..=2_048).for_each(|step| law.on_empty(&SETTINGS, ms(1_000 + 6 * step)));
        assert_eq!(law.probability, 0.0);
    }

    #[test]
    fn the_last_packet_of_a_queue_is_not_dropped() {
        let mut law = used();
        signals(&mut law, 0..100, 20);
        let mut random = Stream::new(1, "queue", 0);
        let last = Departing { is_last: true, ..packet(20, false) };
        assert_eq!(law.judge(&SETTINGS, ms(100), last, &mut random), Verdict::Forward);
    }

    #[test]
    fn the_time_of_a_few_packets_is_no_standing_queue() {
        let (mut law, mut random) = (Cobalt::default(), Stream::new(1, "queue", 0));
        let of_a_slow_link = Departing { allowance: Duration::from_millis(30), ..packet(20, true) };
        assert!((0..400).all(|t| law.judge(&SETTINGS, ms(t), of_a_slow_link, &mut random) == Verdict::Forward));
    }
}
