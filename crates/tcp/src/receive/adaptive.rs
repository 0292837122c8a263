//! Delayed ACKs that follow the pace of the peer.
//!
//! Three values decide: an [`Estimate`] of the payload of a full segment, a [`Budget`] of ACKs that go out at once, and
//! the [`Delay`] of the others. Their laws are in `docs/model/tcp-receiver.md`, "The adaptive delay".
//!
//! Source: RFC 1122 §4.2.3.2, RFC 5681 §4.2; the numbers as observed on Linux 6.18 over a TUN device: times of ACKs,
//! and `tcpi_ato` and `tcpi_rcv_mss` of TCP_INFO.
//! Leaves out: merging of segments on arrival (GRO).

use lasthop_units::{Duration, Time};

use crate::config::Config;

/// Least payload that can pass for that of a full segment: of one with PSH, and of one without.
const LEAST_FULL_PUSHED: u32 = 536;
const LEAST_FULL: u32 = 88;
/// Quick ACKs for a window of less than two segments: after a probed closed window one is left for data.
const FEWEST_QUICK: u64 = 2;

/// Times that the sending half knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub rto: Duration,
    pub srtt: Option<Duration>,
}

/// Data that came in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub now: Time,
    pub length: u32,
    pub push: bool,
    /// window offered by the last ACK, in bytes
    pub window: u64,
    /// the part of it that is left
    pub room: u64,
    /// the window can be offered as large as before, so that its edge moves on
    pub edge_moves: bool,
    /// nothing is left unread
    pub all_read: bool,
    pub pace: Pace,
}

/// Estimate of the payload in a full segment of the peer.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    full: u32,
    /// the most that one may carry
    most: u32,
    /// payload of the segment before, if it could be that of a full one and is smaller than thought
    smaller: Option<u32>,
}

impl Estimate {
    /// Takes in a segment: true if it ends a burst, being pushed or less than full.
    fn on_segment(&mut self, length: u32, push: bool) -> bool {
        let least = if push { LEAST_FULL_PUSHED } else { LEAST_FULL };
        let is_short = length < self.full;
        let smaller = (is_short && length >= least).then_some(length);
        let before = core::mem::replace(&mut self.smaller, smaller);
        let came_twice = smaller.is_some() && smaller == before;
        if came_twice || !is_short {
            self.full = length.min(self.most);
        }
        !came_twice && (push || is_short)
    }
}

/// Segments that are still acknowledged at once.
#[derive(Clone, Copy, Debug)]
struct Budget {
    left: u32,
    most: u32,
}

impl Budget {
    /// Grants as many as half of `window` has segments of `full` bytes.
    fn grant(&mut self, window: u64, full: u32) {
        let half = match window / (2 * u64::from(full)) {
            0 => FEWEST_QUICK,
            segments => segments,
        };
        self.left = self.left.max(half.min(u64::from(self.most)) as u32);
    }
}

/// Events that change the delay.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// data came, so long after the data before
    Data { gap: Duration, rto: Duration },
    /// data went out soon after data had come
    Answer,
    /// an ACK waited for data to carry it, but none came
    Vain { rto: Duration },
    /// the peer needs more ACKs
    Alarm,
    /// the last quick ACK went out
    BudgetSpent,
}

/// Time for which an ACK waits.
#[derive(Clone, Copy, Debug)]
struct Delay {
    length: Duration,
    /// data answers data, and carries its ACK
    is_conversation: bool,
}

impl Delay {
    /// The delay after `event`; `first` is the one to begin with.
    fn after(self, event: Event, first: Duration) -> Delay {
        let Delay { length, is_conversation } = self;
        match event {
            Event::Data { gap, rto } if gap < length => {
                Delay { length: (length / 2 + gap.max(first / 2)).min(rto), is_conversation }
            }
            Event::Data { .. } => self,
            Event::Answer => Delay { length, is_conversation: true },
            Event::Vain { rto } if !is_conversation => Delay { length: (length * 2).min(rto), is_conversation },
            Event::Vain { .. } | Event::Alarm => Delay { length: first, is_conversation: false },
            Event::BudgetSpent => Delay { length: first, is_conversation },
        }
    }
}

/// The delayed ACKs of one receiver: its estimate of the peer's pace, and the ACKs that it may still send at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adaptive {
    first: Duration,
    longest: Duration,
    estimate: Estimate,
    budget: Budget,
    delay: Delay,
    /// when data last came
    last_data: Option<Time>,
    /// the end of a burst is not acknowledged yet
    ends: bool,
}

