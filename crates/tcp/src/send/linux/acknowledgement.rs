//! An acknowledgement, from its header to the window.

use lasthop_units::Duration;

use super::super::acknowledgement::{Acknowledgement, Outcome};
use super::super::scoreboard::{Credible, Delivered};
use super::super::{Sender, TimerChange};
use super::Sends;
use super::probe::ProbeAnswer;
use super::states::News;
use crate::config::{GrowthMode, Pacing};
use crate::congestion_control::{AckSample, RateSample};
use crate::counters::Counters;
use crate::info::CaState;
use crate::ranges::Range;

/// How things stood before.
struct Before {
    una: u64,
    flight_segments: u32,
    flight_bytes: u64,
    highest_report: u64,
    delivered: u64,
    lost: u64,
    state: CaState,
    sacked: u32,
    window: u32,
}

/// What SACK blocks say beside what is newly delivered.
#[derive(Clone, Copy, Debug, Default)]
struct Reports {
    /// a block repeats what was acknowledged or reported [RFC 2883 §4]
    dsack: bool,
    /// and it is that of the tail probe
    dsack_of_probe: bool,
    /// start of a segment that was sent again although a report of it had been under way
    sent_in_vain: Option<u64>,
}

impl Sender {
    /// Takes in an acknowledgement; it may lie below SND.UNA, if it carries SACK blocks.
    pub(in crate::send) fn on_ack_linux(&mut self, ack: &Acknowledgement, counters: &mut Counters) -> Outcome {
        let before = self.before();
        let nothing_out = self.board.is_empty();
        let advances = ack.ack > before.una;
        if advances {
            self.linux.timeouts = 0;
        }
        self.linux.sends = Sends::NewOnly;
        let window_changes = ack.ack >= before.una && self.update_window(ack);
        let mut delivered = Delivered::judged_by(self.credible(ack));
        let reports = self.take_blocks(ack, &mut delivered);
        let reported = delivered.new_segments;
        if nothing_out {
            self.read_marks(ack.flags, 0);
            if reports.dsack {
                self.react(ack, &mut News::default());
                self.settle_window();
            }
            return Outcome { timer: TimerChange::Keep, syn_acked: false, fin_acked: false };
        }
        self.note_late_reports(&delivered, &reports);
        if advances {
            self.board.acknowledge(ack.ack, &mut delivered);
            self.offered.on_acknowledged(ack.ack);
        }
        self.note_rest(ack.now);
        let restarts = self.measure(ack, &delivered);
        let repairs = matches!(before.state, CaState::Recovery | CaState::Loss);
        self.validate_on_ack(ack.now, delivered.new_bytes, repairs);
        let marked = self.read_marks(ack.flags, delivered.new_segments);
        self.settle(&delivered, &before);
        self.linux.rack.advance(&delivered);
        let prior_delivered = delivered.rated.map(|(_, stamp)| stamp.delivered);
        self.linux.rack.adapt(prior_delivered.filter(|&prior| prior > 0), self.linux.rate.delivered);
        let sample = self.ack_sample(ack, &delivered, &before, marked);
        self.linux.rate.delivered_ce += sample.ce_segments;
        let observed = delivered.new_segments > u32::from(delivered.syn) && self.control.observe(&sample);
        let sample = AckSample { observed, ..sample };
        let acked = delivered.segments > 0;
        let not_dup = !ack.is_pure || window_changes || acked;
        let plain_duplicate = !advances && !not_dup && reported == 0;
        let answer = ProbeAnswer { ack: ack.ack, dsack: reports.dsack_of_probe, plain_duplicate };
        self.judge_probe(ack.now, &answer);
        let mut news = News {
            prior_una: before.una,
            advances,
            reports: reported > 0,
            // Without SACK nothing tells which of the two copies came.
            originals: delivered.original_end.is_some_and(|end| end <= self.linux.high)
                && (self.sack || !delivered.acked_retransmitted),
            duplicate: !advances && !not_dup && !reports.dsack,
            ece: marked > 0,
            waits: false,
        };
        let is_dubious = !not_dup || reported > 0 || news.ece || reports.dsack || self.linux.state != CaState::Open;
        counters.duplicate_acks_received += u64::from(news.duplicate || reported > 0);
        if is_dubious {
            counters.fast_retransmits += u64::from(self.react(ack, &mut news));
        }
        if restarts && !news.waits {
            self.restart_timer(ack.now);
        }
        self.control_congestion(&sample, &delivered, &before, advances);
        self.settle_window();
        Outcome { timer: TimerChange::Keep, syn_acked: delivered.syn, fin_acked: delivered.fin }
    }

