//! ACK policies.
//!
//! Acknowledged at once: data out of order or without news, data that fills a gap [RFC 5681 §4.2], a FIN (except with
//! an adaptive delay). Else by policy:
//!
//! - every segment;
//! - delayed, fixed: once more than one full segment is unacknowledged, or after a time [RFC 1122 §4.2.3.2];
//! - delayed, adaptive: as Linux, see `adaptive.rs`;
//! - skipping: one ACK for `skip + 1` segments [gopal2005]. The authors' receiver has no timer that we know of; here a
//!   timer bounds the wait, so that a sender with less than that in flight goes on. No ACK is left out for a segment
//!   that is pushed or not full, which ends a burst, or where the window offered is nearly used up.
//!
//! ACKs that answer data out of order each go out on their own, since the sender counts them; those in order
//! may be merged, or ride on data, if the device is slow. With `compressed_acks` one replaces several, as in Linux since 4.18
//! (`net.ipv4.tcp_comp_sack_nr`, `_delay_ns` and `_rtt_percent` of its ip-sysctl documentation): after three with the same
//! acknowledgement number, which let the sender repeat, others wait for a third of the RTT, at most 1 ms, or for any ACK.

use lasthop_units::{Duration, Time};

use super::adaptive::{Adaptive, Arrival, Pace};
use crate::config::{AckPolicy, Config, DelayedAck, Skip};

/// The ACK owed to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owed {
    Nothing,
    /// later, unless data goes out
    Withheld,
    /// now; data may carry it
    Soon,
    /// now, and by a segment without data
    Pure,
}

/// The policy with its state.
#[derive(Clone, Copy, Debug)]
enum Policy {
    EverySegment,
    Fixed,
    Adaptive(Adaptive),
    /// segments in order so far
    Skip(Skip, u64),
}

/// ACKs that go out at once while the same data is missing.
const AT_ONCE: u32 = 3;
/// The longest wait of the others, and the part of the smoothed RTT that they wait, since Linux 6.19.
const LONGEST: Duration = Duration::from_millis(1);
const PERCENT: u64 = 33;

/// ACKs of data out of order, several of which one replaces.
#[derive(Clone, Copy, Debug, Default)]
struct Compression {
    /// the most that one replaces; 0: none is held
    most: u32,
    /// RCV.NXT at the last of them
    nxt: u64,
    /// went out at once since it moved
    sent: u32,
    held: u32,
    until: Option<Time>,
}

impl Compression {
    /// Returns whether an ACK is held at `now`, when everything before `nxt` has come.
    fn holds(&mut self, now: Time, nxt: u64, srtt: Option<Duration>) -> bool {
        if self.nxt != nxt {
            (self.nxt, self.sent) = (nxt, 0);
        }
        let Some(srtt) = srtt.filter(|_| self.sent >= AT_ONCE && self.held < self.most) else {
            self.sent = self.sent.saturating_add(1);
            return false;
        };
        self.held += 1;
        let wait = LONGEST.min(srtt.saturating_mul(PERCENT) / 100);
        self.until.get_or_insert(now + wait);
        true
    }
}

/// Decides when ACKs go out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckSchedule {
    policy: Policy,
    timeout: Duration,
    /// in-order segments that are still acknowledged at once, if the delay is fixed
    quick: u32,
    /// pure ACKs owed, one for each segment out of order or without news
    duplicates: u32,
    compression: Compression,
    soon: bool,
    /// in order and not yet acknowledged
    pending_bytes: u32,
    pending_segments: u32,
    withheld_until: Option<Time>,
    /// largest payload seen: a full segment
    largest: u32,
}

impl AckSchedule {
    pub fn new(config: &Config) -> Self {
        let policy = match (config.ack, config.delayed_ack) {
            (AckPolicy::EverySegment, _) => Policy::EverySegment,
            (AckPolicy::Delayed, DelayedAck::Fixed) => Policy::Fixed,
            (AckPolicy::Delayed, DelayedAck::Adaptive) => Policy::Adaptive(Adaptive::new(config)),
            (AckPolicy::Skip(skip), _) => Policy::Skip(skip, 0),
        };
        AckSchedule {
            policy,
            timeout: config.delayed_ack_timeout,
            quick: config.quick_acks,
            duplicates: 0,
            compression: Compression::default(),
            soon: false,
            pending_bytes: 0,
            pending_segments: 0,
            withheld_until: None,
            largest: 0,
        }
    }