impl Adaptive {
    pub fn new(config: &Config) -> Self {
        let (first, most) = (config.delayed_ack_timeout, config.payload_bytes());
        let full = most.clamp(LEAST_FULL, LEAST_FULL_PUSHED);
        Adaptive {
            first,
            longest: config.delayed_ack_max,
            estimate: Estimate { full, most, smaller: None },
            budget: Budget { left: 0, most: config.quick_acks },
            delay: Delay { length: first, is_conversation: false },
            last_data: None,
            ends: false,
        }
    }

    pub fn full(&self) -> u32 {
        self.estimate.full
    }
    /// The delay in use; none before the first data.
    pub fn delay(&self) -> Option<Duration> {
        self.last_data.map(|_| self.delay.length)
    }

    /// True while the end of a burst waits for its ACK and no data answers it.
    pub fn is_pushed(&self) -> bool {
        self.ends && !self.delay.is_conversation
    }

    fn change(&mut self, event: Event) {
        self.delay = self.delay.after(event, self.first);
    }

    /// Grants quick ACKs for a `window` of so many bytes, when the peer needs more of them.
    pub fn enter_quick(&mut self, window: u64) {
        self.budget.grant(window, self.estimate.full);
        self.change(Event::Alarm);
    }

    /// Takes note that the next data sent will carry the ACK.
    pub fn enter_conversation(&mut self) {
        self.change(Event::Answer);
    }

    /// Grants at least one more quick ACK.
    pub fn hasten(&mut self) {
        self.budget.left = self.budget.left.max(1);
    }

    /// True while ACKs go out at once.
    pub fn is_quick(&self) -> bool {
        self.budget.left > 0 && !self.delay.is_conversation
    }

    /// Takes note of data in order; `unacknowledged` bytes are not acknowledged, these included. True if an ACK is
    /// due now.
    pub fn on_data(&mut self, arrival: &Arrival, unacknowledged: u32) -> bool {
        self.ends |= self.estimate.on_segment(arrival.length, arrival.push);
        self.follow(arrival);
        let is_quick = self.is_quick();
        let fills_a_segment = unacknowledged > self.estimate.full && (arrival.edge_moves || arrival.all_read);
        is_quick || fills_a_segment || (arrival.all_read && self.is_pushed())
    }

    /// The first data, and data after a pause, is acknowledged at once.
    fn follow(&mut self, arrival: &Arrival) {
        let rto = arrival.pace.rto;
        let gap = self.last_data.replace(arrival.now).map(|before| arrival.now.since(before));
        if gap.is_none_or(|gap| gap > rto) {
            self.budget.grant(arrival.window, self.estimate.full);
        }
        if let Some(gap) = gap {
            self.change(Event::Data { gap, rto });
        }
    }

    /// The time at which an ACK withheld from `now` on is due: within a round trip, unless that is very short.
    pub fn deadline(&self, now: Time, pace: &Pace) -> Time {
        let round_trip = pace.srtt.map_or(self.longest, |rtt| rtt.max(self.first));
        now + self.delay.length.min(round_trip).min(self.longest)
    }

    /// True if an ACK already due at `deadline` is not worth waiting for. With 24 of 80 ms left it is not when a new
    /// wait would be 96 ms; with 28 it is when that would be 92.
    pub fn is_near(&self, now: Time, deadline: Time, mine: Time) -> bool {
        4 * deadline.since(now).as_nanos() <= mine.since(now).as_nanos()
    }

    /// Takes note of an ACK that waited for data to carry it, but none came.
    pub fn on_timeout(&mut self, rto: Duration) {
        self.change(Event::Vain { rto });
    }

    /// Takes note of data sent.
    pub fn on_data_sent(&mut self, now: Time) {
        if self.last_data.is_some_and(|came| now.since(came) < self.delay.length) {
            self.change(Event::Answer);
        }
    }

    /// Takes note of an ACK sent; `news` if it acknowledges something.
    pub fn on_ack_sent(&mut self, news: bool) {
        self.ends = false;
        if news && self.budget.left > 0 {
            self.budget.left -= 1;
            if self.budget.left == 0 {
                self.change(Event::BudgetSpent);
            }
        }
    }
}
