//! Output: a segment is chosen when it is polled.
//!
//! Order: a reset; ACKs that must be pure; retransmissions; new data; ACKs that no data carried; probes.

use lasthop_units::Time;

use crate::ecn::{Feedback, Wish, syn_ack_flags};
use crate::endpoint::Endpoint;
use crate::receive::{EarlierAck, Owed};
use crate::segment::{Flags, MOST_OPTION_BYTES, Segment, TIMESTAMPS_OPTION, Timestamps};
use crate::send::{Content, Sent};
use crate::state::State;
use crate::timer::Timer;

/// The kind of the next segment.
#[derive(Clone, Copy, Debug)]
enum Next {
    Answer,
    PureAck,
    FirstSyn,
    Data(crate::send::Choice),
    Probe,
}

impl Endpoint {
    /// The next segment to send at `now`, if there is one.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_into(now, &mut segment).then_some(segment)
    }

    /// As [`poll_transmit`](Self::poll_transmit), but written into `segment`, whatever its content: true if there is
    /// one. A caller that has a place for the segment need not move it.
    pub fn poll_into(&mut self, now: Time, segment: &mut Segment) -> bool {
        self.present.advance(now);
        match self.choose(now) {
            Some(Next::Data(choice)) => {
                let sent = self.sender.send(now, choice);
                self.write_data(now, &sent, segment);
            }
            Some(Next::PureAck) => self.write_pure_ack(now, segment),
            Some(next) => self.write_other(now, next, segment),
            None => {
                self.rest(now);
                return false;
            }
        }
        true
    }

    /// Writes the less frequent segments.
    #[cold]
    #[inline(never)]
    fn write_other(&mut self, now: Time, next: Next, segment: &mut Segment) {
        match next {
            Next::FirstSyn => {
                let sent = self.sender.send_syn(now);
                self.write_data(now, &sent, segment);
            }
            Next::Answer => *segment = self.answer.take().unwrap_or_default(),
            Next::Probe => *segment = self.window_probe(now),
            Next::Data(_) | Next::PureAck => unreachable!("these are written where they are chosen"),
        }
    }

    /// Takes note that nothing is left to send.
    fn rest(&mut self, now: Time) {
        self.sender.on_nothing_to_send();
        self.set_idle_timers(now);
    }

    /// True if nothing more is to be sent now; it then has the effects of a call of
    /// [`poll_transmit`](Self::poll_transmit) that returns nothing.
    pub fn rests(&mut self, now: Time) -> bool {
        let rests = !self.wants_transmit(now);
        if rests {
            self.rest(now);
        }
        rests
    }

    /// True if [`poll_transmit`](Self::poll_transmit) has a segment.
    pub fn wants_transmit(&mut self, now: Time) -> bool {
        self.present.advance(now);
        self.choose(now).is_some()
    }

    #[inline(always)]
    fn choose(&mut self, now: Time) -> Option<Next> {
        if self.answer.is_some() {
            return Some(Next::Answer);
        }
        match self.state {
            State::Closed | State::Listen => return None,
            State::SynSent | State::SynReceived if self.sender.board().nxt() == 0 => return Some(Next::FirstSyn),
            _ => {}
        }
        let owed = if self.state == State::SynSent { Owed::Nothing } else { self.receiver.owed() };
        if owed == Owed::Pure {
            return Some(Next::PureAck);
        }
        if let Some(until) = self.sender.paced_until(now) {
            self.timers.set(Timer::Pacing, until);
        } else if let Some(choice) = self.sender.choose(now, self.state.may_send_data()) {
            return Some(Next::Data(choice));
        }
        if owed == Owed::Soon {
            return Some(Next::PureAck);
        }
        self.probe.is_due.then_some(Next::Probe)
    }

    /// Sets timers when nothing is to be sent: an ACK may be withheld, and a closed window must be probed.
    pub(crate) fn set_idle_timers(&mut self, now: Time) {
        match self.receiver.withheld_until() {
            Some(deadline) => self.timers.set(Timer::DelayedAck, deadline),
            None => self.timers.stop(Timer::DelayedAck),
        }
        if self.state.may_send_data() && (self.sender.needs_probe() || self.sender.is_held()) {
            if !self.timers.is_set(Timer::Persist) {
                let wait =
                    self.sender.rtt().rto().saturating_mul(1 << self.probe.sent.min(16)).min(self.config.max_rto);
                self.timers.set(Timer::Persist, now + wait);
            }
        } else if self.timers.is_set(Timer::Persist) || self.probe.sent > 0 {
            self.timers.stop(Timer::Persist);
            self.probe = Default::default();
        }
    }

    /// Counts a segment of the scoreboard, starts its timer and writes its header.
    fn write_data(&mut self, now: Time, sent: &Sent, segment: &mut Segment) {
        // [RFC 6298 §5.1]
        if self.state.is_opening() || !self.sender.is_linux() {
            if !self.timers.is_set(Timer::Retransmit) || self.sender.restarts_timer(sent) {
                let expiry = self.sender.timer_expiry(now, self.sender.rtt().rto());
                self.timers.set(Timer::Retransmit, expiry);
            }
        } else {
            self.follow_sender();
        }
        let payload = sent.payload();
        self.counters.segments_sent += u64::from(payload > 0);
        self.counters.segments_retransmitted += u64::from(payload > 0 && sent.retransmitted);
        let ack = if self.state == State::SynSent { Flags::NONE } else { Flags::ACK };
        let flags = match sent.content {
            Content::Syn => Flags::SYN | ack,
            Content::Data if self.sender.is_pushed(sent) => Flags::PSH | ack,
            Content::Data => ack,
            Content::Fin => {
                if self.state.may_send_data() {
                    self.state = self.state.after_own_fin();
                }
                if self.sender.is_pushed(sent) { Flags::FIN | Flags::PSH | ack } else { Flags::FIN | ack }
            }
        };
        let seq = sent.start;
        if payload == 0 {
            let flags = flags | self.syn_ecn_flags(sent);
            self.write_segment(now, seq, flags, 0, segment);
            if sent.content == Content::Syn && ack == Flags::ACK && !sent.retransmitted {
                segment.accecn = self.receiver.first_accecn();
            }
            return;
        }
        self.receiver.on_data_sent(now);
        let (ecn, answer) = self.sender.mark_data(!sent.retransmitted);
        self.write_segment(now, seq, flags | answer, payload, segment);
        segment.ecn = ecn;
    }

    /// Flags of a SYN; a retransmitted SYN leaves ECN out, in case that hinders it [RFC 3168 §6.1.1.1]. One that asks for
    /// accurate ECN asks once more [RFC 9768 §3.1.4], and a SYN+ACK that agrees to it agrees once more, without the option; a
    /// third has neither, though the agreement stands [RFC 9768 §3.2.3.2.2].
    fn syn_ecn_flags(&self, sent: &Sent) -> Flags {
        match (sent.content, self.state) {
            (Content::Syn, State::SynSent) => {
                let wish = Wish::of(&self.config, self.sender.needs());
                let asks_again = wish.is_accurate() && self.is_first_syn_again();
                if !sent.retransmitted || asks_again { wish.syn_flags() } else { Flags::NONE }
            }
            (Content::Syn, State::SynReceived) if self.agreed.ecn == Feedback::Accurate && self.has_repeated_syn() => {
                Flags::NONE
            }
            (Content::Syn, State::SynReceived) => syn_ack_flags(self.agreed.ecn, self.agreed.syn_ecn),
            _ => Flags::NONE,
        }
    }

    pub(crate) fn write_pure_ack(&mut self, now: Time, segment: &mut Segment) {
        self.counters.acks_sent += 1;
        if let Some(earlier) = self.receiver.take_earlier_ack() {
            *segment = self.earlier_ack(now, earlier);
            return;
        }
        let nxt = self.sender.board().nxt();
        self.write_segment(now, nxt, Flags::ACK, 0, segment);
    }

    /// An ACK of data from before marks began or ended. [RFC 8257 §3.2]
    #[cold]
    fn earlier_ack(&mut self, now: Time, earlier: EarlierAck) -> Segment {
        let mut segment = Segment {
            seq: self.sender.numbering().number(self.sender.board().nxt()),
            ack: self.receiver.numbering().number(earlier.nxt),
            window: self.receiver.field_at(earlier.nxt),
            flags: Flags::ACK | earlier.flags,
            options_are_free: !self.config.options_on_wire,
            ..Segment::default()
        };
        self.add_options(now, &mut segment);
        segment
    }

    /// An empty segment just below the window, which the peer must answer by an ACK with its window, as in Linux; [RFC
    /// 9293 §3.8.6.1] sends a byte beyond the window to the same end.
    fn window_probe(&mut self, now: Time) -> Segment {
        self.probe.is_due = false;
        self.probe.sent += 1;
        self.counters.window_probes += 1;
        let before = self.sender.board().una() - 1;
        self.segment(now, before, Flags::ACK, 0)
    }

    /// A reset for this connection. [RFC 9293 §3.5.2]
    pub(crate) fn reset(&mut self, now: Time) -> Segment {
        let nxt = self.sender.board().nxt();
        self.segment(now, nxt, Flags::RST | Flags::ACK, 0)
    }

    fn segment(&mut self, now: Time, seq: u64, flags: Flags, payload: u32) -> Segment {
        let mut segment = Segment::default();
        self.write_segment(now, seq, flags, payload, &mut segment);
        segment
    }

    /// Writes the fields of a segment that do not depend on its purpose.
    #[inline(always)]
    fn write_segment(&mut self, now: Time, seq: u64, flags: Flags, payload: u32, segment: &mut Segment) {
        let on_syn = flags.contains(Flags::SYN);
        *segment = Segment {
            seq: self.sender.numbering().number(seq),
            flags,
            payload,
            options_are_free: !self.config.options_on_wire,
            ..Segment::default()
        };
        if flags.contains(Flags::ACK) {
            segment.ack = self.receiver.numbering().number(self.receiver.nxt());
            if self.agreed.ecn != Feedback::Off && !on_syn && !flags.contains(Flags::RST) {
                if self.reports_marks() {
                    segment.flags = segment.flags | self.receiver.ecn_flags();
                }
                segment.ecn = self.sender.mark_control();
            }
            segment.window = self.receiver.on_ack_sent(payload == 0 && !on_syn && !flags.contains(Flags::FIN), on_syn);
        } else {
            segment.window = self.receiver.first_window();
        }
        if on_syn {
            self.add_offers(now, segment);
        } else {
            self.add_options(now, segment);
        }
    }

    /// Adds options to a SYN: the offers, or, in an answer, the options agreed upon.
    fn add_offers(&self, now: Time, segment: &mut Segment) {
        let answers = segment.flags.contains(Flags::ACK);
        let agreed = self.agreed;
        let size = self.config.payload_bytes() + self.config.timestamp_bytes();
        segment.mss = Some(size.min(u32::from(u16::MAX)) as u16);
        segment.sack_permitted = if answers { agreed.sack } else { self.config.sack };
        segment.window_scale =
            (if answers { agreed.scaling } else { self.config.window_scaling }).then(|| self.receiver.scale());
        if if answers { agreed.timestamps } else { self.config.timestamps } {
            segment.timestamps = Some(self.timestamps(now));
        }
    }

    #[inline(always)]
    fn add_options(&mut self, now: Time, segment: &mut Segment) {
        if self.agreed.timestamps {
            segment.timestamps = Some(self.timestamps(now));
        }
        if self.agreed.ecn == Feedback::Accurate || self.receiver.has_reports() {
            self.add_rarer_options(now, segment);
        }
    }

    /// Adds the options of segments that report marks, or gaps.
    #[inline(never)]
    fn add_rarer_options(&mut self, now: Time, segment: &mut Segment) {
        // On pure ACKs only, which out-of-order and duplicate data always cause, so that data stays full-sized.
        let reports = self.agreed.sack && self.receiver.has_reports() && segment.is_pure_ack();
        if self.agreed.ecn == Feedback::Accurate && self.receiver.owes_accecn(now, self.sender.rtt().srtt()) {
            self.add_accecn(now, reports, segment);
        } else if reports {
            segment.sack = self.receiver.reports(if segment.timestamps.is_some() { 3 } else { 4 });
        }
    }

    /// Adds the AccECN option, if it fits, and reports by SACK.
    #[inline(never)]
    fn add_accecn(&mut self, now: Time, reports: bool, segment: &mut Segment) {
        let taken = if segment.timestamps.is_some() { TIMESTAMPS_OPTION } else { 0 };
        let most = if segment.timestamps.is_some() { 3 } else { 4 };
        let mut space = MOST_OPTION_BYTES - taken;
        if segment.payload > 0 {
            space = space.min(self.sender.room_with(segment.payload));
        }
        let blocks = if reports { self.receiver.report_count().min(most) } else { 0 };
        (segment.sack, segment.accecn) = self.receiver.place_accecn(now, space, blocks);
    }

    /// True if segments report marks. In Linux TIME-WAIT has forgotten their number.
    fn reports_marks(&self) -> bool {
        self.state != State::TimeWait || self.agreed.ecn != Feedback::Accurate || !self.follows_linux()
    }

    fn timestamps(&self, now: Time) -> Timestamps {
        Timestamps { value: self.timestamp_clock(now), echo: self.receiver.recent_timestamp() }
    }

    /// The timestamp clock. [RFC 7323 §5.4]
    pub(crate) fn timestamp_clock(&self, now: Time) -> u32 {
        self.clock.whole(now.as_nanos()) as u32
    }
}
