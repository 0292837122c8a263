//! PPDUs of which an account is told as soon as they are prepared: some come on the air a SIFS later.

use std::collections::VecDeque;

use lasthop_units::Time;

use crate::{FlowId, Start, Step};

/// A PPDU that comes on the air.
#[derive(Clone)]
pub(super) struct Announced {
    pub at: Time,
    pub start: Start,
    /// What it carries of one flow: bytes of data and of pure ACKs.
    pub first: Option<(FlowId, u32, u32)>,
    /// What it carries of others, then who notices it.
    pub more: Vec<Step>,
}

/// Those that are still to come, in the order of time.
#[derive(Clone)]
pub(super) struct Announcements {
    /// When the first comes on the air.
    next: Time,
    ppdus: VecDeque<Announced>,
    /// The place of the last that was told of: what it carries and who notices it comes next.
    last: usize,
    /// Lists for that, to be used again.
    spare: Vec<Vec<Step>>,
}

impl Announcements {
    pub fn none() -> Announcements {
        Announcements { next: Time::NEVER, ppdus: VecDeque::new(), last: 0, spare: Vec::new() }
    }

    /// Whether one comes on the air at `at` or before.
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

    /// Takes what belongs to the PPDU that was told of last.
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

    /// The next, which is taken out; what belongs to another may not be told any more.
    pub fn take(&mut self) -> Option<Announced> {
        let taken = self.ppdus.pop_front();
        self.next = self.ppdus.front().map_or(Time::NEVER, |ppdu| ppdu.at);
        taken
    }

    /// A list that was taken is not needed any more.
    pub fn put_by(&mut self, mut list: Vec<Step>) {
        if list.capacity() > 0 {
            list.clear();
            self.spare.push(list);
        }
    }
}
