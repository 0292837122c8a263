//! The data sent and not acknowledged, segment by segment.
//!
//! ```text
//!   una                                                                    nxt
//!    │ S  x  R  x  R  S  S  .  .   .   S   .   S   S  .  .  .  .  .  .  .  . │
//!    S SACKed   x lost   R lost, retransmitted   . in flight
//! ```
//! Three rules find losses. By count [RFC 6675 §4, `IsLost`]: `threshold` segments are SACKed above, where the RFC
//! takes either that many separate runs or that many full segments' bytes; the two differ only for segments below the
//! full size. By time [RFC 8985 §6.2]: a segment sent later has arrived ([`time_order`]). By distance, between the two,
//! as in forward acknowledgements [Mathis, Mahdavi 1996]; retransmissions are then judged separately ([`resends`]).
//!
//! The sums of bytes and of segments are kept, so that no acknowledgement scans the window: the mark of the first rule
//! only moves up, the second walks a list in the order of sending that ends at the first segment too young.
//!
//! A timeout loses all segments that are not SACKed. Reports are kept over a timeout, as in Linux, unless the receiver
//! has plainly dropped reported data [RFC 2018 §8].

use std::collections::VecDeque;

use lasthop_units::Time;

use crate::config::LossDetection;
use crate::ranges::{Range, RangeSet};

mod delivered;
mod resends;
mod sent;
mod time_order;

pub(crate) use delivered::{Credible, Delivered};
use resends::Resends;
use sent::Outstanding;
pub(crate) use sent::{Content, Sent, Stamp};
pub(crate) use time_order::Latest;
use time_order::TimeOrder;

/// A sum in segments and in payload bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    segments: u32,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, segment: &Outstanding) {
        self.segments += 1;
        self.bytes += u64::from(segment.payload());
    }
    fn remove(&mut self, segment: &Outstanding) {
        self.segments -= 1;
        self.bytes -= u64::from(segment.payload());
    }
}

/// The scoreboard. Offsets are stream offsets; `u64` indices count segments since the start.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Outstanding>,
    /// their stamps, if kept: one for each segment, or none at all
    stamps: VecDeque<Stamp>,
    /// index of the first in `segments`
    base: u64,
    una: u64,
    nxt: u64,
    /// ranges that SACK has reported, to skip known ones
    reports: RangeSet,
    /// all below is lost by the first rule
    lost_below: u64,
    /// reported segments from `lost_below` on
    reported_above: u32,
    /// all below this one are SACKed or retransmitted
    resend_from: u64,
    /// nothing below this one is lost and not retransmitted
    lost_from: u64,
    outstanding_bytes: u64,
    reported: Sum,
    lost: Sum,
    resent: Sum,
    /// segments that are lost and not retransmitted
    to_resend: u32,
    /// segments found lost since the start, each time counted
    total_lost: u64,
    order: TimeOrder,
    resends: Resends,
}

impl Scoreboard {
    /// A scoreboard that keeps the state for `detection`; loss by count can always be found.
    pub fn new(detection: LossDetection) -> Self {
        Scoreboard {
            segments: VecDeque::new(),
            stamps: VecDeque::new(),
            base: 0,
            una: 0,
            nxt: 0,
            reports: RangeSet::default(),
            lost_below: 0,
            reported_above: 0,
            resend_from: 0,
            lost_from: 0,
            outstanding_bytes: 0,
            reported: Sum::default(),
            lost: Sum::default(),
            resent: Sum::default(),
            to_resend: 0,
            total_lost: 0,
            order: TimeOrder::new(detection == LossDetection::Rack),
            resends: Resends::new(detection == LossDetection::Fack),
        }
    }

