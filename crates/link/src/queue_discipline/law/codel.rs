//! CoDel, controlled delay: drops while the least sojourn time of an interval stays above a target.
//!
//! Source: RFC 8289 §5, step by step. Marks and their threshold, which the RFC leaves open, follow Linux
//! (include/net/codel_impl.h). Left out: the 16-bit square root by which Linux divides.
//!
//! ```text
//!            above the target for an interval: drop one
//!  forwarding ───────────────────────────────────────────► dropping: one more at each `drop_next`,
//!            ◄───────────────────────────────────────────           interval/sqrt(count) apart
//!            a packet below the target, or hardly any queue
//! ```

use lasthop_registry::ParamError;
use lasthop_units::{Duration, Time};

use super::Verdict;

/// Settings of the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// sojourn time to keep [RFC 8289 §4.4]
    pub target: Duration,
    /// interval in which the least sojourn time is found: the longest usual RTT [RFC 8289 §4.3]
    pub interval: Duration,
    /// a backlog of at most this many bytes is not a standing queue: one packet of the greatest size
    pub mtu: u64,
    /// whether capable packets are marked instead of dropped
    pub ecn: bool,
    /// sojourn time above which every capable packet is marked
    pub ce_threshold: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            mtu: 1500,
            ecn: true,
            ce_threshold: None,
        }
    }
}

impl Settings {
    /// Refuses settings that the law cannot work with; `path` is the place of the table.
    ///
    /// # Errors
    /// A target or an interval of no time, or a target above the interval.
    pub fn check(&self, path: &str) -> Result<(), ParamError> {
        if self.target == Duration::ZERO {
            return Err(ParamError::new(format!("{path}.target"), "must be above 0"));
        }
        if self.interval <= self.target {
            let told = format!("{} must be above the target, {}", self.interval, self.target);
            return Err(ParamError::new(format!("{path}.interval"), told));
        }
        Ok(())
    }
}

/// A packet that has just been taken from the head of its queue.
#[derive(Clone, Copy, Debug)]
pub struct Departing {
    /// time that it was in the queue
    pub sojourn: Duration,
    /// bytes left behind it in the queue
    pub left_bytes: u64,
    /// whether it may be marked
    pub is_capable: bool,
}

/// State of CoDel for one queue: the RFC's `codel_queue_t`. [RFC 8289 §5.2]
#[derive(Clone, Copy, Debug)]
pub struct Codel {
    /// `first_above_time`: the time at which the sojourn time will have been above the target for an interval, if it stays
    /// so; `NEVER` while it is not above. One packet below the target shows that there is no standing queue.
    first_above: Time,
    /// `drop_next`: the time of the next drop, while dropping; afterwards, the time at which it would have been.
    drop_next: Time,
    /// `count`: packets dropped or marked in this dropping state; greater if it continues the one before. Drops come
    /// `interval / sqrt(count)` apart, so the rate of a sender whose throughput goes with the inverse root of its loss
    /// probability falls linearly with time. [RFC 8289 §3.3]
    count: u32,
    /// `lastcount`: `count` when this dropping state began. The packets counted since then are the rate that held the queue, from which
    /// the next state starts if it comes soon.
    last_count: u32,
    /// `dropping`: true from the first drop until a packet is below the target.
    dropping: bool,
    /// True if a packet was dropped and `drop_next` moves on, should the one after it be above the target too.
    moves_on: bool,
}

impl Default for Codel {
    fn default() -> Self {
        Codel {
            first_above: Time::NEVER,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            moves_on: false,
        }
    }
}

/// The control law: the next drop comes `interval / sqrt(count)` after `from`. [RFC 8289 §3.3, §5.6]
pub(super) fn control_law(from: Time, interval: Duration, count: u32) -> Time {
    from + Duration::from_nanos((interval.as_nanos() as f64 / f64::from(count).sqrt()) as u64)
}

impl Codel {
    /// The verdict on the packet that has just left the queue. After [`Verdict::Drop`] the queue takes out the next one
    /// and calls this again, at the same `now`, or reports that there is [none](Self::on_empty).
    #[inline]
    pub fn judge(&mut self, settings: &Settings, now: Time, packet: Departing) -> Verdict {
        if !self.has_stood(settings, now, packet) {
            self.leave();
            return at_threshold(settings, packet);
        }
        self.judge_standing(settings, now, packet)
    }

    /// Called when the queue has no packet to take out.
    pub fn on_empty(&mut self) {
        self.first_above = Time::NEVER;
        self.leave();
    }

