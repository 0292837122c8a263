//! Payload bytes received under each ECN field, and the AccECN option that reports them.
//!
//! ```text
//!   arriving text ──► counter of its ECN field ──► option: all counters that fit, at least those that changed
//! ```
//! The option goes out only if the peer sends it too [RFC 9768 §3.2.3.2.1], and no more once duplicates arrive twice in a row
//! although their ACK, with the option, has reported the first one: the path may drop such ACKs [§3.2.3.2.2]. Linux writes
//! the counter of ECT(1) first; elsewhere the order with fewer counters is taken where room is short.
//!
//! Source: RFC 9768 §3.2.3. Leaves out: options without counters.

use lasthop_units::{Duration, Ecn, Time};

use crate::config::AccEcnOption;
use crate::segment::{AccEcn, accecn_bytes, sack_bytes};

/// Counters wrap at 2^24. [RFC 9768 §3.2.3]
const MASK: u32 = (1 << 24) - 1;
/// An option goes out at the latest after so many bytes, long before a counter wraps. [RFC 9768 §3.2.3.3]
const EDGE: u32 = 22;
/// Options in a round trip, at least. [RFC 9768 §3.2.3.3]
const BEACON: u64 = 3;

/// Counts of bytes by ECN field; arrays have ECT(1), CE and ECT(0), the order of kind 174.
#[derive(Clone, Debug)]
pub(super) struct ByteCounters {
    policy: AccEcnOption,
    /// ECT(1) is first in each option
    fixed_order: bool,
    counts: [u32; 3],
    /// counters that no option has reported since they changed
    changed: [bool; 3],
    /// the counter that rose last
    last: Option<usize>,
    /// options to send whatever else
    due: u8,
    /// the peer's options arrive
    peer_sends: bool,
    /// the option seems to hinder ACKs
    is_off: bool,
    /// the last option went out with the report of a duplicate
    with_duplicate: bool,
    sent_at: Time,
}

impl ByteCounters {
    /// Counters at their start. [RFC 9768 §3.2.1]
    pub fn new(policy: AccEcnOption, fixed_order: bool) -> ByteCounters {
        ByteCounters {
            policy,
            fixed_order,
            counts: [1, 0, 1],
            changed: [false; 3],
            last: None,
            due: 2,
            peer_sends: false,
            is_off: false,
            with_duplicate: false,
            sent_at: Time::ZERO,
        }
    }

    /// The option of a SYN+ACK: the counters are at their start.
    pub fn first(&self) -> Option<AccEcn> {
        (self.policy != AccEcnOption::Off).then(|| AccEcn::new(true, &self.counts))
    }

    /// Counts a text. True if another counter rises than the last time: the peer is to learn of it at once. [RFC 9768
    /// §3.2.3.3]
    pub fn count(&mut self, ecn: Ecn, bytes: u32) -> bool {
        let place = match ecn {
            Ecn::Ect1 => 0,
            Ecn::Ce => 1,
            Ecn::Ect0 => 2,
            Ecn::NotEct => return false,
        };
        if bytes == 0 {
            return false;
        }
        let before = self.counts[place];
        self.counts[place] = (before + bytes) & MASK;
        self.changed[place] = true;
        let changes = self.last.replace(place).is_some_and(|last| last != place);
        if changes {
            // The second option shows which of the two counters rises.
            self.due = 2;
        } else if ecn == Ecn::Ce || (before ^ self.counts[place]) >> EDGE != 0 {
            self.due = self.due.max(1);
        }
        changes
    }

    /// Takes note of an option of the peer.
    pub fn on_peer_option(&mut self) {
        self.peer_sends = true;
    }

    /// Takes note of data that arrives once more.
    pub fn on_duplicate(&mut self) {
        self.is_off |= self.with_duplicate && self.policy != AccEcnOption::Persist;
    }

    /// Bytes received so far, modulo 2^24.
    pub fn totals(&self) -> [u64; 3] {
        let [ect1, ce, ect0] = self.counts;
        [ect1.wrapping_sub(1) & MASK, ce, ect0.wrapping_sub(1) & MASK].map(u64::from)
    }

    /// Changes the policy.
    pub fn set_policy(&mut self, policy: AccEcnOption) {
        self.policy = policy;
    }

    fn is_active(&self) -> bool {
        self.policy != AccEcnOption::Off && self.peer_sends && !self.is_off
    }

    /// True if all data is to carry the option, so that payload leaves room for it.
    pub fn fills_data(&self) -> bool {
        self.is_active() && self.policy != AccEcnOption::Minimal
    }

    /// True if the next segment is to carry the option.
    pub fn is_due(&self, now: Time, srtt: Option<Duration>) -> bool {
        let has_paused = || srtt.is_some_and(|srtt| now.since(self.sent_at) * BEACON >= srtt);
        self.is_active() && (self.policy != AccEcnOption::Minimal || self.due > 0 || has_paused())
    }

    /// Number of counters up to the last one that changed, in an order.
    fn needed(&self, ect1_first: bool) -> usize {
        let place = |back: usize| if ect1_first { back } else { 2 - back };
        (0..3).rev().find(|&back| self.changed[place(back)]).map_or(0, |back| back + 1)
    }