    pub fn owed(&self) -> Owed {
        match self {
            AckSchedule { duplicates: 1.., .. } => Owed::Pure,
            AckSchedule { soon: true, .. } => Owed::Soon,
            AckSchedule { withheld_until: Some(_), .. } => Owed::Withheld,
            AckSchedule { compression: Compression { until: Some(_), .. }, .. } => Owed::Withheld,
            _ => Owed::Nothing,
        }
    }
    pub fn withheld_until(&self) -> Option<Time> {
        [self.withheld_until, self.compression.until].into_iter().flatten().min()
    }
    /// Lets an ACK replace up to `most` of data out of order: the peer reads SACK.
    pub fn compress(&mut self, most: u32) {
        self.compression.most = most;
    }
    /// True if no policy has to decide.
    pub fn acknowledges_each(&self) -> bool {
        matches!(self.policy, Policy::EverySegment)
    }
    /// Takes note of data in order, where no policy has to decide.
    pub fn on_each(&mut self) {
        self.soon = true;
        self.pending_segments += 1;
    }
    /// True if data is not acknowledged yet.
    pub fn is_pending(&self) -> bool {
        self.pending_segments > 0
    }
    /// Estimated payload of the peer's full segments.
    pub fn full_segment(&self) -> u32 {
        match &self.policy {
            Policy::Adaptive(adaptive) => adaptive.full(),
            _ => self.largest,
        }
    }
    /// The delay in use.
    pub fn delay(&self) -> Duration {
        match &self.policy {
            Policy::Adaptive(adaptive) => adaptive.delay().unwrap_or_default(),
            _ => self.timeout,
        }
    }

    /// Takes note of data out of order; everything before `nxt` has come.
    pub fn on_out_of_order(&mut self, now: Time, nxt: u64, pace: &Pace) {
        let is_quick = || matches!(&self.policy, Policy::Adaptive(adaptive) if adaptive.is_quick());
        if self.compression.most == 0 || is_quick() || !self.compression.holds(now, nxt, pace.srtt) {
            self.duplicates += 1;
        }
    }
    /// Takes note of data without news: the peer has missed ACKs, or sends beyond the `window` offered.
    pub fn on_nothing_new(&mut self, window: u64) {
        self.duplicates += 1;
        if let Policy::Adaptive(adaptive) = &mut self.policy {
            adaptive.enter_quick(window);
        }
    }
    /// Owes a separate ACK without further meaning.
    pub fn on_question(&mut self) {
        self.duplicates += 1;
    }
    pub fn on_gap_or_end(&mut self) {
        self.soon = true;
    }
    /// Takes note of a FIN. The application will answer it by its own, for which Linux waits if data came before and
    /// not much of it is unacknowledged.
    pub fn on_end(&mut self, now: Time, length: u32, pace: &Pace) {
        self.pending_bytes = self.pending_bytes.saturating_add(length + 1);
        self.pending_segments += 1;
        match &mut self.policy {
            Policy::Adaptive(adaptive) if adaptive.delay().is_some() && self.pending_bytes <= adaptive.full() => {
                adaptive.enter_conversation();
                self.withhold(now, pace);
            }
            _ => self.soon = true,
        }
    }
    /// Takes note of a mark, or the end of marks: the sender is to learn of it at once, and of later ones.
    pub fn on_mark(&mut self, window: u64) {
        self.soon = true;
        if let Policy::Adaptive(adaptive) = &mut self.policy {
            adaptive.enter_quick(window.min(4 * u64::from(adaptive.full())));
        }
    }
    /// Hastens the ACK when the window has grown: the peer may need it.
    pub fn hasten(&mut self) {
        if let Policy::Adaptive(adaptive) = &mut self.policy {
            adaptive.hasten();
        }
    }
    pub fn on_timeout(&mut self, now: Time, rto: Duration) {
        if self.compression.until.is_some_and(|until| until <= now) {
            (self.compression.held, self.compression.until) = (0, None);
            self.duplicates += 1;
        }
        if self.withheld_until.take_if(|until| *until <= now).is_some() {
            self.soon = true;
            if let Policy::Adaptive(adaptive) = &mut self.policy {
                adaptive.on_timeout(rto);
            }
        }
    }