    /// SND.UNA: the oldest offset not acknowledged.
    pub fn una(&self) -> u64 {
        self.una
    }
    /// SND.NXT: the next offset to send for the first time.
    pub fn nxt(&self) -> u64 {
        self.nxt
    }
    /// True if nothing awaits an acknowledgement.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }
    /// Segments sent and not acknowledged.
    pub fn count(&self) -> u32 {
        self.segments.len() as u32
    }
    /// Outstanding segments that are SACKed.
    pub fn reported_segments(&self) -> u32 {
        self.reported.segments
    }
    /// Outstanding segments that are lost.
    pub fn lost_segments(&self) -> u32 {
        self.lost.segments
    }
    /// Retransmissions in flight.
    pub fn resent_segments(&self) -> u32 {
        self.resent.segments
    }
    /// Segments found lost since the start; one lost twice counts twice.
    pub fn total_lost(&self) -> u64 {
        self.total_lost
    }
    /// Payload bytes sent and not acknowledged: FlightSize. [RFC 5681 §2]
    pub fn outstanding_bytes(&self) -> u64 {
        self.outstanding_bytes
    }
    /// Payload bytes thought to be in the network. [RFC 6675 §4]
    pub fn pipe_bytes(&self) -> u64 {
        self.outstanding_bytes - self.reported.bytes - self.lost.bytes + self.resent.bytes
    }
    /// Segments thought to be in the network.
    pub fn pipe_segments(&self) -> u32 {
        self.count() - self.reported.segments - self.lost.segments + self.resent.segments
    }
    /// The oldest segment.
    pub fn head(&self) -> Option<&Outstanding> {
        self.segments.front()
    }
    /// The segment that contains `offset`.
    pub fn at(&self, offset: u64) -> Option<&Outstanding> {
        let is_out = self.una <= offset && offset < self.nxt;
        is_out.then(|| &self.segments[self.place_of(offset)])
    }
    /// True if the oldest segment is lost.
    pub fn head_is_lost(&self) -> bool {
        self.head().is_some_and(|head| head.lost)
    }
    /// End of the highest SACKed segment; SND.UNA if there is none.
    pub fn highest_report(&self) -> u64 {
        self.reports.last().filter(|_| self.reported.segments > 0).map_or(self.una, |last| last.end)
    }
    fn end_index(&self) -> u64 {
        self.base + self.segments.len() as u64
    }

    /// Adds a segment sent for the first time.
    pub fn push(&mut self, now: Time, length: u32, content: Content, stamp: Option<Stamp>) -> Sent {
        let mut outstanding = Outstanding::new(self.nxt, now, length, content);
        let index = self.end_index();
        self.order.append(&mut self.segments, self.base, index, &mut outstanding);
        let sent = outstanding.brief();
        self.nxt = outstanding.end();
        self.outstanding_bytes += u64::from(outstanding.payload());
        self.segments.push_back(outstanding);
        if let Some(stamp) = stamp {
            self.stamps.push_back(stamp);
        }
        sent
    }

    /// Takes off all below `ack`, which lies between SND.UNA and SND.NXT.
    pub fn acknowledge(&mut self, ack: u64, delivered: &mut Delivered) {
        assert!(self.una <= ack && ack <= self.nxt, "an acknowledgement of {ack} outside {}..={}", self.una, self.nxt);
        self.acknowledge_originals(ack, delivered);
        self.acknowledge_each(ack, delivered);
    }

    /// As [`acknowledge`](Self::acknowledge), one segment after another.
    fn acknowledge_each(&mut self, ack: u64, delivered: &mut Delivered) {
        while self.segments.front().is_some_and(|head| head.end() <= ack) {
            self.order.unlink(&mut self.segments, self.base, self.base);
            let Some(head) = self.segments.pop_front() else { break };
            delivered.acknowledge(&head, self.stamps.front());
            self.stamps.pop_front();
            self.outstanding_bytes -= u64::from(head.payload());
            if head.reported || head.lost || head.resent {
                self.forget(&head);
            }
            self.on_head_gone(head.reported);
        }
        if let Some(head) = self.segments.front().copied().filter(|head| head.start < ack) {
            self.acknowledge_part(&head, ack, delivered);
        }
        self.una = ack;
        if !self.reports.is_empty() {
            self.reports.remove_below(ack);
        }
    }

