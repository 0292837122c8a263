//! An acknowledgement, from its header to the window.
//!
//! ```text
//!   header, blocks ──► scoreboard ──► counts, RTT, marks ──► facts ──► probe, transition ──► timer, window
//! ```
//! Each part reads the results of those before it, and none of later ones. The controller is called twice: with the
//! measurements, before conclusions, and for the window, after them.

use lasthop_units::Duration;

use super::super::Sender;
use super::super::arriving::{Acknowledgement, Outcome, TimerChange};
use super::super::scoreboard::{Credible, Delivered};
use super::dsack::{Dsack, Repetition};
use super::facts::{AckFacts, Evidence};
use super::timer::Occasion;
use super::{Permission, Phase};
use crate::config::{GrowthMode, Pacing};
use crate::congestion_control::{AckSample, RateSample};
use crate::counters::Counters;
use crate::ranges::Range;

/// The state of the sender before an ACK, for comparison once the ACK is taken in.
#[derive(Clone, Copy, Debug)]
struct Start {
    phase: Phase,
    una: u64,
    highest_report: u64,
    flight_segments: u32,
    flight_bytes: u64,
    window: u32,
    /// segments delivered, and found lost, so far
    delivered: u64,
    lost: u64,
}

/// The effects of an ACK beside the delivered data.
#[derive(Clone, Copy, Debug)]
struct Intake {
    /// segments that the blocks put on the board
    reported: u32,
    dsack: Option<Dsack>,
    window_changes: bool,
    /// the RTO starts again now
    restarts: bool,
    /// a DSACK reports that the tail probe arrived twice
    probe_came_twice: bool,
}

impl Sender {
    /// Takes in an acknowledgement; it may lie below SND.UNA, if it carries SACK blocks.
    pub(in crate::send) fn on_ack_linux(&mut self, ack: &Acknowledgement, counters: &mut Counters) -> Outcome {
        self.linux.permission = Permission::NewOnly;
        if self.board.is_empty() {
            return self.on_ack_of_nothing(ack);
        }
        let start = self.start();
        let mut delivered = Delivered::judged_by(self.credible(ack));
        let Intake { reported, dsack, window_changes, restarts, probe_came_twice } =
            self.take_in(ack, &start, &mut delivered);
        let mut sample = self.observe(ack, &start, &delivered);
        let evidence = Evidence {
            delivered: &delivered,
            dsack: dsack.as_ref(),
            prior_una: start.una,
            reported,
            window_changes,
            marked: sample.ece,
            sack: self.sack,
        };
        let facts = AckFacts::of(ack, &evidence);
        self.judge_probe(&facts, probe_came_twice);
        let conclusion = self.conclude(&facts);
        counters.duplicate_acks_received += u64::from(facts.is_duplicate() || facts.reports);
        counters.fast_retransmits += u64::from(conclusion.begins_recovery);
        if restarts || conclusion.waits.is_some() {
            self.set_timer_or_wait(ack.now, Occasion::Delivered, conclusion.waits);
        }
        self.step_window(&mut sample, &delivered, &start);
        self.settle_window();
        self.linux.delivered_before = self.linux.rate.delivered;
        Outcome { timer: TimerChange::Keep, syn_acked: delivered.syn, fin_acked: delivered.fin }
    }

    /// Takes in an ACK with nothing in flight: only a DSACK matters, since a reduction may have been spurious.
    fn on_ack_of_nothing(&mut self, ack: &Acknowledgement) -> Outcome {
        let una = self.board.una();
        if ack.ack >= una {
            self.update_window(ack.ack, ack.seq, ack.window);
        }
        self.read_marks(ack.reported, 0);
        if let (Some(dsack), _) = self.take_blocks(ack, &mut Delivered::default()) {
            self.conclude(&AckFacts::of_dsack(ack, una, Some(&dsack)));
            self.settle_window();
        }
        Outcome { timer: TimerChange::Keep, syn_acked: false, fin_acked: false }
    }

    /// Takes in header and blocks: scoreboard, counts, measurements.
    #[inline(always)]
    fn take_in(&mut self, ack: &Acknowledgement, start: &Start, delivered: &mut Delivered) -> Intake {
        if ack.ack > start.una {
            self.linux.timeouts = 0;
        }
        let window_changes = ack.ack >= start.una && self.update_window(ack.ack, ack.seq, ack.window);
        let (dsack, repetition) = self.take_blocks(ack, delivered);
        let reported = delivered.new_segments;
        self.note_late_arrivals(delivered.late_report, repetition.in_vain);
        self.take_number(ack, start, delivered);
        let restarts = self.measure(ack, delivered);
        Intake { reported, dsack, window_changes, restarts, probe_came_twice: repetition.of_probe }
    }

    fn start(&self) -> Start {
        Start {
            phase: self.linux.phase,
            una: self.board.una(),
            highest_report: self.board.highest_report(),
            flight_segments: self.flight_segments(),
            flight_bytes: self.board.pipe_bytes(),
            window: self.linux.window,
            delivered: self.linux.rate.delivered,
            lost: self.board.total_lost(),
        }
    }

