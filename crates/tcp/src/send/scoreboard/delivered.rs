//! The segments delivered by one acknowledgement.

use lasthop_units::{Duration, Time};

use super::sent::{Content, Outstanding, Stamp};
use super::time_order::Latest;

/// Evidence on which copy of a retransmitted segment arrived. [RFC 8985 §6.2 step 2]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Credible {
    pub now: Time,
    pub min_rtt: Duration,
    /// the echoed timestamp is older than data sent from then on; `NEVER` without timestamps
    pub echo_ends: Time,
}

impl Credible {
    /// True if the arrival can be that of the copy sent last. The timestamp counts where `in_order`: with a report
    /// beyond a hole it is that of the data before the hole. [RFC 7323 §4.3]
    fn holds(&self, segment: &Outstanding, in_order: bool) -> bool {
        let not_too_soon = self.now.since(segment.sent_at) >= self.min_rtt;
        !segment.retransmitted || (not_too_soon && (!in_order || segment.sent_at < self.echo_ends))
    }
}

/// Times of sending of the first and the last of some segments, in the order of the search.
pub(crate) type Span = Option<(Time, Time)>;

fn stretch(span: &mut Span, sent_at: Time) {
    *span = Some((span.map_or(sent_at, |(first, _)| first), sent_at));
}

/// Segments that an acknowledgement took off the scoreboard, and those that it newly reported there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    credible: Credible,
    /// segments acknowledged in order, in whole
    pub segments: u32,
    /// payload bytes acknowledged in order
    pub bytes: u64,
    /// segments delivered for the first time, in order or not
    pub new_segments: u32,
    /// payload bytes delivered for the first time
    pub new_bytes: u64,
    /// a retransmitted segment is among the new ones
    pub retransmitted: bool,
    /// a retransmitted segment is acknowledged in order
    pub acked_retransmitted: bool,
    /// times of sending of the oldest and the newest among new segments sent only once
    pub oldest_sent: Option<Time>,
    pub newest_sent: Option<Time>,
    /// sent once, not SACKed before, acknowledged in order
    pub acked_once: Span,
    /// sent once and newly SACKed
    pub reported_once: Span,
    /// start of the lowest segment of `acked_once`
    pub lowest_acked: Option<u64>,
    /// start of the lowest segment of `reported_once` that came after higher ones
    pub late_report: Option<u64>,
    /// end of the lowest new segment sent once
    pub original_end: Option<u64>,
    /// the last-sent segment whose arrival can be trusted, and the RTT of the last one in the search
    pub latest: Option<(Latest, Duration)>,
    /// of the segment sent last: its time, its end, and its stamp, if that is kept
    pub rated: Option<(Latest, Stamp)>,
    /// a SYN or a FIN is among them
    pub syn: bool,
    pub fin: bool,
}

impl Delivered {
    pub fn judged_by(credible: Credible) -> Delivered {
        Delivered { credible, ..Delivered::default() }
    }

    /// Takes in a head that is acknowledged in whole.
    pub(super) fn acknowledge(&mut self, head: &Outstanding, stamp: Option<&Stamp>) {
        self.segments += 1;
        self.bytes += u64::from(head.payload());
        self.acked_retransmitted |= head.retransmitted;
        self.syn |= head.content == Content::Syn;
        self.fin |= head.content == Content::Fin;
        if head.reported {
            return;
        }
        if !head.retransmitted {
            stretch(&mut self.acked_once, head.sent_at);
            self.lowest_acked = self.lowest_acked.or(Some(head.start));
        }
        self.add_new(head, stamp, true);
    }

    /// Takes in so many segments from the head on, acknowledged in whole, that were sent once and in order and carry
    /// only data, with nothing acknowledged or reported before: as [`acknowledge`](Self::acknowledge) of each.
    #[inline(always)]
    pub(super) fn acknowledge_originals(
        &mut self,
        count: u32,
        first: &Outstanding,
        last: &Outstanding,
        stamp: Option<&Stamp>,
    ) {
        let bytes = last.end() - first.start;
        let latest = Latest { sent_at: last.sent_at, end: last.end() };
        (self.segments, self.new_segments) = (count, count);
        (self.bytes, self.new_bytes) = (bytes, bytes);
        (self.oldest_sent, self.newest_sent) = (Some(first.sent_at), Some(last.sent_at));
        self.acked_once = Some((first.sent_at, last.sent_at));
        self.lowest_acked = Some(first.start);
        self.original_end = Some(first.end());
        self.rated = stamp.map(|stamp| (latest, *stamp));
        self.latest = Some((latest, self.credible.now.since(last.sent_at)));
    }

    /// Takes in so many acknowledged bytes of the head.
    pub(super) fn acknowledge_part(&mut self, head: &Outstanding, part: u32) {
        self.bytes += u64::from(part);
        self.acked_retransmitted |= head.retransmitted;
        if !head.reported {
            self.new_bytes += u64::from(part);
            self.note_time(head);
        }
    }

    /// Takes in a newly SACKed segment; `highest` is the end of the highest one so far.
    pub(super) fn report(&mut self, segment: &Outstanding, stamp: Option<&Stamp>, highest: u64) {
        if !segment.retransmitted {
            stretch(&mut self.reported_once, segment.sent_at);
            if segment.start < highest {
                self.late_report = Some(self.late_report.map_or(segment.start, |late| late.min(segment.start)));
            }
        }
        self.add_new(segment, stamp, false);
    }

    fn add_new(&mut self, segment: &Outstanding, stamp: Option<&Stamp>, in_order: bool) {
        self.new_segments += 1;
        self.new_bytes += u64::from(segment.payload());
        self.note_time(segment);
        if !segment.retransmitted {
            self.original_end = Some(self.original_end.map_or(segment.end(), |end| end.min(segment.end())));
        }
        let own = Latest { sent_at: segment.sent_at, end: segment.end() };
        if let Some(stamp) = stamp
            && self.rated.is_none_or(|(newest, _)| own.is_after(newest.sent_at, newest.end))
        {
            self.rated = Some((own, *stamp));
        }
        if self.credible.holds(segment, in_order) {
            let rtt = self.credible.now.since(segment.sent_at);
            let latest = self.latest.map_or(own, |(l, _)| if own.is_after(l.sent_at, l.end) { own } else { l });
            self.latest = Some((latest, rtt));
        }
    }

    /// Notes the time of sending for RTT samples, if the segment was sent once. [RFC 6298 §3]
    fn note_time(&mut self, segment: &Outstanding) {
        if segment.retransmitted {
            self.retransmitted = true;
            return;
        }
        self.oldest_sent = self.oldest_sent.or(Some(segment.sent_at));
        self.newest_sent = self.newest_sent.max(Some(segment.sent_at));
    }
}
