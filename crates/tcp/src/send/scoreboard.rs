//! What has been sent and not acknowledged, segment by segment.
//!
//! Source: RFC 6675, with the count of segments for its test of loss (`IsLost`: `duplicate_ack_threshold`
//! segments reported above), where the RFC takes either that many separate runs or that many full
//! segments' bytes; the two differ only for segments below the full size.
//!
//! ```text
//!   una                  lost_below                                        nxt
//!    │ S  x  x  R  x  S  S │  .   .   S   .   S   S  .  .  .  .  .  .  .  . │
//!    S reported by SACK   x lost: not reported, below lost_below   R retransmitted
//! ```
//! All that lies below `lost_below` and is not reported is lost, and `lost_below` only moves up, so that each
//! segment is looked at a fixed number of times, however long the window. `pipe` [RFC 6675 §4] is a sum that is kept.
//!
//! A timeout loses all that is not reported. Reports are kept over a timeout, as Linux does, unless the
//! receiver has plainly dropped what it reported [RFC 2018 §8].

use std::collections::VecDeque;

use lasthop_units::Time;

use crate::ranges::{Range, RangeSet};

/// What one segment carries beside payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Data,
    Syn,
    /// payload, perhaps none, and a FIN
    Fin,
}

/// One segment, as it was sent first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub start: u64,
    pub sent_at: Time,
    /// sequence numbers taken
    pub length: u32,
    pub content: Content,
    reported: bool,
    /// sent more than once
    pub retransmitted: bool,
    /// the retransmission is in flight
    resent: bool,
}

impl Sent {
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }
    pub fn payload(&self) -> u32 {
        self.length - u32::from(self.content != Content::Data)
    }
}

/// What an acknowledgement took off the scoreboard, or a report added to it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    /// segments, in whole
    pub segments: u32,
    /// payload bytes
    pub bytes: u64,
    /// payload bytes that no report had covered
    pub new_bytes: u64,
    /// something that was sent more than once is among what is new
    pub retransmitted: bool,
    /// when the oldest and the newest were sent that are new and were sent only once
    pub oldest_sent: Option<Time>,
    pub newest_sent: Option<Time>,
    /// a SYN or a FIN is among it
    pub syn: bool,
    pub fin: bool,
}

impl Delivered {
    fn add_new(&mut self, segment: &Sent) {
        self.new_bytes += u64::from(segment.payload());
        if segment.retransmitted {
            self.retransmitted = true;
            return;
        }
        self.oldest_sent = self.oldest_sent.or(Some(segment.sent_at));
        self.newest_sent = self.newest_sent.max(Some(segment.sent_at));
    }
}

/// The scoreboard. Offsets are stream offsets; `u64` indices count segments since the start.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Sent>,
    /// index of the first in `segments`
    base: u64,
    una: u64,
    nxt: u64,
    threshold: u32,
    /// what SACK has reported, to skip what is known
    reports: RangeSet,
    lost_below: u64,
    /// reported segments from `lost_below` on
    reported_above: u32,
    /// all below this one are reported or resent
    resend_from: u64,
    outstanding_bytes: u64,
    reported_bytes: u64,
    lost_bytes: u64,
    resent_bytes: u64,
}