    /// Takes off the segments at the head that were sent once, in order, and neither SACKed nor lost: all of them,
    /// where nothing is wrong. The first and the last of such a run are enough.
    #[inline(always)]
    fn acknowledge_originals(&mut self, ack: u64, delivered: &mut Delivered) {
        if delivered.new_segments > 0 || !self.order.begins_with(self.base as u32) {
            return;
        }
        let mut index = self.base as u32;
        let originals = self.segments.iter().take_while(|segment| {
            let is_next = segment.end() <= ack && segment.is_plain() && self.order.has_in_line(segment, index);
            index = index.wrapping_add(1);
            is_next
        });
        let count = originals.count();
        let Some(last) = count.checked_sub(1).map(|last| self.segments[last]) else { return };
        delivered.acknowledge_originals(count as u32, &self.segments[0], &last, self.stamps.get(count - 1));
        self.outstanding_bytes -= last.end() - self.segments[0].start;
        self.segments.drain(..count);
        if !self.stamps.is_empty() {
            self.stamps.drain(..count);
        }
        self.base += count as u64;
        self.order.forget_first(&mut self.segments, self.base as u32, count as u32);
        self.lost_below = self.lost_below.max(self.base);
        self.resend_from = self.resend_from.max(self.base);
        self.lost_from = self.lost_from.max(self.base);
    }

    /// A part of the head: bytes, but not yet a segment.
    fn acknowledge_part(&mut self, head: &Outstanding, ack: u64, delivered: &mut Delivered) {
        self.forget(head);
        let part = (ack - head.start) as u32;
        delivered.acknowledge_part(head, part);
        self.outstanding_bytes -= u64::from(part);
        let rest = Outstanding { start: ack, length: head.length - part, ..*head };
        self.segments[0] = rest;
        self.to_resend += u32::from(rest.lost && !rest.resent);
        for (holds, sum) in
            [(rest.reported, &mut self.reported), (rest.lost, &mut self.lost), (rest.resent, &mut self.resent)]
        {
            if holds {
                sum.add(&rest);
            }
        }
    }

    /// Takes a segment out of the sums.
    fn forget(&mut self, segment: &Outstanding) {
        if segment.reported {
            self.reported.remove(segment);
        }
        if segment.lost {
            self.lost.remove(segment);
            self.to_resend -= u32::from(!segment.resent);
        }
        if segment.resent {
            self.resent.remove(segment);
        }
    }

    /// Keeps the marks at or above the head.
    fn on_head_gone(&mut self, was_reported: bool) {
        if self.base == self.lost_below {
            self.lost_below += 1;
            self.reported_above -= u32::from(was_reported);
        }
        self.base += 1;
        self.resend_from = self.resend_from.max(self.base);
        self.lost_from = self.lost_from.max(self.base);
    }

    /// Takes in one SACK block; adds newly SACKed segments to `delivered`.
    pub fn report(&mut self, block: Range, delivered: &mut Delivered) {
        let block = Range { start: block.start.max(self.una), end: block.end.min(self.nxt) };
        if block.start >= block.end {
            return;
        }
        let highest = self.highest_report();
        let mut span: Option<Range> = None;
        let merged =
            self.reports.insert(block, |gap| span = Some(Range { start: span.map_or(gap.start, |s| s.start), ..gap }));
        let Some(span) = span else { return };
        let mut place = self.place_of(span.start);
        while let Some(segment) = self.segments.get(place).copied().filter(|segment| segment.start < span.end) {
            if !segment.reported && merged.start <= segment.start && segment.end() <= merged.end {
                delivered.report(&segment, self.stamps.get(place), highest);
                self.mark_reported(place);
            }
            place += 1;
        }
    }

    /// Place in `segments` of the segment that contains `offset`.
    fn place_of(&self, offset: u64) -> usize {
        let full = u64::from(self.segments[0].length).max(1);
        let guess = ((offset - self.una) / full) as usize;
        match self.segments.get(guess) {
            Some(segment) if segment.start <= offset && offset < segment.end() => guess,
            _ => self.segments.partition_point(|segment| segment.end() <= offset),
        }
    }

    fn mark_reported(&mut self, place: usize) {
        let index = self.base + place as u64;
        self.order.unlink(&mut self.segments, self.base, index);
        let before = self.segments[place];
        self.forget(&before);
        let segment = &mut self.segments[place];
        segment.reported = true;
        segment.lost = false;
        segment.resent = false;
        let now = *segment;
        self.reported.add(&now);
        self.reported_above += u32::from(index >= self.lost_below);
    }