    /// Called after this many packets were dropped for lack of room: signals come faster by as many, as in Linux.
    pub fn on_overflow(&mut self, dropped: u32) {
        self.count = self.count.saturating_add(dropped);
    }

    /// Returns whether it is in the dropping state.
    pub fn is_dropping(&self) -> bool {
        self.dropping
    }

    fn leave(&mut self) {
        self.dropping = false;
        self.moves_on = false;
    }

    /// Returns whether the sojourn time has been above the target for an interval: "ok to drop". [RFC 8289 §5.6]
    fn has_stood(&mut self, settings: &Settings, now: Time, packet: Departing) -> bool {
        if packet.sojourn < settings.target || packet.left_bytes <= settings.mtu {
            self.first_above = Time::NEVER;
            return false;
        }
        if self.first_above.is_never() {
            self.first_above = now + settings.interval;
            return false;
        }
        now >= self.first_above
    }

    /// The verdict on a packet of a standing queue. [RFC 8289 §5.5]
    fn judge_standing(&mut self, settings: &Settings, now: Time, packet: Departing) -> Verdict {
        let signal = if settings.ecn && packet.is_capable { Verdict::Mark } else { Verdict::Drop };
        if !self.dropping {
            self.enter(settings, now);
            return signal;
        }
        if self.moves_on {
            self.move_on(settings);
        }
        if now < self.drop_next {
            return at_threshold(settings, packet);
        }
        self.count = self.count.saturating_add(1);
        match signal {
            Verdict::Mark => self.move_on(settings),
            _ => self.moves_on = true,
        }
        signal
    }

    fn move_on(&mut self, settings: &Settings) {
        self.moves_on = false;
        self.drop_next = control_law(self.drop_next, settings.interval, self.count);
    }

    /// Enters the dropping state: if the last one was not long ago, at the rate that controlled the queue then.
    fn enter(&mut self, settings: &Settings, now: Time) {
        let delta = self.count - self.last_count;
        let is_recent = now < self.drop_next + settings.interval * 16;
        self.count = if delta > 1 && is_recent { delta } else { 1 };
        self.last_count = self.count;
        self.dropping = true;
        self.drop_next = control_law(now, settings.interval, self.count);
    }
}

