//! Changes to the sender by an acknowledgement.

use lasthop_units::Time;

use super::arriving::{Acknowledgement, Outcome, TimerChange};
use super::linux::Permission;
use super::marks::Reported;
use super::recovery::Phase;
use super::scoreboard::Delivered;
use super::{PeerWindow, Sender};
use crate::config::GrowthMode;
use crate::congestion_control::{AckSample, CongestionCause};
use crate::counters::Counters;
use crate::ranges::Range;
use crate::segment::SackBlocks;

impl Sender {
    /// True if nothing is in flight and no block is reported: the peer sends data with the same acknowledgement
    /// number. Such an ACK carries only the window and marks.
    #[inline(always)]
    pub fn expects_nothing_of(&self, ack: u64, sack: &SackBlocks) -> bool {
        self.board.is_empty() && sack.is_empty() && ack == self.board.una() && self.ack_watch.is_none()
    }

    /// Takes in the window of an ACK of which [nothing is expected](Self::expects_nothing_of), on a segment at `seq` without
    /// marks.
    #[inline(always)]
    pub fn note_window(&mut self, (ack, seq): (u64, u64), window: u64) {
        self.update_window(ack, seq, window);
        if self.is_linux() {
            self.linux.permission = Permission::NewOnly;
        }
    }

    /// Takes in an ACK of which [nothing is expected](Self::expects_nothing_of), on a segment at `seq`.
    #[inline(always)]
    pub fn note_window_and_marks(&mut self, now: Time, (ack, seq): (u64, u64), window: u64, reported: Reported) {
        self.update_window(ack, seq, window);
        let marked = self.read_marks(reported, 0);
        if self.is_linux() {
            self.linux.permission = Permission::NewOnly;
        } else {
            self.answer_marks(now, marked, ack);
        }
    }

    /// Takes in an acknowledgement. [RFC 9293 §3.10.7.4, fifth step; RFC 5681 §3; RFC 6582 §3.2; RFC 6675 §5]
    pub fn on_ack(&mut self, ack: &Acknowledgement, counters: &mut Counters) -> Outcome {
        let seen = self.sight(ack);
        let outcome =
            if self.is_linux() { self.on_ack_linux(ack, counters) } else { self.on_ack_standard(ack, counters) };
        if let Some(seen) = seen {
            self.watch_acks(&seen, counters);
        }
        outcome
    }

    fn on_ack_standard(&mut self, ack: &Acknowledgement, counters: &mut Counters) -> Outcome {
        let prior_flight_bytes = self.board.pipe_bytes();
        let advances = ack.ack > self.board.una();
        let mut delivered = Delivered::default();
        if advances {
            self.board.acknowledge(ack.ack, &mut delivered);
            self.offered.on_acknowledged(ack.ack);
            self.sample_rtt(ack, &delivered);
        }
        let reports_more = self.take_reports(ack, &mut delivered);
        let marked = self.read_marks(ack.reported, delivered.segments);
        let window_changes = self.update_window(ack.ack, ack.seq, ack.window);
        let in_recovery = self.recovery.phase == Phase::FastRecovery;
        let ends = advances && self.advance_recovery(ack.ack, delivered.bytes);
        if delivered.new_bytes > 0 || delivered.bytes > 0 {
            self.validate_on_ack(ack.now, delivered.new_bytes, self.recovery.phase != Phase::Open || in_recovery);
            let sample = self.sample(ack, &delivered, prior_flight_bytes, in_recovery);
            let sample = AckSample {
                ends_timeout: ends && !in_recovery,
                ece: marked > 0,
                ce_segments: marked.min(delivered.segments),
                ..sample
            };
            self.control.on_ack(&sample);
        }
        if ends && in_recovery {
            self.control.on_recovery_exit(&self.moment(ack.now));
            if let Some(window) = self.window_after_recovery() {
                self.control.set_window(window);
            }
        }
        let is_duplicate = if self.sack { reports_more } else { !advances && ack.is_pure && !window_changes };
        if is_duplicate && !self.board.is_empty() {
            counters.duplicate_acks_received += 1;
            self.on_duplicate_ack(ack.now, counters);
        }
        self.answer_marks(ack.now, marked, ack.ack);
        Outcome { timer: self.timer_change(advances), syn_acked: delivered.syn, fin_acked: delivered.fin }
    }

    /// Takes in the SACK blocks; true if they report something new.
    fn take_reports(&mut self, ack: &Acknowledgement, delivered: &mut Delivered) -> bool {
        if !self.sack || ack.sack.is_empty() {
            return false;
        }
        let before = delivered.new_bytes;
        let una = self.board.una();
        for block in ack.sack.as_slice() {
            let offsets = (self.numbering.offset(block.left, una), self.numbering.offset(block.right, una));
            if let (Some(start), Some(end)) = offsets {
                self.board.report(Range { start, end }, delivered);
            }
        }
        self.board.detect_by_count(self.config.duplicate_ack_threshold);
        delivered.new_bytes > before
    }

    /// SND.WND, SND.WL1 and SND.WL2. True if the window's size changes. [RFC 9293 §3.10.7.4]
    #[inline(always)]
    pub(super) fn update_window(&mut self, ack: u64, seq: u64, bytes: u64) -> bool {
        let window = &mut self.window;
        let is_newer = window.set_by < seq || (window.set_by == seq && window.set_at <= ack);
        if !is_newer {
            return false;
        }
        let changes = window.end.saturating_sub(window.set_at) != bytes;
        window.set_by = seq;
        window.set_at = ack;
        window.end = ack + bytes;
        window.largest = window.largest.max(bytes);
        changes
    }