    fn before(&self) -> Before {
        Before {
            una: self.board.una(),
            flight_segments: self.flight_segments(),
            flight_bytes: self.board.pipe_bytes(),
            highest_report: if self.sack { self.board.highest_report() } else { self.board.una() },
            delivered: self.linux.rate.delivered,
            lost: self.board.total_lost(),
            state: self.linux.state,
            sacked: self.sacked_segments(),
            window: self.linux.window,
        }
    }

    fn credible(&self, ack: &Acknowledgement) -> Credible {
        let min_rtt = self.linux.min_rtt().unwrap_or(Duration::ZERO);
        Credible { now: ack.now, min_rtt, echo_ends: ack.echo_ends }
    }

    /// SACK blocks, from the lowest to the highest, and the DSACK among them. [RFC 2018 §3, RFC 2883 §4]
    fn take_blocks(&mut self, ack: &Acknowledgement, delivered: &mut Delivered) -> Reports {
        if !self.sack || ack.sack.is_empty() {
            return Reports::default();
        }
        let mut blocks = [Range { start: 0, end: 0 }; 4];
        let mut count = 0;
        for block in ack.sack.as_slice() {
            let near = self.board.una();
            let ends = (self.numbering.offset(block.left, near), self.numbering.offset(block.right, near));
            if let (Some(start), Some(end)) = ends
                && start < end
            {
                blocks[count] = Range { start, end };
                count += 1;
            }
        }
        let blocks = &mut blocks[..count];
        let reports = self.take_duplicate(ack, blocks);
        blocks.sort_unstable_by_key(|block| block.start);
        let nxt = self.board.nxt();
        for block in blocks.iter().filter(|block| block.end > ack.ack && block.end <= nxt) {
            self.board.report(*block, delivered);
        }
        reports
    }

    /// The first block is a duplicate if it lies below the acknowledgement, or within the second. [RFC 2883 §4]
    fn take_duplicate(&mut self, ack: &Acknowledgement, blocks: &[Range]) -> Reports {
        let Some(first) = blocks.first() else { return Reports::default() };
        let below = first.start < ack.ack;
        let within = blocks.get(1).is_some_and(|second| second.start <= first.start && first.end <= second.end);
        if !(below || within) || first.end > self.board.nxt() {
            return Reports::default();
        }
        let segments = ((first.end - first.start).div_ceil(u64::from(self.mss))) as u32;
        self.linux.dsacks += segments;
        // More duplicates than were ever sent again: the network makes them.
        if u64::from(self.linux.dsacks) > self.retransmissions {
            return Reports { dsack: true, ..Reports::default() };
        }
        // A retransmission for nothing has arrived too.
        self.linux.rate.delivered += u64::from(segments);
        let dsack_of_probe = self.linux.probe.ends_at(first.end);
        self.linux.rack.dsack_seen |= self.linux.reordering_seen > 0 && !dsack_of_probe;
        let again = self.board.at(first.start).filter(|segment| segment.retransmitted && segment.reported);
        let sent_in_vain = again.map(|segment| segment.start);
        let undo = &mut self.linux.undo;
        let is_old = below && first.end <= self.board.una().max(ack.ack);
        if let (Some(marker), Some(left)) = (undo.marker, undo.retransmissions)
            && first.end > marker
            && (is_old || within)
        {
            undo.retransmissions = Some(left.saturating_sub(segments));
        }
        Reports { dsack: true, dsack_of_probe, sent_in_vain }
    }