    /// Takes note of data in order.
    #[inline(always)]
    pub fn on_in_order(&mut self, arrival: &Arrival) {
        self.largest = self.largest.max(arrival.length);
        self.pending_bytes = self.pending_bytes.saturating_add(arrival.length);
        self.pending_segments += 1;
        if self.is_due(arrival) {
            self.soon = true;
        } else {
            self.withhold(arrival.now, &arrival.pace);
        }
    }

    fn is_due(&mut self, arrival: &Arrival) -> bool {
        match &mut self.policy {
            Policy::EverySegment => true,
            Policy::Fixed => {
                let at_once = self.quick > 0 || self.pending_bytes > self.largest;
                self.quick = self.quick.saturating_sub(1);
                at_once
            }
            Policy::Adaptive(adaptive) => adaptive.on_data(arrival, self.pending_bytes),
            Policy::Skip(skip, in_order) => {
                *in_order += 1;
                let steady = *in_order > skip.start_after.0;
                let ends_burst = arrival.push || arrival.length < self.largest;
                let fills_window = arrival.room < u64::from(self.largest) * (u64::from(skip.skip) + 1);
                !steady || self.pending_segments > skip.skip || ends_burst || fills_window
            }
        }
    }

    /// Withholds the ACK. A wait that has begun is not made longer; one that is nearly over ends.
    fn withhold(&mut self, now: Time, pace: &Pace) {
        match (&self.policy, self.withheld_until) {
            (Policy::Adaptive(adaptive), before) => {
                let mine = adaptive.deadline(now, pace);
                self.soon |= before.is_some_and(|before| adaptive.is_near(now, before, mine));
                self.withheld_until = Some(before.map_or(mine, |before| before.min(mine)));
            }
            (_, None) => self.withheld_until = Some(now + self.timeout),
            (_, Some(_)) => {}
        }
    }

    /// Takes note of reading: once all is read, pushed data is acknowledged.
    pub fn on_read(&mut self, all: bool) {
        let Policy::Adaptive(adaptive) = &self.policy else { return };
        if self.is_pending() && ((all && adaptive.is_pushed()) || self.pending_bytes > adaptive.full()) {
            self.soon = true;
        }
    }

    /// Takes note of data sent.
    pub fn on_data_sent(&mut self, now: Time) {
        if let Policy::Adaptive(adaptive) = &mut self.policy {
            adaptive.on_data_sent(now);
        }
    }