    fn credible(&self, ack: &Acknowledgement) -> Credible {
        let min_rtt = self.linux.min_rtt().unwrap_or(Duration::ZERO);
        Credible { now: ack.now, min_rtt, echo_ends: ack.echo_ends }
    }

    /// Takes in the SACK blocks. The DSACK is judged first, against the earlier SND.UNA and reordering; the board
    /// takes the others from the lowest to the highest, so that late arrivals show. [RFC 2018 §3, RFC 2883 §4]
    #[inline(always)]
    fn take_blocks(&mut self, ack: &Acknowledgement, delivered: &mut Delivered) -> (Option<Dsack>, Repetition) {
        if !self.sack || ack.sack.is_empty() {
            return (None, Repetition::default());
        }
        self.take_some_blocks(ack, delivered)
    }

    #[inline(never)]
    fn take_some_blocks(&mut self, ack: &Acknowledgement, delivered: &mut Delivered) -> (Option<Dsack>, Repetition) {
        let (una, nxt) = (self.board.una(), self.board.nxt());
        let mut blocks = [Range { start: 0, end: 0 }; 4];
        let mut count = 0;
        for block in ack.sack.as_slice() {
            let ends = (self.numbering.offset(block.left, una), self.numbering.offset(block.right, una));
            if let (Some(start), Some(end)) = ends
                && start < end
            {
                blocks[count] = Range { start, end };
                count += 1;
            }
        }
        let blocks = &mut blocks[..count];
        let dsack = Dsack::read(blocks, ack.ack, una, nxt);
        let repetition = dsack.map_or(Repetition::default(), |dsack| self.take_dsack(&dsack));
        blocks.sort_unstable_by_key(|block| block.start);
        for block in blocks.iter().filter(|block| block.end > ack.ack && block.end <= nxt) {
            self.board.report(*block, delivered);
        }
        (dsack, repetition)
    }

    /// Notes late arrivals: data SACKed below higher reports, or retransmitted while its report was under way. After
    /// a timeout that stands they cannot be told.
    fn note_late_arrivals(&mut self, late_report: Option<u64>, in_vain: Option<u64>) {
        let is_told = self.linux.phase != Phase::Loss || self.linux.claim.since.is_some();
        let lowest = late_report.into_iter().chain(in_vain).min();
        if let Some(lowest) = lowest.filter(|_| is_told) {
            self.note_reordering(lowest);
        }
    }

    /// Takes in the cumulative part: updates board and counts.
    fn take_number(&mut self, ack: &Acknowledgement, start: &Start, delivered: &mut Delivered) {
        if ack.ack > start.una {
            self.board.acknowledge(ack.ack, delivered);
            self.offered.on_acknowledged(ack.ack);
            self.note_rest(ack.now);
        }
        if !self.sack {
            return self.settle_duplicates(delivered.segments);
        }
        self.linux.rate.delivered += u64::from(delivered.new_segments);
        // A filled hole below SACKed data that was never retransmitted arrived late.
        if let Some(lowest) = delivered.lowest_acked.filter(|&lowest| lowest < start.highest_report) {
            self.note_reordering(lowest);
        }
    }

    /// Takes RTT samples: by the time of sending where that is certain, else by timestamp. True if the timer is to
    /// restart. [RFC 6298 §3, RFC 7323 §4.1]
    fn measure(&mut self, ack: &Acknowledgement, delivered: &Delivered) -> bool {
        let now = ack.now;
        let acked = delivered.acked_once.filter(|_| !delivered.acked_retransmitted);
        let by_ack = acked.map(|(first, last)| (now.since(first), now.since(last)));
        let by_report = delivered.reported_once.map(|(first, last)| (now.since(first), now.since(last)));
        let by_echo = ack.echo_rtt.filter(|_| delivered.segments > 0).map(|rtt| (rtt, rtt));
        let measured = match (by_ack, by_report) {
            (Some((smooth, _)), Some((_, latest))) => Some((smooth, latest)),
            (Some(both), None) | (None, Some(both)) => Some(both),
            (None, None) => by_echo,
        };
        if let Some((smooth, latest)) = measured {
            self.linux.min_rtt.take(now, latest);
            self.rtt.sample(smooth, self.board.una(), self.board.nxt());
            self.rtt.set_latest(latest);
        }
        if delivered.segments > 0 {
            return true;
        }
        // A report of data sent before the head was last sent does not concern the head.
        match (self.board.head(), by_report) {
            (Some(head), Some((first, _))) => first > now.since(head.sent_at),
            _ => false,
        }
    }

