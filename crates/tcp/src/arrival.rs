//! A segment arrives: the steps of RFC 9293 §3.10.7, a function each.
//!
//! | unacceptable segment | `rfc9293` | `linux` |
//! |---|---|---|
//! | data outside of the window | ACK | ACK with a DSACK |
//! | no data, outside of the window, or a SYN, or a reset not exactly in place | ACK | ACK, one in `answer_interval` |
//! | an ACK between the last ACK sent and RCV.NXT | ACK | counts |
//! | an ACK older than the largest window [RFC 5961 §5.2] | ACK | ACK, one in `answer_interval` |
//! | data that ends beyond the window | cut | taken in whole if nothing is unread, else as outside; a FIN may |
//! | a FIN behind a closed window | ACK | taken, if it comes without data |
//! | an ACK of unsent data | ACK | ACK, one in `answer_interval` |
//! | a reset just below RCV.NXT after the FIN, or at the end of the data held | ACK | taken |
//! | timestamp of a segment whose ACK does not fit | kept | not kept |
//!
//! `answer_interval` holds for both; it is 0 where nothing limits answers. `linux-3.13` is `linux`, except for
//! differences of kernels of that age: an ACK of unsent data gets no answer while the connection is open; data that
//! begins in the window is taken in whole; a closed window lets no FIN in.

use lasthop_units::{Duration, Ecn, Time};

use crate::config::ArrivalRules;
use crate::ecn::{Feedback, Wish, ace, handshake_ecn};
use crate::endpoint::{Agreed, Endpoint};
use crate::receive::Text;
use crate::segment::{Flags, Segment};
use crate::send::{Acknowledgement, Reported, TimerChange};
use crate::sequence::Numbering;
use crate::state::{Failure, State};
use crate::timer::Timer;

