//! Contenders that do not wait with their lanes.

use std::vec::Drain;

use lasthop_units::{Duration, Time};

use super::lane::{LaneId, on_grid};
use crate::ids::FunctionId;

/// A contender that is kept apart from its lane until the medium turns busy again: a sender whose ACK timeout ends
/// sooner or later than the inter-frame space of the others, or a newcomer without a backoff. (The next frame is then
/// not the response that the sender waits for, so its wait is over [802.11-2020 §10.3.2.11].)
#[derive(Clone, Copy)]
pub(super) struct Apart {
    pub(super) function: FunctionId,
    pub(super) lane: LaneId,
    pub(super) remaining: u64,
    /// Slots to count if the medium turns busy before the newcomer can send.
    pub(super) if_interrupted: Option<u64>,
    pub(super) not_before: Time,
    /// Time at which counting starts or started in this idle period.
    pub(super) from: Time,
}

impl Apart {
    /// Slots still to count.
    pub(super) fn left(&self, now: Time, slot: Duration) -> u64 {
        self.remaining - self.remaining.min(if now > self.from { now.since(self.from).div_floor(slot) } else { 0 })
    }

    /// The same contender in another access class.
    pub(super) fn in_lane(self, lane: LaneId) -> Apart {
        Apart { lane, ..self }
    }

    /// Time at which its countdown ends, if the medium stays idle.
    pub(super) fn ends_at(&self, slot: Duration) -> Time {
        self.from + slot * self.remaining
    }
}

/// All such contenders of a view.
#[derive(Default)]
pub(super) struct AllApart {
    list: Vec<Apart>,
    /// The time at which the first countdown ends in this idle period; without meaning in an empty list.
    first_end: Time,
}

impl AllApart {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a contender that counts in this idle period.
    pub(super) fn add(&mut self, slot: Duration, one: Apart) {
        let end = one.ends_at(slot);
        self.first_end = if self.list.is_empty() { end } else { self.first_end.min(end) };
        self.list.push(one);
    }

    /// Adds a contender that counts once the medium is idle.
    pub(super) fn add_while_busy(&mut self, one: Apart) {
        self.list.push(one);
    }

    /// Starts counting on an idle medium: a lane counts from `base`.
    pub(super) fn start_counting(&mut self, slot: Duration, base: impl Fn(LaneId) -> Time) {
        for one in &mut self.list {
            one.from = on_grid(base(one.lane), slot, one.not_before);
        }
        self.find_first_end(slot);
    }

    /// The same for those that were added while no countdown could start.
    pub(super) fn start_new(&mut self, slot: Duration, base: impl Fn(LaneId) -> Time) {
        for one in self.list.iter_mut().filter(|one| one.from == Time::NEVER) {
            one.from = on_grid(base(one.lane), slot, one.not_before);
        }
        self.find_first_end(slot);
    }

    /// The time at which the first countdown ends, if the medium stays idle.
    #[inline(always)]
    pub(super) fn next_end(&self) -> Option<Time> {
        (!self.list.is_empty()).then_some(self.first_end)
    }

    /// The contender whose countdown has ended, and its place: of several, the function with the highest priority.
    pub(super) fn ended(&self, now: Time, slot: Duration) -> Option<(FunctionId, usize)> {
        let ended = self.list.iter().enumerate().filter(|(_, one)| one.ends_at(slot) <= now);
        ended.map(|(place, one)| (one.function, place)).min()
    }

    /// The entry of `function`, and its place.
    pub(super) fn find(&self, function: FunctionId) -> Option<(usize, &Apart)> {
        self.list.iter().enumerate().find(|(_, one)| one.function == function)
    }

    pub(super) fn remove(&mut self, place: usize, slot: Duration) {
        self.list.remove(place);
        self.find_first_end(slot);
    }

    /// Removes the entries that do not stay.
    pub(super) fn take_out(&mut self, slot: Duration, stays: impl FnMut(&Apart) -> bool) {
        let before = self.list.len();
        self.list.retain(stays);
        if self.list.len() < before {
            self.find_first_end(slot);
        }
    }

    /// Removes all entries.
    pub(super) fn drain(&mut self) -> Drain<'_, Apart> {
        self.list.drain(..)
    }

    fn find_first_end(&mut self, slot: Duration) {
        self.first_end = self.list.iter().map(|one| one.ends_at(slot)).min().unwrap_or(Time::NEVER);
    }
}