/// Marks a packet that the law lets pass if it is above the threshold, if there is one.
fn at_threshold(settings: &Settings, packet: Departing) -> Verdict {
    match settings.ce_threshold {
        Some(threshold) if packet.is_capable && packet.sojourn > threshold => Verdict::Mark,
        _ => Verdict::Forward,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANDING: u64 = 100_000;

    fn ms(x: u64) -> Time {
        Time::ZERO + Duration::from_millis(x)
    }

    fn packet(sojourn_ms: u64, left_bytes: u64, is_capable: bool) -> Departing {
        Departing { sojourn: Duration::from_millis(sojourn_ms), left_bytes, is_capable }
    }

    /// Takes a packet a millisecond from a queue whose sojourn time is `sojourn_ms(t)`; returns the times of signals in
    /// ms.
    fn signals(law: &mut Codel, settings: &Settings, from: u64, to: u64, sojourn_ms: impl Fn(u64) -> u64) -> Vec<u64> {
        let mut at = Vec::new();
        for t in from..to {
            while law.judge(settings, ms(t), packet(sojourn_ms(t), STANDING, false)) != Verdict::Forward {
                at.push(t);
            }
        }
        at
    }

    #[test]
    fn drops_follow_the_inverse_square_root_of_their_number() {
        // It is above the target from 0 on: the first drop comes after the interval, at 100, and the next ones at 100 +
        // 100/sqrt(1) = 200, + 100/sqrt(2) = 270.71, + 100/sqrt(3) = 328.45, + 50 = 378.45, + 44.72 = 423.17, + 40.82 =
        // 463.99, + 37.80 = 501.79, each at the first departure, a whole millisecond, from then on.
        let times = signals(&mut Codel::default(), &Settings::default(), 0, 510, |_| 20);
        assert_eq!(times, [100, 200, 271, 329, 379, 424, 464, 502]);
    }

    #[test]
    fn one_packet_below_the_target_begins_the_interval_anew() {
        // Below at 99, and above the target from 100 on.
        let times = signals(&mut Codel::default(), &Settings::default(), 0, 250, |t| if t == 99 { 4 } else { 20 });
        assert_eq!(times, [200]);
        // A sojourn time equal to the target counts as above.
        assert_eq!(signals(&mut Codel::default(), &Settings::default(), 0, 101, |_| 5), [100]);
    }

    #[test]
    fn a_queue_of_a_packet_is_no_queue() {
        let (mut law, settings) = (Codel::default(), Settings::default());
        for t in 0..1000 {
            assert_eq!(law.judge(&settings, ms(t), packet(500, 1500, false)), Verdict::Forward);
        }
        // One byte more makes it a standing queue.
        let mut law = Codel::default();
        let verdicts: Vec<_> = (0..=100).map(|t| law.judge(&settings, ms(t), packet(500, 1501, false))).collect();
        assert_eq!(verdicts[99..], [Verdict::Forward, Verdict::Drop]);
    }

    #[test]
    fn a_queue_that_stands_again_soon_is_dropped_from_at_the_rate_that_held_it() {
        let (mut law, settings) = (Codel::default(), Settings::default());
        // Eight drops by 502: count went from 1 to 8, and drop_next is 501.79 + 100/sqrt(8) = 537.15.
        signals(&mut law, &settings, 0, 510, |_| 20);
        assert!(law.is_dropping());
        // The queue empties at 510 and stands from 511 on: dropping begins at 611, with count 8 - 1 = 7: then 611 +
        // 100/sqrt(7) = 648.80, + 100/sqrt(8) = 684.15, + 100/3 = 717.49.
        law.on_empty();
        assert!(!law.is_dropping());
        assert_eq!(signals(&mut law, &settings, 511, 720, |_| 20), [611, 649, 685, 718]);
    }

    #[test]
    fn sixteen_intervals_after_the_last_drop_was_due_nothing_is_remembered() {
        // drop_next was 537.15: it is remembered before 2137.15, so if the queue stands from 2037 on, but not from 2038
        // on.
        for (from, second) in [(2037, 2137 + 38), (2038, 2138 + 100)] {
            let (mut law, settings) = (Codel::default(), Settings::default());
            signals(&mut law, &settings, 0, 510, |_| 20);
            law.on_empty();
            assert_eq!(signals(&mut law, &settings, from, second + 1, |_| 20), [from + 100, second]);
        }
    }

    #[test]
    fn after_a_long_silence_several_leave_at_once() {
        let (mut law, settings) = (Codel::default(), Settings::default());
        assert_eq!(signals(&mut law, &settings, 0, 101, |_| 20), [100]);
        // The next departure is at 330: the drops of 200, 270.7 and 328.5 are due.
        assert_eq!(signals(&mut law, &settings, 330, 331, |_| 20), [330, 330, 330]);
    }

    #[test]
    fn a_drop_that_ends_the_queue_does_not_move_the_next_one() {
        let (mut law, settings) = (Codel::default(), Settings::default());
        signals(&mut law, &settings, 0, 101, |_| 20);
        assert_eq!(law.judge(&settings, ms(200), packet(20, STANDING, false)), Verdict::Drop);
        assert_eq!(law.judge(&settings, ms(200), packet(1, STANDING, false)), Verdict::Forward);
        assert!(!law.is_dropping() && law.drop_next == ms(200) && law.count == 2);
    }

    #[test]
    fn a_capable_packet_is_marked_when_another_would_be_dropped() {
        let (mut law, settings) = (Codel::default(), Settings::default());
        let marked = |law: &mut Codel, settings| {
            (0..510).filter(|t| law.judge(settings, ms(*t), packet(20, STANDING, true)) == Verdict::Mark).collect()
        };
        let times: Vec<u64> = marked(&mut law, &settings);
        assert_eq!(times, [100, 200, 271, 329, 379, 424, 464, 502]);
        let without = Settings { ecn: false, ..settings };
        assert_eq!(signals(&mut Codel::default(), &without, 0, 101, |_| 20), [100]);
        assert_eq!(Codel::default().judge(&without, ms(0), packet(20, STANDING, true)), Verdict::Forward);
    }

    #[test]
    fn above_the_threshold_every_capable_packet_is_marked() {
        let settings = Settings { ce_threshold: Some(Duration::from_millis(1)), ..Settings::default() };
        let judge = |sojourn, capable| Codel::default().judge(&settings, ms(7), packet(sojourn, STANDING, capable));
        assert_eq!(
            (judge(1, true), judge(2, true), judge(2, false)),
            (Verdict::Forward, Verdict::Mark, Verdict::Forward)
        );
    }
}