impl Endpoint {
    /// Takes in a segment. [RFC 9293 §3.10.7]
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        self.present.advance(now);
        self.sender.renew_burst();
        match self.state {
            State::Closed => self.refuse(segment),
            State::Listen => self.arrives_in_listen(segment),
            State::SynSent => self.arrives_in_syn_sent(now, segment),
            _ => self.arrives(now, segment),
        }
    }

    /// Answers a segment for a closed connection with a reset, unless it is one itself. [RFC 9293 §3.10.7.1]
    fn refuse(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        let has_ack = segment.flags.contains(Flags::ACK);
        self.answer = Some(Segment {
            seq: if has_ack { segment.ack } else { Default::default() },
            ack: segment.seq.plus(segment.sequence_length()),
            flags: if has_ack { Flags::RST } else { Flags::RST | Flags::ACK },
            options_are_free: !self.config.options_on_wire,
            ..Segment::default()
        });
    }

    /// [RFC 9293 §3.10.7.2]
    fn arrives_in_listen(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            return self.refuse(segment);
        }
        if segment.flags.contains(Flags::SYN) {
            self.take_syn(segment, Wish::of(&self.config, self.sender.needs()).answer_to(segment.flags));
            self.state = State::SynReceived;
        }
    }

    /// [RFC 9293 §3.10.7.3]
    fn arrives_in_syn_sent(&mut self, now: Time, segment: &Segment) {
        let has_ack = segment.flags.contains(Flags::ACK);
        let acks_our_syn = has_ack && self.acknowledged_offset(segment) == Some(1) && self.sender.board().nxt() == 1;
        if has_ack && !acks_our_syn {
            return self.refuse(segment);
        }
        if segment.flags.contains(Flags::RST) {
            if acks_our_syn {
                self.fail(Failure::Refused);
            }
            return;
        }
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        let wish = Wish::of(&self.config, self.sender.needs());
        if acks_our_syn {
            self.take_syn(segment, wish.agreed_by(segment.flags));
            self.state = State::Established;
            self.receiver.note_open(now);
            self.take_acknowledgement(now, segment, (0, 1), true);
            self.receiver.owe_handshake_ack();
        } else {
            // Simultaneous open: the SYN goes out again, now with an ACK.
            self.take_syn(segment, wish.answer_to(segment.flags));
            self.state = State::SynReceived;
            if self.sender.board().nxt() > 0 {
                self.sender.resend_syn();
            }
        }
    }

    /// Numbers, window and options of the peer's SYN.
    fn take_syn(&mut self, segment: &Segment, ecn: Feedback) {
        let timestamps = self.config.timestamps && segment.timestamps.is_some();
        let scaling = self.config.window_scaling && segment.window_scale.is_some();
        let sack = self.config.sack && segment.sack_permitted;
        let peer_scale = if scaling { segment.window_scale.unwrap_or(0).min(14) } else { 0 };
        self.agreed = Agreed { timestamps, sack, scaling, peer_scale, ecn, syn_ecn: segment.ecn };
        self.receiver.compress_acks(if sack { self.config.compressed_acks } else { 0 });
        // Without timestamps their bytes are payload.
        let own = self.config.payload_bytes() + if timestamps { 0 } else { self.config.timestamp_bytes() };
        self.receiver.begin(Numbering(segment.seq), segment.timestamps.map(|t| t.value));
        if !segment.flags.contains(Flags::ACK) {
            self.receiver.begin_window(&self.config, own);
        }
        if !scaling {
            self.receiver.without_scaling();
        }
        let option_bytes = if timestamps { self.config.timestamp_bytes() } else { 0 };
        // The default of RFC 9293 §3.7.1 is 536.
        let offered = u32::from(segment.mss.unwrap_or(536));
        // Without timestamps their bytes are payload.
        let own = self.config.payload_bytes() + self.config.timestamp_bytes();
        self.sender.negotiate(offered.min(own).saturating_sub(option_bytes), sack);
        let answers_us = segment.flags.contains(Flags::ACK);
        let syn_arrived = handshake_ecn(ace(segment.flags)).filter(|_| answers_us);
        self.sender.negotiate_ecn(ecn, !answers_us, syn_arrived);
        let syn_ack_ecn = answers_us.then_some(segment.ecn);
        self.receiver.negotiate_ecn(self.sender.needs(), ecn, syn_ack_ecn, self.config.accecn_option);
        if segment.accecn.is_some() {
            self.note_accecn();
        }
        self.sender.set_window(0, u64::from(segment.window));
    }

    /// Takes in a segment in a synchronised state: most are the next data in order, or acknowledge new data, while nothing
    /// else goes on; then few of the steps have something to do, as the header prediction of BSD has it.
    #[inline(always)]
    fn arrives(&mut self, now: Time, segment: &Segment) {
        let Some(start) = self.start_if_plain(segment) else { return self.arrives_in_steps(now, segment) };
        if segment.payload == 0 {
            match self.acknowledged_offset(segment) {
                Some(ack) if ack > self.sender.board().una() && ack <= self.sender.board().nxt() => {
                    self.note_next_timestamp(segment, start);
                    self.take_acknowledgement(now, segment, (start, ack), true);
                }
                _ => self.arrives_in_steps(now, segment),
            }
            return;
        }
        let una = self.sender.board().una();
        let acks_no_more = segment.ack == self.sender.numbering().number(una);
        let expected = acks_no_more && self.sender.expects_nothing_of(una, &segment.sack);
        if !expected || !self.receiver.expects(start, start + u64::from(segment.payload)) {
            return self.arrives_in_steps(now, segment);
        }
        self.note_next_timestamp(segment, start);
        self.sender.note_window((una, start), self.window_of(segment));
        self.follow_sender();
        let text = self.text(now, segment, start);
        self.receiver.take_expected(now, &text, &mut self.counters);
    }

    /// The offset of a segment that is next in order, carries no flags beside ACK and PSH, and is as young as its timestamp
    /// should be, on an open connection without ECN.
    #[inline(always)]
    fn start_if_plain(&self, segment: &Segment) -> Option<u64> {
        let start = self.receiver.nxt();
        let is_plain = self.state == State::Established
            && self.agreed.ecn == Feedback::Off
            && segment.flags.bits() & !Flags::PSH.bits() == Flags::ACK.bits()
            && segment.seq == self.receiver.numbering().number(start);
        let is_young = || match segment.timestamps {
            Some(timestamps) => !self.agreed.timestamps || !self.receiver.is_too_old(timestamps.value),
            None => true,
        };
        (is_plain && is_young()).then_some(start)
    }

    /// Keeps the timestamp of a segment next in order, which all rules do.
    #[inline(always)]
    fn note_next_timestamp(&mut self, segment: &Segment, start: u64) {
        if let Some(timestamps) = segment.timestamps.filter(|_| self.agreed.timestamps) {
            self.receiver.note_timestamp(timestamps.value, start);
        }
    }

    /// The steps for synchronised states. [RFC 9293 §3.10.7.4]
    #[inline(never)]
    fn arrives_in_steps(&mut self, now: Time, segment: &Segment) {
        let near = self.receiver.nxt();
        let Some(start) = self.receiver.numbering().offset(segment.seq, near) else {
            return self.precedes_all(now, segment);
        };
        let goes_on = self.check_timestamp(segment, start)
            && self.check_sequence(now, segment, start)
            && self.check_reset(now, segment, start)
            && self.check_syn(now, segment)
            && self.check_acknowledgement(now, segment, start);
        if !goes_on {
            return;
        }
        if segment.accecn.is_some() {
            self.note_accecn();
        }
        if segment.payload > 0 || segment.flags.contains(Flags::FIN) {
            self.take_text_and_fin(now, segment, start);
        } else if segment.ecn == Ecn::Ce {
            self.receiver.note_control(segment.ecn);
        }
    }

    /// Takes note of an AccECN option of the peer.
    fn note_accecn(&mut self) {
        self.receiver.note_accecn();
        self.reserve_for_accecn();
    }

    /// Answers a segment that lies before the peer's SYN, and so outside any window.
    #[cold]
    fn precedes_all(&mut self, now: Time, segment: &Segment) {
        if !segment.flags.contains(Flags::RST) {
            self.challenge(now);
        }
    }

    pub(crate) fn follows_linux(&self) -> bool {
        self.config.arrival_rules != ArrivalRules::Rfc9293
    }

    /// Answers an unacceptable segment with an ACK. [RFC 5961 §7 for its limit]
    #[cold]
    fn challenge(&mut self, now: Time) {
        if self.may_answer(now) {
            self.receiver.owe_ack();
        }
    }

    /// PAWS, and the timestamp to echo. [RFC 7323 §5.3, R1 and R3] Segments without data or FIN are never refused: ACKs
    /// may overtake one another, and an answer to each would count as a duplicate ACK. Resets pass too.
    fn check_timestamp(&mut self, segment: &Segment, start: u64) -> bool {
        let Some(timestamps) = segment.timestamps.filter(|_| self.agreed.timestamps) else { return true };
        let takes_room = segment.sequence_length() > 0 && !segment.flags.contains(Flags::RST);
        if self.receiver.is_too_old(timestamps.value) && takes_room {
            self.counters.paws_rejected += 1;
            self.receiver.owe_ack();
            return false;
        }
        let keeps_early =
            self.config.echo_duplicates || (!self.follows_linux() && self.receiver.is_acceptable(start, segment));
        if keeps_early {
            self.receiver.note_timestamp(timestamps.value, start);
        }
        true
    }

    /// Linux keeps the timestamp once the acknowledgement is known to fit (`tcp_replace_ts_recent`).
    fn keep_timestamp(&mut self, segment: &Segment, start: u64) {
        if let Some(timestamps) = segment.timestamps.filter(|_| self.agreed.timestamps) {
            self.receiver.note_timestamp(timestamps.value, start);
        }
    }

    /// First: checks that the segment is in the window; if it is not, answers with the position of the window.
    fn check_sequence(&mut self, now: Time, segment: &Segment, start: u64) -> bool {
        if self.state == State::SynReceived && segment.flags.contains(Flags::SYN) && start < self.receiver.nxt() {
            self.hears_syn_again(now, segment, start);
            return false;
        }
        if self.receiver.is_acceptable(start, segment) {
            return true;
        }
        if segment.flags.contains(Flags::RST) {
            if self.follows_linux() && self.reset_follows_fin(start) {
                self.take_reset();
            }
            return false;
        }
        if self.state == State::TimeWait && segment.flags.contains(Flags::FIN) {
            self.enter_time_wait(now);
        }
        self.answer_unacceptable(now, segment, start);
        // With the window shut, acknowledgements still count. [RFC 9293 §3.10.7.4]
        if start == self.receiver.nxt() {
            self.check_acknowledgement_alone(now, segment, start);
        }
        false
    }

    #[cold]
    fn answer_unacceptable(&mut self, now: Time, segment: &Segment, start: u64) {
        let length = segment.sequence_length();
        if length == 0 || segment.flags.contains(Flags::SYN) {
            self.challenge(now);
        } else {
            self.receiver.refuse_text(start, start + u64::from(length));
        }
    }

    /// A repeated SYN: the peer has not received the SYN+ACK, or this is its own SYN of a simultaneous open.
    #[cold]
    fn hears_syn_again(&mut self, now: Time, segment: &Segment, start: u64) {
        if segment.flags.contains(Flags::ACK) && self.check_acknowledgement_alone(now, segment, start) {
            self.receiver.owe_ack();
        } else {
            self.note_syn_again(segment);
            self.sender.resend_syn();
        }
    }

    /// Takes note of a repeated SYN: the next SYN+ACK reports how this one arrived. One that does not ask for accurate ECN may
    /// have lost the request on the way: the use of ECT ends. [RFC 9768 §3.1.4.2]
    fn note_syn_again(&mut self, segment: &Segment) {
        if self.agreed.ecn == Feedback::Accurate && !segment.flags.contains(Flags::ACK) {
            self.agreed.syn_ecn = segment.ecn;
            if ace(segment.flags) == 0 {
                self.sender.stop_ect();
            }
        }
    }

    /// Second: a reset ends the connection if it is exactly in place. [RFC 9293 §3.10.7.4, RFC 5961 §3.2]
    fn check_reset(&mut self, now: Time, segment: &Segment, start: u64) -> bool {
        if !segment.flags.contains(Flags::RST) {
            return true;
        }
        let fits_linux =
            self.follows_linux() && (self.reset_follows_fin(start) || self.receiver.highest_held() == Some(start));
        if start == self.receiver.nxt() || fits_linux {
            self.take_reset();
        } else {
            self.challenge(now);
        }
        false
    }

    /// True for a reset in the place of the FIN that was taken: the peer has forgotten its FIN.
    fn reset_follows_fin(&self, start: u64) -> bool {
        self.state.has_peer_closed() && self.state != State::TimeWait && start + 1 == self.receiver.nxt()
    }

    /// A connection that the peer began goes back to listening. [RFC 9293 §3.10.7.4, second step]
    fn take_reset(&mut self) {
        if self.state == State::SynReceived && self.is_passive {
            let next = self.sender.numbering().number(1);
            *self = Endpoint::new(&self.config, next.0);
            self.listen();
        } else {
            self.fail(if self.state == State::SynReceived { Failure::Refused } else { Failure::Reset });
        }
    }

    /// Fourth: a SYN inside the window is answered by an ACK. [RFC 5961 §4.2]
    fn check_syn(&mut self, now: Time, segment: &Segment) -> bool {
        let is_syn = segment.flags.contains(Flags::SYN);
        if is_syn {
            if segment.flags.contains(Flags::ACK) {
                self.receiver.note_syn_ack_again(segment.ecn);
            }
            self.challenge(now);
        }
        !is_syn
    }

    /// Fifth: the acknowledgement.
    #[inline(always)]
    fn check_acknowledgement(&mut self, now: Time, segment: &Segment, start: u64) -> bool {
        if !segment.flags.contains(Flags::ACK) {
            return false;
        }
        let Some(ack) = self.acknowledged_offset(segment) else { return true };
        let board = self.sender.board();
        if ack > board.nxt() {
            self.refuse_acknowledgement(now, segment);
            return false;
        }
        // [RFC 5961 §5.2]
        if ack + self.sender.largest_peer_window() < board.una() {
            self.challenge(now);
            return false;
        }
        if self.state == State::SynReceived {
            if ack <= board.una() {
                self.refuse(segment);
                return false;
            }
            self.state = State::Established;
            self.receiver.note_open(now);
        }
        // Old acknowledgements may still report something.
        let is_current = ack >= self.sender.board().una();
        let is_later = self.is_later(segment);
        if is_current && self.follows_linux() {
            self.keep_timestamp(segment, start);
        }
        if self.sender.expects_nothing_of(ack, &segment.sack) {
            let window = self.window_of(segment);
            let reported = Reported { flags: segment.flags, accecn: &segment.accecn, is_later };
            self.sender.note_window_and_marks(now, (ack, start), window, reported);
            self.follow_sender();
        } else if is_current || (self.sender.is_linux() && !segment.sack.is_empty()) {
            self.take_acknowledgement(now, segment, (start, ack), is_later);
        }
        self.state != State::Closed
    }

    /// The same check for a segment that is not taken in.
    #[cold]
    #[inline(never)]
    fn check_acknowledgement_alone(&mut self, now: Time, segment: &Segment, start: u64) -> bool {
        self.check_acknowledgement(now, segment, start)
    }

    /// Answers an acknowledgement of unsent data.
    #[cold]
    fn refuse_acknowledgement(&mut self, now: Time, segment: &Segment) {
        match self.state {
            State::SynReceived => self.refuse(segment),
            State::Established if self.config.arrival_rules == ArrivalRules::Linux313 => {}
            _ => self.challenge(now),
        }
    }

    fn acknowledged_offset(&self, segment: &Segment) -> Option<u64> {
        self.sender.numbering().offset(segment.ack, self.sender.board().una())
    }

    /// The window that the peer offers, in bytes.
    #[inline(always)]
    fn window_of(&self, segment: &Segment) -> u64 {
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.agreed.peer_scale };
        u64::from(segment.window) << shift
    }

    /// True if a segment is surely later than those before: it has data, or a newer timestamp. [RFC 9768 §3.2.2.5.2]
    #[inline(always)]
    fn is_later(&self, segment: &Segment) -> bool {
        if self.agreed.ecn != Feedback::Accurate || segment.payload > 0 || !self.follows_linux() {
            return true;
        }
        segment.timestamps.is_some_and(|stamps| stamps.value != self.receiver.recent_timestamp())
    }

    fn take_acknowledgement(&mut self, now: Time, segment: &Segment, (seq, ack): (u64, u64), is_later: bool) {
        let acknowledgement = Acknowledgement {
            now,
            ack,
            seq,
            window: self.window_of(segment),
            sack: &segment.sack,
            is_pure: segment.is_pure_ack(),
            reported: Reported { flags: segment.flags, accecn: &segment.accecn, is_later },
            echo_rtt: self.echoed_rtt(now, segment),
            echo_ends: self.echo_ends(now, segment),
        };
        if ack > self.sender.board().una() {
            self.patience.renew();
        }
        let outcome = self.sender.on_ack(&acknowledgement, &mut self.counters);
        self.follow_sender();
        match outcome.timer {
            TimerChange::Keep => {}
            TimerChange::Stop => self.timers.stop(Timer::Retransmit),
            TimerChange::Restart => self.timers.set(Timer::Retransmit, now + self.sender.rtt().rto()),
        }
        if outcome.syn_acked {
            self.sender.on_syn_acked(now, self.has_lost_syn());
        }
        if outcome.fin_acked {
            self.on_fin_acked(now);
        }
    }

    /// Now less the timestamp echoed. [RFC 7323 §4.1]
    fn echoed_rtt(&self, now: Time, segment: &Segment) -> Option<Duration> {
        let timestamps = segment.timestamps.filter(|_| self.agreed.timestamps)?;
        let ticks = self.timestamp_clock(now).wrapping_sub(timestamps.echo);
        ((ticks as i32) >= 0).then(|| self.config.timestamp_clock * u64::from(ticks.max(1)))
    }

    /// End of the time in which segments bore the echoed timestamp; `NEVER` without timestamps, or if nothing uses it.
    fn echo_ends(&self, now: Time, segment: &Segment) -> Time {
        let Some(timestamps) = segment.timestamps.filter(|_| self.agreed.timestamps) else { return Time::NEVER };
        if !self.sender.reads_echoes() {
            return Time::NEVER;
        }
        let tick = self.config.timestamp_clock;
        let ticks = u64::from(self.timestamp_clock(now).wrapping_sub(timestamps.echo));
        let end_of_now = Time::ZERO + tick * (self.clock.whole(now.as_nanos()) + 1);
        Time::from_nanos(end_of_now.as_nanos().saturating_sub((tick * ticks).as_nanos()))
    }

    fn on_fin_acked(&mut self, now: Time) {
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                if self.reading_is_over {
                    self.wait_for_fin(now);
                }
            }
            State::Closing => self.enter_time_wait(now),
            State::LastAck => self.enter_closed(),
            _ => {}
        }
    }

    /// Seventh and eighth: text and FIN.
    fn take_text_and_fin(&mut self, now: Time, segment: &Segment, start: u64) {
        if !self.state.may_receive_data() {
            if self.state == State::TimeWait && segment.flags.contains(Flags::FIN) {
                self.enter_time_wait(now);
            }
            return self.receiver.owe_ack();
        }
        if self.is_for_nobody(segment, start) {
            self.fail(Failure::Unread);
            return self.refuse(segment);
        }
        let text = self.text(now, segment, start);
        self.receiver.take(now, &text, &mut self.counters);
        if self.agreed.ecn == Feedback::Accurate {
            self.reserve_for_accecn();
        }
        if self.receiver.is_finished() {
            self.on_fin_received(now);
        }
    }

    /// New data after the application has closed both directions. [RFC 9293 §3.6.1]
    fn is_for_nobody(&self, segment: &Segment, start: u64) -> bool {
        self.reading_is_over
            && matches!(self.state, State::FinWait1 | State::FinWait2)
            && start + u64::from(segment.payload) > self.receiver.nxt()
    }

    #[inline(always)]
    fn text(&mut self, now: Time, segment: &Segment, start: u64) -> Text {
        let wants_rtt = segment.timestamps.is_some_and(|stamps| self.receiver.wants_rtt(stamps.echo));
        Text {
            start,
            length: segment.payload,
            flags: segment.flags,
            ecn: segment.ecn,
            fin_may_wait: self.state == State::Established,
            rtt: if wants_rtt { self.echoed_rtt(now, segment) } else { None },
            pace: self.pace(),
        }
    }

    fn on_fin_received(&mut self, now: Time) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => {}
        }
    }
}
