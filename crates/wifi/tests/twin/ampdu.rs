//! A-MPDUs under Block Ack: the MPDUs that a function has for its only receiver, and the window of the recipient.
//!
//! ```text
//!   numbers   ... 7   8   9   10  11  12 ...        window: 64 numbers from the oldest that is neither
//!                 |again  |   new, as queued        acknowledged nor given up
//! ```
//!
//! An MPDU that was given up is announced by a BlockAckReq, which goes before all data until a BlockAck answers it.
//! [802.11-2020 §10.25]

use std::collections::{BTreeMap, BTreeSet};

/// A BlockAckReq is repeated for the lifetime of an MSDU, 500 TU. [802.11-2020 Annex C dot11EDCATableMSDULifetime]
const REQUEST_LIFETIME_NS: u64 = 500 * 1_024_000;

/// A-MPDUs of all nodes; every MPDU has the same length.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregation {
    pub window: u64,
    /// Bytes of an MPDU with its delimiter, the last of an A-MPDU.
    pub subframe_bytes: u64,
    pub t_block_ack_ns: u64,
    pub t_request_ns: u64,
    pub t_cf_end_ns: u64,
    /// Time from the start of an A-MPDU to its first MPDU.
    pub preamble_ns: u64,
    /// Duration of A-MPDUs of 1, 2 and more MPDUs, as many as one holds.
    pub durations_ns: Vec<u64>,
    /// RTS only before A-MPDUs of more bytes.
    pub rts_over_bytes: u64,
    /// Every frame of a TXOP reserves the medium to the end of its limit. [802.11-2020 §9.2.5.2 b]
    pub multiple_protection: bool,
    /// Time for which a recipient waits for a missing MPDU.
    pub reorder_timeout_ns: u64,
}

impl Aggregation {
    pub fn duration_ns(&self, mpdus: usize) -> u64 {
        self.durations_ns[mpdus - 1]
    }

    pub fn bytes(&self, mpdus: usize) -> u64 {
        (mpdus as u64 - 1) * self.subframe_bytes.next_multiple_of(4) + self.subframe_bytes
    }

    /// Which MPDUs of an A-MPDU of `count`, on the air from `start` to `end`, no interval of `spoiled` touches; none if
    /// one touches its preamble. MPDUs of one length share the data field equally.
    pub fn intact(&self, count: usize, (start, end): (u64, u64), spoiled: &[(u64, u64)]) -> Vec<bool> {
        let data = start + self.preamble_ns;
        let begins = |place: usize| data + (end - data) * place as u64 / count as u64;
        let touched = |from: u64, to: u64| spoiled.iter().any(|s| s.0 < to && from < s.1);
        let header_is_lost = touched(start, data);
        (0..count).map(|place| !header_is_lost && !touched(begins(place), begins(place + 1))).collect()
    }
}

/// An MPDU that is not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mpdu {
    pub number: u64,
    /// Attempts that failed.
    failures: u32,
}

/// The MPDUs that a function has taken from its queue for its receiver.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    next: u64,
    /// Not acknowledged and not on the air, in the order of their numbers.
    again: Vec<Mpdu>,
    pub sending: Vec<Mpdu>,
    pub request_due: bool,
    /// Time from which it was due.
    request_since: u64,
    pub given_up: u64,
}

impl Agreement {
    /// Whether anything was sent that has to be sent again, or a BlockAckReq.
    pub fn has_more(&self) -> bool {
        self.request_due || !self.again.is_empty()
    }

    /// MPDUs that have to be sent again.
    pub fn again(&self) -> u64 {
        self.again.len() as u64
    }

    /// Number of MPDUs of the next A-MPDU if `waiting` packets are queued and it may last `longest_ns`, and all that is on
    /// the air arrives.
    pub fn count(&self, limits: &Aggregation, waiting: u64, longest_ns: u64) -> usize {
        let oldest = self.again.first().map_or(self.next, |m| m.number);
        let new = waiting.min(oldest + limits.window - self.next);
        let all = self.again.len() as u64 + new;
        limits.durations_ns.iter().take_while(|d| **d <= longest_ns).count().min(all as usize)
    }

