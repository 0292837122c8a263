//! Delayed ACKs as Linux does them.
//!
//! - **Quick ACKs**: at the start, after a duplicate and after a pause of more than an RTO, so many segments are
//!   acknowledged at once as half the window has, at most `quick_acks`.
//! - **Conversation** ("pingpong"): data that goes out within the delay of data that came in carries its ACK, so ACKs
//!   are not quick any more, until one is missed.
//! - **The delay** follows the gaps between segments, from `delayed_ack_timeout` to `delayed_ack_max`, and stays below
//!   the RTT.
//! - More than one full segment is acknowledged at once, if the window moves on; and so is, once it is read, a segment
//!   that is pushed or not full.
//!
//! Source: Linux 6.x, `net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_timer.c`; packetdrill tests of its delayed ACKs.
//! Leaves out: compression of the ACKs of data out of order, and merging of segments on arrival (GRO).

use lasthop_units::{Duration, Time};

use crate::config::Config;

/// Least payload that can pass for a full segment (`TCP_MIN_RCVMSS`).
const MIN_FULL: u32 = 536;
/// The same, for a segment without PSH (`TCP_MIN_MSS`).
const MIN_FULL_UNPUSHED: u32 = 88;
/// Longest delay outside of a conversation (HZ/2).
const LONGEST_ALONE: Duration = Duration::from_millis(500);
/// Quick ACKs that a window of less than two segments has.
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

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adaptive {
    most_quick: u32,
    shortest: Duration,
    longest: Duration,
    /// segments still acknowledged at once
    quick: u32,
    /// the delay in use; `None` before the first data
    delay: Option<Duration>,
    in_conversation: bool,
    last_data: Time,
    /// payload that the peer's full segments are thought to have
    full: u32,
    /// payload that they may have at most
    largest: u32,
    /// payload of the last segment, if it was not full
    last_small: u32,
    pushed: bool,
}

impl Adaptive {
    pub fn new(config: &Config) -> Self {
        Adaptive {
            most_quick: config.quick_acks,
            shortest: config.delayed_ack_timeout,
            longest: config.delayed_ack_max,
            quick: 0,
            delay: None,
            in_conversation: false,
            last_data: Time::ZERO,
            full: config.payload_bytes().clamp(MIN_FULL_UNPUSHED, MIN_FULL),
            largest: config.payload_bytes(),
            last_small: 0,
            pushed: false,
        }
    }

    pub fn full(&self) -> u32 {
        self.full
    }
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// A segment that ends something waits for its ACK, and nobody answers it.
    pub fn is_pushed(&self) -> bool {
        self.pushed && !self.in_conversation
    }

    /// Quick ACKs begin anew.
    pub fn enter_quick(&mut self, window: u64) {
        self.add_quick(window);
        self.in_conversation = false;
        self.delay = Some(self.shortest);
    }

    /// What goes out next will carry the ACK.
    pub fn enter_conversation(&mut self) {
        self.in_conversation = true;
    }

    /// At least one quick ACK more.
    pub fn hasten(&mut self) {
        self.quick = self.quick.max(1);
    }

    fn add_quick(&mut self, window: u64) {
        let wanted = match window / (2 * u64::from(self.full)) {
            0 => FEWEST_QUICK,
            segments => segments,
        };
        self.quick = self.quick.max(wanted.min(u64::from(self.most_quick)) as u32);
    }

    /// Takes note of data in order; `unacknowledged` bytes are not acknowledged, these included. True if an ACK is
    /// due now.
    pub fn on_data(&mut self, arrival: &Arrival, unacknowledged: u32) -> bool {
        self.measure(arrival);
        self.follow_gap(arrival);
        let is_quick = self.quick > 0 && !self.in_conversation;
        let is_read = arrival.all_read && self.is_pushed();
        is_quick || is_read || (unacknowledged > self.full && (arrival.edge_moves || arrival.all_read))
    }

    /// What a full segment is: the largest, or the same smaller size twice in a row.
    fn measure(&mut self, arrival: &Arrival) {
        let before = core::mem::take(&mut self.last_small);
        let length = arrival.length;
        if length >= self.full {
            self.full = length.min(self.largest);
            self.pushed |= arrival.push;
            return;
        }
        if length >= MIN_FULL || (length >= MIN_FULL_UNPUSHED && !arrival.push) {
            self.last_small = length;
            if length == before {
                self.full = length;
                return;
            }
        }
        self.pushed = true;
    }

    fn follow_gap(&mut self, arrival: &Arrival) {
        let gap = arrival.now.since(self.last_data);
        self.last_data = arrival.now;
        let Some(delay) = self.delay else {
            self.add_quick(arrival.window);
            self.delay = Some(self.shortest);
            return;
        };
        if gap <= self.shortest / 2 {
            self.delay = Some(delay / 2 + self.shortest / 2);
        } else if gap < delay {
            self.delay = Some((delay / 2 + gap).min(arrival.pace.rto));
        } else if gap > arrival.pace.rto {
            self.add_quick(arrival.window);
        }
    }

    /// The time at which an ACK withheld from `now` on is due.
    pub fn deadline(&self, now: Time, pace: &Pace) -> Time {
        let mut delay = self.delay.unwrap_or(self.shortest);
        if delay > self.shortest {
            let longest = if self.in_conversation || self.pushed { self.longest } else { LONGEST_ALONE };
            delay = delay.min(pace.srtt.map_or(longest, |rtt| rtt.max(self.shortest).min(longest)));
        }
        now + delay.min(self.longest)
    }

    /// With an ACK already due at `deadline`: true if it is not worth waiting for.
    pub fn is_near(&self, now: Time, deadline: Time, mine: Time) -> bool {
        deadline <= now + mine.since(now) / 4
    }

    /// An ACK waited for data to carry it, in vain.
    pub fn on_timeout(&mut self, rto: Duration) {
        let delay = self.delay.unwrap_or(self.shortest);
        self.delay = Some(if self.in_conversation { self.shortest } else { (delay * 2).min(rto) });
        self.in_conversation = false;
    }

    /// Data went out.
    pub fn on_data_sent(&mut self, now: Time) {
        self.in_conversation |= self.delay.is_some_and(|delay| now.since(self.last_data) < delay);
    }

    /// An ACK went out; `news` if it acknowledges something.
    pub fn on_ack_sent(&mut self, news: bool) {
        self.pushed = false;
        if news && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = Some(self.shortest);
            }
        }
    }
}
