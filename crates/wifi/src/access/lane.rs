//! Access classes, and how they count slots on the grid that all stations with one view share.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use lasthop_units::{Duration, Time};

use crate::ids::FunctionId;

/// A frame that was not answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unanswered {
    pub by: FunctionId,
    pub ended: Time,
    /// The time at which the sender stopped waiting for the response.
    pub timeout: Time,
}

/// Inter-frame spaces and the slot of a view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spaces {
    pub slot: Duration,
    pub difs: Duration,
}

/// An access class: the start of its countdown, and the meaning of a busy slot for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneKind {
    /// Slots after DIFS at which counting starts: AIFSN - 2.
    pub offset: i64,
    /// True if the slot in which the medium turns busy is counted.
    pub counts_busy_slot: bool,
}

/// The index of an access class in a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneId(pub usize);

pub(super) struct Lane {
    pub(super) kind: LaneKind,
    /// Slots counted so far, up to the last busy period.
    pub(super) slots: u64,
    /// (count of slots at which the backoff ends, contender)
    pub(super) contenders: BinaryHeap<Reverse<(u64, FunctionId)>>,
}

impl Lane {
    /// The time at which a backoff ends with the count `key`, if a lane without offset counts from `base` on.
    pub(super) fn ends_at(&self, base: Time, key: u64, slot: Duration) -> Time {
        shifted(base, slot, self.kind.offset) + slot * key.saturating_sub(self.slots)
    }

    /// Passes contenders that cannot know in time that the medium is busy `now`, when `counted` slots have passed, to
    /// `commit` with their boundaries; `base` as in [`ends_at`](Self::ends_at). Functions of the sender, `own`, whose
    /// boundary is still to come do know: they send when the medium is idle again.
    #[inline(never)]
    pub(super) fn commit_ended(
        &mut self,
        now: Time,
        base: Time,
        slot: Duration,
        counted: u64,
        own: &Range<u32>,
        commit: &mut impl FnMut(FunctionId, Time),
    ) {
        let mut waiting = [None; 4];
        let mut kept = 0;
        while let Some(&Reverse((key, function))) = self.contenders.peek() {
            let end = self.ends_at(base, key, slot);
            if end >= now + slot {
                break;
            }
            self.contenders.pop();
            if end > now && own.contains(&function.0) {
                waiting[kept] = Some(function);
                kept += 1;
            } else {
                commit(function, end.max(now));
            }
        }
        for function in waiting.iter_mut().filter_map(Option::take) {
            self.contenders.push(Reverse((self.slots + counted, function)));
        }
    }
}

impl LaneKind {
    /// The class of an access category with this AIFSN.
    pub(crate) fn of_edca(aifsn: u8) -> LaneKind {
        LaneKind { offset: i64::from(aifsn) - 2, counts_busy_slot: true }
    }

    /// Slots counted from `from` on by a contender that finds the medium busy one slot after `now`.
    pub(super) fn counted(self, from: Time, now: Time, slot: Duration) -> u64 {
        if self.counts_busy_slot { (now + slot).since(from).div_ceil(slot) } else { now.since(from).div_ceil(slot) }
    }

    /// The slots counted from the start of its own countdown on, where `passed` boundaries lie between the end of DIFS,
    /// or of EIFS, and the busy medium; `passed` is negative if the medium turned busy before.
    pub(super) fn counted_of(self, passed: i64) -> u64 {
        (passed - self.offset + i64::from(self.counts_busy_slot)).max(0) as u64
    }
}

/// The first instant at or after `at` on the grid `base + k * slot`.
pub(super) fn on_grid(base: Time, slot: Duration, at: Time) -> Time {
    base + slot * at.since(base).div_ceil(slot)
}

/// Boundaries of the grid `base + k * slot` from `base` to `at`, which itself does not count; negative if `base` comes
/// later.
pub(super) fn boundaries(base: Time, at: Time, slot: Duration) -> i64 {
    if at >= base { at.since(base).div_ceil(slot) as i64 } else { -(base.since(at).div_floor(slot) as i64) }
}

/// `at` moved by a signed number of slots.
pub(super) fn shifted(at: Time, slot: Duration, slots: i64) -> Time {
    if slots >= 0 { at + slot * slots as u64 } else { at - slot * slots.unsigned_abs() }
}
