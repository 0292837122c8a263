//! PPDUs that an account receives as soon as they are prepared: some are sent a SIFS later.

use std::collections::VecDeque;

use lasthop_units::Time;

use crate::{FlowId, Start, Step};

/// A PPDU that comes on the air.
#[derive(Clone)]
pub(super) struct Announced {
    pub at: Time,
    pub start: Start,
    /// Content of one flow: bytes of data and of pure ACKs.
    pub first: Option<(FlowId, u32, u32)>,
    /// Content of other flows, then the nodes that notice it.
    pub more: Vec<Step>,
}

/// Future PPDUs, in the order of time.
#[derive(Clone)]
pub(super) struct Announcements {
    /// Start of the first one.
    next: Time,
    ppdus: VecDeque<Announced>,
    /// Index of the last one announced: its content and the nodes that notice it follow.
    last: usize,
    /// Lists for these, kept for reuse.
    spare: Vec<Vec<Step>>,
}

impl Announcements {
    pub fn none() -> Announcements {
        Announcements { next: Time::NEVER, ppdus: VecDeque::new(), last: 0, spare: Vec::new() }
    }

    /// Whether one starts at `at` or before.
    #[inline(always)]
    pub fn has_come(&self, at: Time) -> bool {
        self.next <= at
    }

    pub fn add(&mut self, at: Time, start: Start) {
        self.next = self.next.min(at);
        let ppdu = Announced { at, start, first: None, more: Vec::new() };
        if self.ppdus.back().is_none_or(|known| known.at <= at) {
            self.last = self.ppdus.len();
            return self.ppdus.push_back(ppdu);
        }
        self.last = self.ppdus.partition_point(|known| known.at <= at);
        self.ppdus.insert(self.last, ppdu);
    }

    /// Adds a step to the PPDU announced last.
    pub fn add_to_last(&mut self, step: Step) {
        let ppdu = &mut self.ppdus[self.last];
        match step {
            Step::Carries { flow, data_bytes, ack_bytes, .. } if ppdu.first.is_none() => {
                ppdu.first = Some((flow, data_bytes, ack_bytes));
            }
            _ => {
                if ppdu.more.capacity() == 0 {
                    ppdu.more = self.spare.pop().unwrap_or_default();
                }
                ppdu.more.push(step);
            }
        }
    }

    /// Removes and returns the next one; steps of any other may no longer follow.
    pub fn take(&mut self) -> Option<Announced> {
        let taken = self.ppdus.pop_front();
        self.next = self.ppdus.front().map_or(Time::NEVER, |ppdu| ppdu.at);
        taken
    }

    /// Takes back a list that is no longer needed.
    pub fn put_by(&mut self, mut list: Vec<Step>) {
        if list.capacity() > 0 {
            list.clear();
            self.spare.push(list);
        }
    }
}