    /// Marks the segment at `place` as lost, or its retransmission.
    fn lose(&mut self, place: usize) {
        let segment = self.segments[place];
        let is_news = !segment.reported && (!segment.lost || segment.resent);
        if !is_news {
            return;
        }
        self.forget(&segment);
        self.segments[place].lost = true;
        self.segments[place].resent = false;
        self.lost.add(&segment);
        self.to_resend += 1;
        self.total_lost += 1;
        self.lost_from = self.lost_from.min(self.base + place as u64);
    }

    /// Loss by count: moves the mark up while `threshold` segments are reported above it. [RFC 6675 §4, IsLost]
    pub fn detect_by_count(&mut self, threshold: u32) {
        while self.reported_above >= threshold {
            let place = (self.lost_below - self.base) as usize;
            let segment = self.segments[place];
            if segment.reported && self.reported_above == threshold {
                return;
            }
            self.raise_lost_below(place);
        }
    }

    /// Loss by distance: segments that lie `threshold` or more below the highest SACKed one are lost, as in forward
    /// acknowledgements. [Mathis, Mahdavi 1996]
    pub fn detect_by_distance(&mut self, threshold: u32) {
        if self.reported.segments == 0 {
            return;
        }
        let Some(highest) = self.reports.last() else { return };
        let first_safe = self.base + (self.place_of(highest.end - 1) as u64 + 1).saturating_sub(u64::from(threshold));
        while self.lost_below < first_safe {
            self.raise_lost_below((self.lost_below - self.base) as usize);
        }
    }

    /// Loss of retransmissions by distance: data is SACKed that was sent for the first time after the retransmission.
    /// [Mathis, Mahdavi 1996]
    pub fn detect_resends_by_distance(&mut self) {
        let highest = self.highest_report();
        while let Some(index) = self.resends.overtaken(highest) {
            if index >= self.base && self.segments[(index - self.base) as usize].resent {
                self.lose((index - self.base) as usize);
            }
        }
    }

    fn raise_lost_below(&mut self, place: usize) {
        let segment = self.segments[place];
        self.reported_above -= u32::from(segment.reported);
        if !segment.lost {
            self.lose(place);
            // It was retransmitted as a hole, before it was found lost.
            if segment.resent {
                self.segments[place].resent = true;
                self.resent.add(&segment);
                self.to_resend -= 1;
            }
        }
        self.lost_below += 1;
    }

    /// Loss by time: all segments sent before `latest` whose time of sending `is_late`. Returns the time of sending of
    /// the youngest that was sent before `latest` and is not late yet.
    pub fn detect_by_time(&mut self, latest: &Latest, is_late: impl Fn(Time) -> bool) -> Option<Time> {
        while let Some(place) = self.order.first(self.base) {
            let segment = &self.segments[place];
            if !latest.is_after(segment.sent_at, segment.end()) || !is_late(segment.sent_at) {
                break;
            }
            self.lose(place);
            self.order.unlink(&mut self.segments, self.base, self.base + place as u64);
        }
        self.order.youngest_before(&self.segments, self.base, latest)
    }

    /// Marks the oldest segment as lost, whatever SACK reports, if it was not before.
    pub fn lose_head(&mut self) {
        if self.head().is_some_and(|head| !head.lost) {
            self.lose(0);
        }
    }

    /// Marks losses after a timeout: the oldest segment, its retransmission included, and all that are not SACKed and
    /// `is_late`. If the receiver's report of the oldest was void, its reports are forgotten.
    pub fn lose_after_timeout(&mut self, is_late: impl Fn(&Outstanding) -> bool) {
        if self.head().is_some_and(|head| head.reported) {
            self.forget_reports();
        }
        for place in 0..self.segments.len() {
            if place == 0 || is_late(&self.segments[place]) {
                self.lose(place);
                self.order.set_aside(&mut self.segments, self.base, self.base + place as u64);
            }
        }
        self.resends.clear();
        self.lost_below = self.end_index();
        self.reported_above = 0;
        self.resend_from = self.base;
    }