    /// Takes note of an ACK sent: all data in order is acknowledged, and one pure ACK settles one duplicate.
    pub fn on_ack_sent(&mut self, is_pure: bool) {
        if let Policy::Adaptive(adaptive) = &mut self.policy {
            adaptive.on_ack_sent(self.pending_segments > 0 || self.duplicates > 0);
        }
        self.duplicates = self.duplicates.saturating_sub(u32::from(is_pure));
        (self.compression.held, self.compression.until) = (0, None);
        self.soon = false;
        self.pending_bytes = 0;
        self.pending_segments = 0;
        self.withheld_until = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Segments;

    fn schedule(ack: AckPolicy, quick_acks: u32) -> AckSchedule {
        AckSchedule::new(&Config { ack, quick_acks, delayed_ack: DelayedAck::Fixed, ..Config::default() })
    }

    fn data(now: Time, length: u32) -> Arrival {
        let pace = Pace { rto: Duration::from_millis(300), srtt: Some(Duration::from_millis(100)) };
        Arrival { now, length, push: false, window: 1 << 20, room: 1 << 20, edge_moves: true, all_read: true, pace }
    }

    #[test]
    fn every_second_full_segment_is_acknowledged() {
        let mut schedule = schedule(AckPolicy::Delayed, 0);
        schedule.on_in_order(&data(Time::ZERO, 1000));
        assert_eq!(schedule.owed(), Owed::Withheld);
        assert_eq!(schedule.withheld_until(), Some(Time::ZERO + Duration::from_millis(40)));
        schedule.on_in_order(&data(Time::from_nanos(5), 1000));
        assert_eq!(schedule.owed(), Owed::Soon);
        schedule.on_ack_sent(true);
        assert_eq!(schedule.owed(), Owed::Nothing);
    }

    #[test]
    fn the_first_segments_are_acknowledged_quickly() {
        let mut schedule = schedule(AckPolicy::Delayed, 2);
        for expected in [Owed::Soon, Owed::Soon, Owed::Withheld] {
            schedule.on_in_order(&data(Time::ZERO, 1000));
            assert_eq!(schedule.owed(), expected);
            if expected == Owed::Soon {
                schedule.on_ack_sent(true);
            }
        }
    }

    #[test]
    fn each_segment_out_of_order_has_an_ack_of_its_own() {
        let mut schedule = schedule(AckPolicy::EverySegment, 0);
        let arrives =
            |schedule: &mut AckSchedule| schedule.on_out_of_order(Time::ZERO, 1, &data(Time::ZERO, 1000).pace);
        arrives(&mut schedule);
        arrives(&mut schedule);
        schedule.on_ack_sent(true);
        assert_eq!(schedule.owed(), Owed::Pure);
        schedule.on_ack_sent(false);
        assert_eq!(schedule.owed(), Owed::Pure, "data does not settle it");
        schedule.on_ack_sent(true);
        assert_eq!(schedule.owed(), Owed::Nothing);
    }

    /// By the documentation of Linux: three at once, the next 44 or a millisecond's worth in one.
    #[test]
    fn one_ack_replaces_those_of_data_out_of_order_that_come_soon_after() {
        let pace = data(Time::ZERO, 1000).pace;
        let at = |us: u64| Time::ZERO + Duration::from_micros(us);
        let acks = |most: u32, gap_us: u64| {
            let mut schedule = schedule(AckPolicy::EverySegment, 0);
            schedule.compress(most);
            let mut sent = 0;
            for number in 0..100_u64 {
                let now = at(number * gap_us);
                if schedule.withheld_until().is_some_and(|until| until <= now) {
                    schedule.on_timeout(now, pace.rto);
                }
                while schedule.owed() == Owed::Pure {
                    schedule.on_ack_sent(true);
                    sent += 1;
                }
                schedule.on_out_of_order(now, 1, &pace);
                while schedule.owed() == Owed::Pure {
                    schedule.on_ack_sent(true);
                    sent += 1;
                }
            }
            sent
        };
        // At one moment every 45th of 97 is one too many to be held; 100 us apart, one replaces ten; 2 ms apart, each goes out.
        assert_eq!([acks(0, 0), acks(44, 0)], [100, 3 + 2]);
        assert_eq!(acks(44, 100), 3 + 96 / 10);
        assert_eq!(acks(44, 2_000), 3 + 96);
    }

    /// Segments that each ACK covers, of `count` segments in order.
    fn covered(mut schedule: AckSchedule, count: u32) -> Vec<u32> {
        let (mut acks, mut since) = (Vec::new(), 0);
        for _ in 0..count {
            schedule.on_in_order(&data(Time::ZERO, 1000));
            since += 1;
            if schedule.owed() == Owed::Soon {
                schedule.on_ack_sent(true);
                acks.push(since);
                since = 0;
            }
        }
        acks
    }

    #[test]
    fn one_ack_stands_for_skip_plus_one_segments() {
        let skip = |skip, start| schedule(AckPolicy::Skip(Skip { skip, start_after: Segments(start) }), 0);
        assert_eq!(covered(skip(0, 0), 4), [1, 1, 1, 1]);
        assert_eq!(covered(skip(1, 0), 4), [2, 2]);
        assert_eq!(covered(skip(3, 2), 10), [1, 1, 4, 4]);
    }
}