impl Scoreboard {
    pub fn new(threshold: u32) -> Self {
        Scoreboard {
            segments: VecDeque::new(),
            base: 0,
            una: 0,
            nxt: 0,
            threshold,
            reports: RangeSet::default(),
            lost_below: 0,
            reported_above: 0,
            resend_from: 0,
            outstanding_bytes: 0,
            reported_bytes: 0,
            lost_bytes: 0,
            resent_bytes: 0,
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
    /// Nothing awaits an acknowledgement.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }
    /// Segments sent and not acknowledged.
    pub fn count(&self) -> u32 {
        self.segments.len() as u32
    }
    /// Payload bytes sent and not acknowledged: FlightSize. [RFC 5681 §2]
    pub fn outstanding_bytes(&self) -> u64 {
        self.outstanding_bytes
    }
    /// Payload bytes thought to be in the network. [RFC 6675 §4]
    pub fn pipe_bytes(&self) -> u64 {
        self.outstanding_bytes - self.reported_bytes - self.lost_bytes + self.resent_bytes
    }
    /// The oldest segment is lost, as far as reports tell.
    pub fn head_is_lost(&self) -> bool {
        self.lost_below > self.base
    }
    fn end_index(&self) -> u64 {
        self.base + self.segments.len() as u64
    }

    /// Adds a segment sent for the first time.
    pub fn push(&mut self, now: Time, length: u32, content: Content) -> Sent {
        let sent = Sent {
            start: self.nxt,
            sent_at: now,
            length,
            content,
            reported: false,
            retransmitted: false,
            resent: false,
        };
        self.nxt = sent.end();
        self.outstanding_bytes += u64::from(sent.payload());
        self.segments.push_back(sent);
        sent
    }

    /// Takes off all below `ack`, which lies between SND.UNA and SND.NXT.
    pub fn acknowledge(&mut self, ack: u64) -> Delivered {
        assert!(self.una <= ack && ack <= self.nxt, "an acknowledgement of {ack} outside {}..={}", self.una, self.nxt);
        let mut delivered = Delivered::default();
        while let Some(head) = self.segments.front().copied().filter(|head| head.end() <= ack) {
            self.forget_head(&head, head.payload(), &mut delivered);
            delivered.segments += 1;
            delivered.syn |= head.content == Content::Syn;
            delivered.fin |= head.content == Content::Fin;
            self.segments.pop_front();
            self.on_head_gone(head.reported);
        }
        if let Some(head) = self.segments.front().copied().filter(|head| head.start < ack) {
            let part = (ack - head.start) as u32;
            self.forget_head(&head, part, &mut delivered);
            let head = &mut self.segments[0];
            head.start = ack;
            head.length -= part;
        }
        self.una = ack;
        if !self.reports.is_empty() {
            self.reports.remove_below(ack);
        }
        delivered
    }

    /// Takes `payload` bytes of the head out of the sums.
    fn forget_head(&mut self, head: &Sent, payload: u32, delivered: &mut Delivered) {
        let bytes = u64::from(payload);
        self.outstanding_bytes -= bytes;
        delivered.bytes += bytes;
        if head.reported {
            self.reported_bytes -= bytes;
            return;
        }
        delivered.add_new(&Sent { length: payload, content: Content::Data, ..*head });
        if self.base < self.lost_below {
            self.lost_bytes -= bytes;
        }
        if head.resent {
            self.resent_bytes -= bytes;
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
    }

    /// Takes in one SACK block; what it newly reports is added to `delivered`.
    pub fn report(&mut self, block: Range, delivered: &mut Delivered) {
        let block = Range { start: block.start.max(self.una), end: block.end.min(self.nxt) };
        if block.start >= block.end {
            return;
        }
        let mut span: Option<Range> = None;
        let merged =
            self.reports.insert(block, |gap| span = Some(Range { start: span.map_or(gap.start, |s| s.start), ..gap }));
        let Some(span) = span else { return };
        let mut place = self.place_of(span.start);
        while let Some(segment) = self.segments.get(place).copied().filter(|segment| segment.start < span.end) {
            if !segment.reported && merged.start <= segment.start && segment.end() <= merged.end {
                self.mark_reported(place, delivered);
            }
            place += 1;
        }
        self.advance_lost_below();
    }

    /// Place in `segments` of the one that contains `offset`.
    fn place_of(&self, offset: u64) -> usize {
        let full = u64::from(self.segments[0].length).max(1);
        let guess = ((offset - self.una) / full) as usize;
        match self.segments.get(guess) {
            Some(segment) if segment.start <= offset && offset < segment.end() => guess,
            _ => self.segments.partition_point(|segment| segment.end() <= offset),
        }
    }

    fn mark_reported(&mut self, place: usize, delivered: &mut Delivered) {
        let index = self.base + place as u64;
        let segment = &mut self.segments[place];
        let bytes = u64::from(segment.payload());
        delivered.add_new(segment);
        segment.reported = true;
        self.reported_bytes += bytes;
        if segment.resent {
            segment.resent = false;
            self.resent_bytes -= bytes;
        }
        if index < self.lost_below {
            self.lost_bytes -= bytes;
        } else {
            self.reported_above += 1;
        }
    }

    /// IsLost [RFC 6675 §4]: moves the mark up while enough is reported above it.
    fn advance_lost_below(&mut self) {
        while self.reported_above >= self.threshold {
            let segment = self.segments[(self.lost_below - self.base) as usize];
            if !segment.reported {
                self.lost_bytes += u64::from(segment.payload());
            } else if self.reported_above > self.threshold {
                self.reported_above -= 1;
            } else {
                return;
            }
            self.lost_below += 1;
        }
    }

    /// The oldest segment is lost, whatever the reports say.
    pub fn lose_head(&mut self) {
        if let (Some(head), true) = (self.segments.front().copied(), self.base == self.lost_below) {
            if head.reported {
                self.reported_above -= 1;
            } else {
                self.lost_bytes += u64::from(head.payload());
            }
            self.lost_below += 1;
        }
    }

    /// After a timeout all that is not reported is lost, retransmissions included.
    pub fn lose_all(&mut self) {
        let receiver_reneged = self.segments.front().is_some_and(|head| head.reported);
        if receiver_reneged {
            self.reports.clear();
            self.reported_bytes = 0;
        }
        for segment in &mut self.segments {
            segment.resent = false;
            segment.reported &= !receiver_reneged;
        }
        self.lost_bytes = self.outstanding_bytes - self.reported_bytes;
        self.resent_bytes = 0;
        self.lost_below = self.end_index();
        self.reported_above = 0;
        self.resend_from = self.base;
    }

    /// Moves `resend_from` over what needs no retransmission; the segment there, if there is one.
    fn candidate(&mut self) -> Option<Sent> {
        loop {
            let segment = *self.segments.get((self.resend_from - self.base) as usize)?;
            if !segment.reported && !segment.resent {
                return Some(segment);
            }
            self.resend_from += 1;
        }
    }

    /// The oldest lost segment that is not in flight again. [RFC 6675 §4, NextSeg (1)]
    pub fn next_lost(&mut self) -> Option<Sent> {
        let below = self.lost_below;
        if self.resend_from >= below {
            return None;
        }
        self.candidate().filter(|_| self.resend_from < below)
    }

    /// The oldest hole below what is reported that is not in flight again. [RFC 6675 §4, NextSeg (3)]
    pub fn next_hole(&mut self) -> Option<Sent> {
        let highest = self.reports.last()?.end;
        self.candidate().filter(|segment| segment.start < highest)
    }

    /// Notes that the segment which `next_lost` or `next_hole` gave is sent again.
    pub fn resend(&mut self, now: Time) -> Sent {
        self.resend_at((self.resend_from - self.base) as usize, now)
    }

    /// Place of the newest segment that is not reported, if it is not in flight again. [RFC 6675 §4, NextSeg (4)]
    pub fn newest_hole(&self) -> Option<usize> {
        let place = self.segments.iter().rposition(|segment| !segment.reported)?;
        (!self.segments[place].resent).then_some(place)
    }

    /// Sends that one again.
    pub fn resend_newest(&mut self, now: Time) -> Sent {
        let place = self.newest_hole().expect("chosen only where there is one");
        self.resend_at(place, now)
    }

    fn resend_at(&mut self, place: usize, now: Time) -> Sent {
        let segment = &mut self.segments[place];
        segment.resent = true;
        segment.retransmitted = true;
        segment.sent_at = now;
        self.resent_bytes += u64::from(segment.payload());
        *segment
    }

    /// True if `segment` is the oldest outstanding.
    pub fn is_head(&self, segment: &Sent) -> bool {
        segment.start == self.una
    }
}

#[cfg(test)]
mod tests;