    fn forget_reports(&mut self) {
        self.reports.clear();
        self.reported = Sum::default();
        for segment in &mut self.segments {
            segment.reported = false;
        }
        self.order.rebuild(&mut self.segments, self.base);
    }

    /// Marks nothing as lost. Segments found lost by time are not looked for again, as in Linux: only a timeout finds
    /// them then.
    pub fn unlose_all(&mut self) {
        self.lost = Sum::default();
        self.to_resend = 0;
        for segment in &mut self.segments {
            segment.lost = false;
        }
        self.order.take_back(&mut self.segments, self.base);
    }

    /// True if a lost segment is not retransmitted.
    pub fn has_to_resend(&self) -> bool {
        self.to_resend > 0
    }

    /// The oldest lost segment that is not in flight again. [RFC 6675 §4, NextSeg (1)]
    pub fn next_lost(&mut self) -> Option<Sent> {
        if self.to_resend == 0 {
            return None;
        }
        loop {
            let segment = self.segments.get((self.lost_from - self.base) as usize)?;
            if segment.lost && !segment.resent {
                return Some(segment.brief());
            }
            self.lost_from += 1;
        }
    }

    /// The oldest hole below SACKed data that is not in flight again. [RFC 6675 §4, NextSeg (3)]
    pub fn next_hole(&mut self) -> Option<Sent> {
        let highest = self.reports.last()?.end;
        loop {
            let segment = self.segments.get((self.resend_from - self.base) as usize)?;
            if !segment.reported && !segment.resent {
                return (segment.start < highest).then_some(segment.brief());
            }
            self.resend_from += 1;
        }
    }

    /// Notes the retransmission of `segment`, which came from `next_lost` or `next_hole`.
    pub fn resend(&mut self, now: Time, segment: &Sent, stamp: Option<Stamp>) -> Sent {
        let place = self.place_of(segment.start);
        self.resend_at(place, now, stamp)
    }

    /// Place of the newest segment that is not SACKed, if it is not in flight again. [RFC 6675 §4, NextSeg (4)]
    pub fn newest_hole(&self) -> Option<usize> {
        let place = self.segments.iter().rposition(|segment| !segment.reported)?;
        (!self.segments[place].resent).then_some(place)
    }

    /// Retransmits the newest hole.
    pub fn resend_newest(&mut self, now: Time, stamp: Option<Stamp>) -> Sent {
        let place = self.newest_hole().expect("chosen only where there is one");
        self.resend_at(place, now, stamp)
    }

    fn resend_at(&mut self, place: usize, now: Time, stamp: Option<Stamp>) -> Sent {
        let segment = &mut self.segments[place];
        if !core::mem::replace(&mut segment.resent, true) {
            self.to_resend -= u32::from(segment.lost);
            self.resent.add(segment);
            self.resends.push(self.base, place, self.nxt);
        }
        self.touch(place, now, stamp)
    }

    /// Retransmits the newest segment as a probe, which does not count as a retransmission in flight. [RFC 8985 §7.3]
    pub fn probe_newest(&mut self, now: Time, stamp: Option<Stamp>) -> Sent {
        self.touch(self.segments.len() - 1, now, stamp)
    }

    /// Updates the segment at `place` when it is retransmitted.
    fn touch(&mut self, place: usize, now: Time, stamp: Option<Stamp>) -> Sent {
        let index = self.base + place as u64;
        let segment = &mut self.segments[place];
        segment.retransmitted = true;
        segment.sent_at = now;
        if let (Some(place), Some(stamp)) = (self.stamps.get_mut(place), stamp) {
            *place = stamp;
        }
        if !segment.reported {
            self.order.unlink(&mut self.segments, self.base, index);
            self.order.link(&mut self.segments, self.base, index);
        }
        self.segments[place].brief()
    }

    /// True if `segment` is the oldest outstanding.
    pub fn is_head(&self, segment: &Sent) -> bool {
        segment.start == self.una
    }
}

#[cfg(test)]
mod tests;