    /// Makes an A-MPDU, of one MPDU at least if it `must`; returns the number of packets taken from the queue.
    pub fn compose(&mut self, limits: &Aggregation, waiting: u64, longest_ns: u64, must: bool) -> u64 {
        assert!(self.sending.is_empty() && !self.request_due);
        let count = self.count(limits, waiting, longest_ns).max(usize::from(must));
        let repeated = count.min(self.again.len());
        self.sending = self.again.drain(..repeated).collect();
        let new = (count - repeated) as u64;
        self.sending.extend((0..new).map(|i| Mpdu { number: self.next + i, failures: 0 }));
        self.next += new;
        new
    }

    /// Handles a BlockAck; returns how many MPDUs of the A-MPDU that it answers it acknowledges.
    pub fn acknowledge(&mut self, now: u64, recipient: &Recipient, retry_limit: Option<u32>) -> u32 {
        self.request_due = false;
        let arrived = |m: &Mpdu| recipient.seen.contains(&m.number);
        let acknowledged = self.sending.iter().filter(|m| arrived(m)).count();
        self.again.retain(|m| !arrived(m));
        self.sending.retain(|m| !arrived(m));
        self.count_failure(now, retry_limit);
        acknowledged as u32
    }

    /// Handles a frame that was not answered, or an RTS before it.
    pub fn count_failure(&mut self, now: u64, retry_limit: Option<u32>) {
        let lifetime_is_over = now - self.request_since >= REQUEST_LIFETIME_NS && retry_limit.is_some();
        self.request_due &= !lifetime_is_over;
        for mut mpdu in std::mem::take(&mut self.sending) {
            if retry_limit == Some(mpdu.failures) {
                self.given_up += 1;
                self.request_due = true;
                self.request_since = now;
            } else {
                mpdu.failures += 1;
                self.again.push(mpdu);
            }
        }
        self.again.sort_by_key(|m| m.number);
    }

    /// The number that a BlockAckReq announces: the oldest that is neither acknowledged nor given up.
    pub fn start(&self) -> u64 {
        self.again.first().map_or(self.next, |m| m.number)
    }
}

/// A recipient of MPDUs, which passes them on in order.
#[derive(Clone, Debug, Default)]
pub struct Recipient {
    /// All that have ever arrived.
    seen: BTreeSet<u64>,
    /// The first number that it waits for.
    start: u64,
    /// Arrival times of those that wait for earlier ones.
    waiting: BTreeMap<u64, u64>,
}

impl Recipient {
    /// Takes an MPDU in, unless it came before or its place has been passed.
    pub fn take(&mut self, now: u64, number: u64) {
        if self.seen.insert(number) && number >= self.start {
            self.waiting.insert(number, now);
        }
    }

    /// Moves the window to its new start, because of a BlockAckReq or an MPDU beyond it; returns the MPDUs that it passes on.
    pub fn move_to(&mut self, start: u64) -> Vec<u64> {
        self.start = self.start.max(start);
        let mut passed: Vec<u64> = Vec::new();
        while let Some(first) = self.waiting.first_entry().filter(|e| *e.key() <= self.start) {
            self.start = self.start.max(first.key() + 1);
            passed.push(*first.key());
            first.remove();
        }
        passed
    }

    /// Passes on the MPDUs that are in order; all before the window of the latest MPDU has been given up.
    pub fn pass(&mut self, window: u64) -> Vec<u64> {
        let latest = self.waiting.last_key_value().map_or(0, |(number, _)| number + 1);
        self.move_to(latest.saturating_sub(window))
    }

    /// The time at which it gives up the MPDUs before the first that waits.
    pub fn gives_up_at(&self, timeout_ns: u64) -> Option<u64> {
        self.waiting.first_key_value().map(|(_, since)| since + timeout_ns)
    }

    /// Gives up all that is missing before MPDUs that have waited for the timeout.
    pub fn give_up(&mut self, now: u64, timeout_ns: u64) -> Vec<u64> {
        let mut passed = Vec::new();
        while self.gives_up_at(timeout_ns).is_some_and(|at| at <= now) {
            passed.extend(self.move_to(*self.waiting.first_key_value().expect("one waits").0));
        }
        passed
    }
}