    /// Passes the measurements to their users: window validation, RACK, the controller.
    #[inline(always)]
    fn observe(&mut self, ack: &Acknowledgement, start: &Start, delivered: &Delivered) -> AckSample {
        let repairs = matches!(start.phase, Phase::Recovery | Phase::Loss);
        self.validate_on_ack(ack.now, delivered.new_bytes, repairs);
        let marked = self.read_marks(ack.reported, delivered.new_segments);
        let total = self.linux.rate.delivered;
        self.linux.rack.advance(delivered, total);
        let mut sample = self.ack_sample(ack, delivered, start, marked);
        self.linux.rate.delivered_ce += sample.ce_segments;
        sample.observed = delivered.new_segments > u32::from(delivered.syn) && self.control.observe(&sample);
        sample
    }

    /// Adapts the window, step by step or by the controller.
    fn step_window(&mut self, sample: &mut AckSample, delivered: &Delivered, start: &Start) {
        let segments = (self.linux.rate.delivered - start.delivered) as u32;
        let lost = (self.board.total_lost() - start.lost) as u32;
        let rate = self.delivery_rate(sample, delivered, start, segments);
        let reduces = self.linux.reduces();
        if reduces && !self.control.owns_recovery() {
            self.step_reduction(segments, lost, self.board.una() > start.una);
        }
        if segments > u32::from(delivered.syn) || lost > 0 || self.control.owns_recovery() {
            let grows = self.may_grow(delivered);
            sample.in_recovery = reduces;
            sample.acked_segments = if grows { segments } else { 0 };
            (sample.delivered_segments, sample.lost_segments) = (segments, lost);
            (sample.total_delivered, sample.total_lost) = (self.linux.rate.delivered, self.board.total_lost());
            sample.rate = rate;
            (sample.flight_bytes, sample.flight_segments) = (self.board.pipe_bytes(), self.flight_segments());
            sample.ends_timeout = start.phase == Phase::Loss && self.linux.phase == Phase::Open;
            self.control.on_ack(sample);
        }
        if self.control.holds_back() {
            let flight = self.flight_segments();
            self.linux.rate.limit_by_application(flight);
        }
    }

    /// True if the window may grow with acknowledged data, or, where reordering is common, with SACKed data.
    fn may_grow(&self, delivered: &Delivered) -> bool {
        let reordered = self.linux.reordering > self.config.duplicate_ack_threshold;
        delivered.segments > u32::from(delivered.syn) || (reordered && delivered.new_segments > 0)
    }

    fn delivery_rate(
        &mut self,
        sample: &AckSample,
        delivered: &Delivered,
        start: &Start,
        segments: u32,
    ) -> Option<RateSample> {
        let min_rtt = self.linux.min_rtt().unwrap_or(Duration::ZERO);
        let total_lost = self.board.total_lost();
        let rate = self.linux.rate.sample(sample.now, delivered, segments, total_lost, min_rtt)?;
        // Nothing else has arrived since this one segment left: the peer may have waited for a second.
        let is_alone = delivered.segments == 1 && rate.delivered == 1;
        Some(RateSample { is_ack_delayed: is_alone && start.phase == Phase::Open, ..rate })
    }

    /// The facts of the ACK before any conclusion.
    #[inline(always)]
    fn ack_sample(&mut self, ack: &Acknowledgement, delivered: &Delivered, start: &Start, marked: u32) -> AckSample {
        let segments = (self.linux.rate.delivered - start.delivered) as u32;
        let (cwnd, ssthresh) = (self.control.cwnd(), self.control.ssthresh());
        let in_slow_start = cwnd < ssthresh;
        let limited = self.linux.usage.is_limited(cwnd, in_slow_start);
        let data_acked = delivered.segments > u32::from(delivered.syn);
        let credit = |mode| match mode {
            _ if !data_acked => 0.0,
            GrowthMode::PerByte => f64::from(segments),
            GrowthMode::PerAck => 1.0,
        };
        let was_measured = delivered.segments > 0 || delivered.reported_once.is_some();
        AckSample {
            now: ack.now,
            acked_segments: delivered.segments,
            acked_bytes: delivered.bytes,
            delivered_bytes: delivered.new_bytes,
            slow_start_credit: credit(self.config.growth.slow_start),
            avoidance_credit: credit(self.config.growth.avoidance),
            delivered_segments: segments,
            lost_segments: 0,
            total_delivered: self.linux.rate.delivered,
            total_lost: self.board.total_lost(),
            rate: None,
            next_departure: self.linux.rate.next_departure,
            rtt_sample: self.rtt.latest().filter(|_| was_measured),
            srtt: self.rtt.srtt(),
            prior_flight_bytes: start.flight_bytes,
            flight_bytes: self.board.pipe_bytes(),
            prior_flight_segments: start.flight_segments,
            flight_segments: self.flight_segments(),
            app_limited: self.is_unused(!limited),
            ece: marked > 0,
            round_trips: self.round_trips.acknowledged(self.board.una(), self.board.nxt()),
            in_recovery: self.linux.reduces(),
            ends_timeout: false,
            snd_una: self.board.una(),
            snd_nxt: self.board.nxt(),
            ce_segments: marked.min(segments),
            window: start.window,
            send_rate: if in_slow_start { self.window_in_a_tick() * 1024 } else { 0 },
            is_paced: self.config.pacing == Pacing::On,
            observed: false,
        }
    }
}