    /// Places the option among `space` bytes with `blocks` SACK blocks: the blocks that stay, and the option. For counters
    /// that changed, one block of three or more gives way. [RFC 9768 §3.2.3.3]
    pub fn place(&self, space: u32, blocks: usize) -> (usize, Option<AccEcn>) {
        let has_news = self.changed.contains(&true);
        let fewest = if blocks > 2 && has_news { blocks - 1 } else { blocks };
        for kept in (fewest..=blocks).rev() {
            let room = space.saturating_sub(sack_bytes(kept));
            let Some(most) = (1..=3).rev().find(|&count| accecn_bytes(count) <= room) else { continue };
            let orders: &[bool] = if self.fixed_order { &[true] } else { &[true, false] };
            if let Some(&ect1_first) = orders.iter().find(|&&order| self.needed(order) <= most) {
                return (kept, Some(self.option(ect1_first, most)));
            }
        }
        (blocks, None)
    }

    fn option(&self, ect1_first: bool, count: usize) -> AccEcn {
        let [first, ce, last] = self.counts;
        let ordered = if ect1_first { [first, ce, last] } else { [last, ce, first] };
        AccEcn::new(ect1_first, &ordered[..count])
    }

    /// Takes note of an option sent, with a report of a duplicate or not.
    pub fn on_sent(&mut self, now: Time, option: &AccEcn, with_duplicate: bool) {
        for (changed, counter) in self.changed.iter_mut().zip(option.by_codepoint()) {
            *changed &= counter.is_none();
        }
        self.due = self.due.saturating_sub(1);
        self.with_duplicate = with_duplicate;
        self.sent_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(fixed_order: bool) -> ByteCounters {
        let mut counters = ByteCounters::new(AccEcnOption::Full, fixed_order);
        counters.on_peer_option();
        counters
    }

    /// Counters of the option that is placed, ECT(1), CE, ECT(0), and the SACK blocks with it.
    fn placed(counters: &ByteCounters, space: u32, blocks: usize) -> (usize, Option<[Option<u32>; 3]>) {
        let (blocks, option) = counters.place(space, blocks);
        (blocks, option.map(|option| option.by_codepoint()))
    }

    #[test]
    fn option_has_all_counters_that_fit() {
        let mut counters = counters(true);
        assert!(!counters.count(Ecn::Ect1, 1000));
        assert_eq!(placed(&counters, 12, 0), (0, Some([Some(1001), Some(0), Some(1)])));
        assert_eq!(placed(&counters, 11, 0), (0, Some([Some(1001), Some(0), None])));
        // Five bytes need eight, as options are aligned.
        assert_eq!(placed(&counters, 7, 0), (0, None));
        // With timestamps, 28 of 40 bytes are left: two blocks take 20.
        assert_eq!(placed(&counters, 28, 2), (2, Some([Some(1001), Some(0), None])));
        assert_eq!(placed(&counters, 28, 3), (2, Some([Some(1001), Some(0), None])), "a third block gives way");
        assert_eq!(placed(&counters, 40, 4), (3, Some([Some(1001), Some(0), Some(1)])));
    }

    #[test]
    fn order_follows_the_counter_that_changed() {
        for (fixed_order, expected) in [(true, (3, None)), (false, (2, Some([None, Some(0), Some(1001)])))] {
            let mut counters = counters(fixed_order);
            counters.count(Ecn::Ect0, 1000);
            assert_eq!(placed(&counters, 28, 3), expected);
        }
    }

    #[test]
    fn no_block_gives_way_to_counters_that_are_known() {
        let mut counters = counters(true);
        counters.count(Ecn::Ce, 10);
        let (_, option) = counters.place(40, 0);
        counters.on_sent(Time::ZERO, &option.unwrap(), false);
        assert_eq!(placed(&counters, 28, 3), (3, None));
    }

    #[test]
    fn minimal_option_follows_a_change_twice_and_then_beats() {
        let mut counters = counters(true);
        counters.set_policy(AccEcnOption::Minimal);
        let srtt = Some(Duration::from_millis(30));
        let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
        let send = |counters: &mut ByteCounters, now: Time| {
            let due = counters.is_due(now, srtt);
            if due {
                let (_, option) = counters.place(40, 0);
                counters.on_sent(now, &option.unwrap(), false);
            }
            due
        };
        counters.count(Ecn::Ect1, 100);
        assert_eq!([0, 1, 2, 10, 11].map(|ms| send(&mut counters, at(ms))), [true, true, false, false, true]);
        assert!(!counters.count(Ecn::Ect1, 100));
        assert!(!send(&mut counters, at(12)));
        assert!(counters.count(Ecn::Ce, 100), "another counter rises");
        assert_eq!([13, 14, 15].map(|ms| send(&mut counters, at(ms))), [true, true, false]);
    }

    #[test]
    fn counters_wrap_at_24_bits() {
        let mut counters = counters(true);
        counters.count(Ecn::Ect0, MASK);
        assert_eq!(placed(&counters, 12, 0).1, Some([Some(1), Some(0), Some(0)]));
    }

    #[test]
    fn option_that_seems_to_hinder_acks_ends() {
        // [RFC 9768 §3.2.3.2.2]
        for (policy, stays) in [(AccEcnOption::Full, false), (AccEcnOption::Persist, true)] {
            let mut counters = counters(true);
            counters.set_policy(policy);
            counters.on_duplicate();
            let (_, option) = counters.place(40, 1);
            counters.on_sent(Time::ZERO, &option.unwrap(), true);
            assert!(counters.is_due(Time::ZERO, None));
            counters.on_duplicate();
            assert_eq!(counters.is_due(Time::ZERO, None), stays);
        }
    }
}
