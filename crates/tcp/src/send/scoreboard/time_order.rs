//! The order in which segments were sent last: a list through the segments themselves.
//!
//! Source: RFC 8985 §6.2; Linux uses such a list to keep the search short. It holds the segments neither SACKed nor
//! found lost by time; a retransmitted one comes in again, at the end. Indices are kept as their low 32 bits, which are
//! enough: no window has 2^32 segments.

use std::collections::VecDeque;

use lasthop_units::Time;

use super::sent::Outstanding;

/// The last-sent segment that has arrived. [RFC 8985 §6.1, RACK.segment]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Latest {
    pub sent_at: Time,
    pub end: u64,
}

impl Latest {
    /// True if it was sent after one sent at `sent_at` that ends at `end`. [RFC 8985 §6.2, RACK_sent_after]
    pub fn is_after(&self, sent_at: Time, end: u64) -> bool {
        (self.sent_at, self.end) > (sent_at, end)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TimeOrder {
    is_kept: bool,
    /// first and last, by the low half of their index
    ends: Option<(u32, u32)>,
    /// the last one sent before the latest arrival, as far as [`youngest_before`](Self::youngest_before) went
    boundary: Option<u32>,
}

fn place(index: u32, base: u64) -> usize {
    index.wrapping_sub(base as u32) as usize
}

impl TimeOrder {
    pub fn new(is_kept: bool) -> Self {
        TimeOrder { is_kept, ends: None, boundary: None }
    }

    /// Place of the segment sent first.
    pub fn first(&self, base: u64) -> Option<usize> {
        self.ends.map(|(first, _)| place(first, base))
    }

    /// Time of sending of the last one sent before `latest`. As `latest` only moves on, each segment is passed once.
    pub fn youngest_before(&mut self, segments: &VecDeque<Outstanding>, base: u64, latest: &Latest) -> Option<Time> {
        let (first, last) = self.ends?;
        let goes_before = |index: u32| {
            let segment = &segments[place(index, base)];
            latest.is_after(segment.sent_at, segment.end())
        };
        let mut at = match self.boundary {
            Some(boundary) => boundary,
            None if goes_before(first) => first,
            None => return None,
        };
        while at != last && goes_before(segments[place(at, base)].later) {
            at = segments[place(at, base)].later;
        }
        self.boundary = Some(at);
        Some(segments[place(at, base)].sent_at)
    }

    /// Appends the segment with this index.
    pub fn link(&mut self, segments: &mut VecDeque<Outstanding>, base: u64, index: u64) {
        if self.is_kept {
            let mut segment = segments[place(index as u32, base)];
            self.append(segments, base, index, &mut segment);
            segments[place(index as u32, base)] = segment;
        }
    }

    /// Appends a segment that is yet to be put at this index.
    #[inline]
    pub fn append(&mut self, segments: &mut VecDeque<Outstanding>, base: u64, index: u64, segment: &mut Outstanding) {
        if !self.is_kept {
            return;
        }
        let own = index as u32;
        let (first, earlier) = self.ends.unwrap_or((own, own));
        if self.ends.is_some() {
            segments[place(earlier, base)].later = own;
        }
        (segment.earlier, segment.later, segment.linked, segment.set_aside) = (earlier, own, true, false);
        self.ends = Some((first, own));
    }

    /// Takes the segment with this index out, if it is in.
    pub fn unlink(&mut self, segments: &mut VecDeque<Outstanding>, base: u64, index: u64) {
        let own = index as u32;
        let segment = &mut segments[place(own, base)];
        if !segment.linked {
            return;
        }
        segment.linked = false;
        if self.boundary == Some(own) {
            self.boundary = (segment.earlier != own).then_some(segment.earlier);
        }
        let (earlier, later) = (segment.earlier, segment.later);
        let (mut first, mut last) = self.ends.expect("a list with a segment in it has ends");
        match (earlier == own, later == own) {
            (true, true) => return self.ends = None,
            (true, false) => {
                first = later;
                segments[place(later, base)].earlier = later;
            }
            (false, true) => {
                last = earlier;
                segments[place(earlier, base)].later = earlier;
            }
            (false, false) => {
                segments[place(earlier, base)].later = later;
                segments[place(later, base)].earlier = earlier;
            }
        }
        self.ends = Some((first, last));
    }

    /// True if the segment with this index is the first in the list, or if no list is kept.
    #[inline(always)]
    pub fn begins_with(&self, index: u32) -> bool {
        !self.is_kept || self.ends.is_some_and(|(first, _)| first == index)
    }

    /// True if the segment with this index is in the list and the next segment follows it there, or none at all, or if
    /// no list is kept.
    #[inline(always)]
    pub fn has_in_line(&self, segment: &Outstanding, index: u32) -> bool {
        !self.is_kept || (segment.linked && segment.later.wrapping_sub(index) <= 1)
    }

    /// The first `count` are gone from the segments, up to the one with the index `first`; each was [in line](Self::has_in_line).
    #[inline(always)]
    pub fn forget_first(&mut self, segments: &mut VecDeque<Outstanding>, first: u32, count: u32) {
        let Some((_, last)) = self.ends else { return };
        let is_gone = |index: u32| first.wrapping_sub(index).wrapping_sub(1) < count;
        self.boundary = self.boundary.filter(|&boundary| !is_gone(boundary));
        if is_gone(last) {
            return self.ends = None;
        }
        segments[0].earlier = first;
        self.ends = Some((first, last));
    }

    /// Takes a segment out that a timeout has lost; it comes back if the timeout was spurious.
    pub fn set_aside(&mut self, segments: &mut VecDeque<Outstanding>, base: u64, index: u64) {
        let segment = &mut segments[place(index as u32, base)];
        segment.set_aside |= segment.linked;
        self.unlink(segments, base, index);
    }

    /// Puts all segments set aside back into their places.
    pub fn take_back(&mut self, segments: &mut VecDeque<Outstanding>, base: u64) {
        if segments.iter().any(|segment| segment.set_aside && !segment.reported) {
            self.relink(segments, base, |segment| segment.linked || (segment.set_aside && !segment.reported));
        }
    }

    /// Makes the list again of all that are not SACKed.
    pub fn rebuild(&mut self, segments: &mut VecDeque<Outstanding>, base: u64) {
        self.relink(segments, base, |segment| !segment.reported && (!segment.lost || segment.resent));
    }

    /// Makes the list again of the segments that `belongs` selects.
    fn relink(&mut self, segments: &mut VecDeque<Outstanding>, base: u64, belongs: impl Fn(&Outstanding) -> bool) {
        if !self.is_kept {
            return;
        }
        (self.ends, self.boundary) = (None, None);
        let mut order: Vec<(Time, u64)> = Vec::new();
        for (index, segment) in (base..).zip(segments.iter_mut()) {
            if belongs(segment) {
                order.push((segment.sent_at, index));
            }
            segment.linked = false;
        }
        order.sort_unstable();
        for (_, index) in order {
            self.link(segments, base, index);
        }
    }
}