    /// Sets the window from a SYN, which is never scaled; nothing is compared. [RFC 7323 §2.2]
    pub fn set_window(&mut self, seq: u64, window: u64) {
        let una = self.board.una();
        self.window = PeerWindow { end: una + window, largest: window, set_by: seq, set_at: una };
    }

    /// Takes an RTT sample by Karn's rule: retransmitted data gives none, except by timestamps.
    /// [RFC 6298 §3, RFC 7323 §4.1]
    fn sample_rtt(&mut self, ack: &Acknowledgement, delivered: &Delivered) {
        let measured =
            if delivered.retransmitted { ack.echo_rtt } else { delivered.oldest_sent.map(|sent| ack.now.since(sent)) };
        if let Some(rtt) = measured {
            self.rtt.sample(rtt, self.board.una(), self.board.nxt());
        }
    }

    /// Recovery under a cumulative acknowledgement; true if it ends.
    fn advance_recovery(&mut self, ack: u64, acked_bytes: u64) -> bool {
        self.recovery.duplicate_acks = 0;
        if self.recovery.phase == Phase::Open {
            return false;
        }
        if self.recovery.recover.is_none_or(|recover| ack >= recover) {
            self.recovery.end();
            return true;
        }
        if self.recovery.phase == Phase::FastRecovery && !self.sack {
            self.board.lose_head();
            self.recovery.on_partial_ack(acked_bytes, self.mss);
        }
        false
    }

    fn sample(
        &mut self,
        ack: &Acknowledgement,
        delivered: &Delivered,
        prior_flight_bytes: u64,
        in_recovery: bool,
    ) -> AckSample {
        let flight = self.flight_bytes();
        let cwnd_bytes = self.cwnd_bytes();
        let slow_start = self.control.cwnd() < self.control.ssthresh();
        let is_full = self.usage.is_full(cwnd_bytes, self.mss, slow_start);
        self.usage.on_ack(self.board.una(), self.board.nxt(), flight);
        // Karn's rule here too: an ACK that covers retransmitted data may belong to the first copy.
        let by_clock = delivered.newest_sent.filter(|_| !delivered.retransmitted).map(|sent| ack.now.since(sent));
        let rtt_sample = by_clock.or(ack.echo_rtt);
        if let Some(rtt) = rtt_sample {
            self.rtt.set_latest(rtt);
        }
        let acked = delivered.bytes as f64 / f64::from(self.mss);
        let credit = |mode| match mode {
            GrowthMode::PerByte => acked,
            GrowthMode::PerAck => f64::from(u8::from(delivered.bytes > 0)),
        };
        AckSample {
            now: ack.now,
            acked_segments: delivered.segments,
            acked_bytes: delivered.bytes,
            delivered_bytes: delivered.new_bytes,
            slow_start_credit: credit(self.config.growth.slow_start),
            avoidance_credit: credit(self.config.growth.avoidance),
            delivered_segments: delivered.segments,
            rtt_sample,
            srtt: self.rtt.srtt(),
            prior_flight_bytes,
            flight_bytes: self.board.pipe_bytes(),
            app_limited: self.is_unused(!is_full),
            ece: false,
            round_trips: self.round_trips.acknowledged(self.board.una(), self.board.nxt()),
            in_recovery,
            snd_una: self.board.una(),
            snd_nxt: self.board.nxt(),
            ..AckSample::default()
        }
    }

    /// [RFC 5681 §3.2, RFC 6582 §3.2, RFC 6675 §5]
    fn on_duplicate_ack(&mut self, now: Time, counters: &mut Counters) {
        self.recovery.duplicate_acks += 1;
        match self.recovery.phase {
            Phase::Open if self.is_loss() => {
                counters.fast_retransmits += 1;
                let event = self.congestion_event(now, CongestionCause::Loss);
                self.control.on_congestion(&event);
                self.note_validated_loss(event.window);
                self.queue_cwr();
                self.board.lose_head();
                self.recovery.begin(self.board.nxt(), self.mss);
            }
            Phase::FastRecovery => self.recovery.inflation += i64::from(self.mss),
            Phase::Open | Phase::AfterTimeout => {}
        }
    }

    /// True at enough duplicate ACKs, or SACKed segments. Without SACK, duplicates that the last recovery itself
    /// caused do not count: the acknowledgement must be beyond `recover`. [RFC 6582 §3.2 (2), the careful variant]
    fn is_loss(&self) -> bool {
        let enough = self.recovery.duplicate_acks >= self.config.duplicate_ack_threshold;
        if self.sack {
            return enough || self.board.head_is_lost();
        }
        enough && self.recovery.recover.is_none_or(|recover| self.board.una() > recover)
    }

    /// [RFC 6298 §5.2, §5.3; RFC 6582 §4 for the impatient variant]
    fn timer_change(&self, advances: bool) -> TimerChange {
        if !advances {
            TimerChange::Keep
        } else if self.board.is_empty() {
            TimerChange::Stop
        } else if self.is_impatient() {
            TimerChange::Keep
        } else {
            TimerChange::Restart
        }
    }
}
