//! Delayed ACKs that follow the pace of the peer.
//!
//! Three values decide: an [`Estimate`] of what a full segment carries, a [`Budget`] of ACKs that go out at once, and the
//! [`Delay`] of the others. Their laws stand in `docs/model/tcp-receiver.md`, "The adaptive delay".
//!
//! Source: RFC 1122 §4.2.3.2, RFC 5681 §4.2; the numbers as observed on Linux 6.18 over a TUN device: when ACKs came, and
//! `tcpi_ato` and `tcpi_rcv_mss` of TCP_INFO.
//! Leaves out: compression of the ACKs of data out of order, and merging of segments on arrival (GRO).

use lasthop_units::{Duration, Time};

use crate::config::Config;

/// Least payload that can pass for that of a full segment: of one with PSH, and of one without.
const LEAST_FULL_PUSHED: u32 = 536;
const LEAST_FULL: u32 = 88;
/// Quick ACKs for a window of less than two segments: after a closed one that was probed, one is left for data.
const FEWEST_QUICK: u64 = 2;

/// What the sending half knows of time.
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
    /// what is left of it
    pub room: u64,
    /// the window can be offered as large as before, so that its edge moves on
    pub edge_moves: bool,
    /// nothing is left unread
    pub all_read: bool,
    pub pace: Pace,
}

/// Payload that a full segment of the peer is thought to carry.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    full: u32,
    /// what one may carry at most
    most: u32,
    /// payload of the segment before, if it could be that of a full one and is smaller than thought
    smaller: Option<u32>,
}

impl Estimate {
    /// A segment has come: true if it ends something, being pushed or less than full.
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
    /// As many as half of `window` has segments of `full` bytes.
    fn grant(&mut self, window: u64, full: u32) {
        let half = match window / (2 * u64::from(full)) {
            0 => FEWEST_QUICK,
            segments => segments,
        };
        self.left = self.left.max(half.min(u64::from(self.most)) as u32);
    }
}

/// What changes the delay.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// data came, so long after the data before
    Data { gap: Duration, rto: Duration },
    /// data went out soon after data had come
    Answer,
    /// an ACK waited for data to carry it, and none came
    Vain { rto: Duration },
    /// the peer needs to hear more
    Alarm,
    /// the last quick ACK went out
    BudgetSpent,
}

/// How long an ACK waits.
#[derive(Clone, Copy, Debug)]
struct Delay {
    length: Duration,
    /// data answers data, and carries its ACK
    is_conversation: bool,
}

impl Delay {
    /// After `event`; `first` is the delay to begin with.
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

/// The delayed ACKs of one receiver: what it has learned of the peer's pace, and the ACKs that it may still send at
/// once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adaptive {
    first: Duration,
    longest: Duration,
    estimate: Estimate,
    budget: Budget,
    delay: Delay,
    /// when data last came
    last_data: Option<Time>,
    /// what ends something is not acknowledged yet
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

    /// A segment that ends something waits for its ACK, and nobody answers it.
    pub fn is_pushed(&self) -> bool {
        self.ends && !self.delay.is_conversation
    }

    fn change(&mut self, event: Event) {
        self.delay = self.delay.after(event, self.first);
    }

    /// The peer needs to hear more: quick ACKs for a `window` of so many bytes.
    pub fn enter_quick(&mut self, window: u64) {
        self.budget.grant(window, self.estimate.full);
        self.change(Event::Alarm);
    }

    /// What goes out next will carry the ACK.
    pub fn enter_conversation(&mut self) {
        self.change(Event::Answer);
    }

    /// At least one quick ACK more.
    pub fn hasten(&mut self) {
        self.budget.left = self.budget.left.max(1);
    }

    /// Takes note of data in order; `unacknowledged` bytes are not acknowledged, these included. True if an ACK is
    /// due now.
    pub fn on_data(&mut self, arrival: &Arrival, unacknowledged: u32) -> bool {
        self.ends |= self.estimate.on_segment(arrival.length, arrival.push);
        self.follow(arrival);
        let is_quick = self.budget.left > 0 && !self.delay.is_conversation;
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

    /// With an ACK already due at `deadline`: true if it is not worth waiting for. Of 80 ms,
    /// 24 are not when a new wait would be 96 ms, and 28 are when it would be 92.
    pub fn is_near(&self, now: Time, deadline: Time, mine: Time) -> bool {
        4 * deadline.since(now).as_nanos() <= mine.since(now).as_nanos()
    }

    /// An ACK waited for data to carry it, in vain.
    pub fn on_timeout(&mut self, rto: Duration) {
        self.change(Event::Vain { rto });
    }

    /// Data went out.
    pub fn on_data_sent(&mut self, now: Time) {
        if self.last_data.is_some_and(|came| now.since(came) < self.delay.length) {
            self.change(Event::Answer);
        }
    }

    /// An ACK went out; `news` if it acknowledges something.
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