    /// RTT samples: by the time of sending where that is certain, else by timestamp. True if the timer is to restart.
    /// [RFC 6298 §3, RFC 7323 §4.1]
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
        // A report of data sent before the head was last sent says nothing of the head.
        match (self.board.head(), by_report) {
            (Some(head), Some((first, _))) => first > now.since(head.sent_at),
            _ => false,
        }
    }

    fn note_late_reports(&mut self, delivered: &Delivered, reports: &Reports) {
        let counts = self.linux.state != CaState::Loss || self.linux.undo.marker.is_some();
        let low = match (delivered.late_report, reports.sent_in_vain) {
            (Some(late), Some(in_vain)) => Some(late.min(in_vain)),
            (late, in_vain) => late.or(in_vain),
        };
        if let Some(low) = low.filter(|_| counts) {
            self.note_reordering(low);
        }
    }

    /// Counts what has arrived; a hole that was never sent again and is filled shows reordering.
    fn settle(&mut self, delivered: &Delivered, before: &Before) {
        if !self.sack {
            return self.forget_duplicates(delivered.segments);
        }
        if let Some(low) = delivered.lowest_acked.filter(|&low| low < before.highest_report) {
            self.note_reordering(low);
        }
        self.linux.rate.delivered += u64::from(delivered.new_segments);
    }

    /// The window, step by step or by the controller.
    fn control_congestion(&mut self, early: &AckSample, delivered: &Delivered, before: &Before, advances: bool) {
        let segments = self.linux.rate.delivered - before.delivered;
        let lost = (self.board.total_lost() - before.lost) as u32;
        let rate = self.delivery_rate(early, delivered, before, segments);
        let reduces = self.linux.reduces();
        if reduces && !self.control.owns_recovery() {
            self.step_reduction(segments as u32, lost, advances);
        }
        // Where reordering is common, reports are progress enough.
        let reordered = self.linux.reordering > self.config.duplicate_ack_threshold;
        let may_grow = delivered.segments > u32::from(delivered.syn) || (reordered && delivered.new_segments > 0);
        let of_data = segments > u64::from(delivered.syn);
        if of_data || lost > 0 || self.control.owns_recovery() {
            self.control.on_ack(&AckSample {
                in_recovery: reduces,
                acked_segments: if may_grow { segments as u32 } else { 0 },
                delivered_segments: segments as u32,
                lost_segments: lost,
                total_delivered: self.linux.rate.delivered,
                total_lost: self.board.total_lost(),
                rate,
                flight_bytes: self.board.pipe_bytes(),
                flight_segments: self.flight_segments(),
                ends_timeout: before.state == CaState::Loss && self.linux.state == CaState::Open,
                ..*early
            });
        }
        if self.control.holds_back() {
            let flight = self.flight_segments();
            self.linux.rate.limit_by_application(flight);
        }
    }

    fn delivery_rate(
        &mut self,
        early: &AckSample,
        delivered: &Delivered,
        before: &Before,
        segments: u64,
    ) -> Option<RateSample> {
        // `sample` counts them itself.
        self.linux.rate.delivered = before.delivered;
        let min_rtt = self.linux.min_rtt().unwrap_or(Duration::ZERO);
        let total_lost = self.board.total_lost();
        let rate = self.linux.rate.sample(early.now, delivered, segments, total_lost, min_rtt)?;
        let is_ack_delayed =
            delivered.segments == 1 && before.sacked == 0 && before.state == CaState::Open && rate.delivered == 1;
        Some(RateSample { is_ack_delayed, ..rate })
    }

    /// What the ACK says before anything is concluded from it.
    fn ack_sample(&mut self, ack: &Acknowledgement, delivered: &Delivered, before: &Before, marked: u32) -> AckSample {
        let segments = (self.linux.rate.delivered - before.delivered) as u32;
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
            prior_flight_bytes: before.flight_bytes,
            flight_bytes: self.board.pipe_bytes(),
            prior_flight_segments: before.flight_segments,
            flight_segments: self.flight_segments(),
            app_limited: self.is_unused(!limited),
            ece: marked > 0,
            round_trips: self.linux.usage.rounds(),
            in_recovery: self.linux.reduces(),
            ends_timeout: false,
            snd_una: self.board.una(),
            snd_nxt: self.board.nxt(),
            ce_segments: marked.min(segments),
            window: before.window,
            send_rate: if in_slow_start { self.window_in_a_tick() * 1024 } else { 0 },
            is_paced: self.config.pacing == Pacing::On,
            observed: false,
        }
    }
}
