//! The sending half: what may be sent now, and what acknowledgements change.

mod acknowledgement;
mod ecn;
mod recovery;
mod report;
mod rto;
mod scoreboard;
mod usage;

use lasthop_registry::Switch;
use lasthop_units::Time;

use crate::SeqNumber;
use crate::config::{Config, DecreaseFrom};
use crate::congestion_control::{CongestionCause, CongestionControl, CongestionEvent, Context, Moment};
use crate::sequence::Numbering;

pub(crate) use acknowledgement::{Acknowledgement, TimerChange};
use recovery::{Phase, Recovery};
use rto::RttEstimator;
pub(crate) use scoreboard::{Content, Sent};
use scoreboard::{Delivered, Scoreboard};
use usage::WindowUsage;

/// More than any run sends.
const FOREVER: u64 = 1 << 62;

/// What the application has asked for.
#[derive(Clone, Copy, Debug)]
struct Offered {
    /// offset after the last byte written
    end: u64,
    closed: bool,
    fin_sent: bool,
}

/// The peer's window. [RFC 9293 §3.8.6]
#[derive(Clone, Copy, Debug, Default)]
struct PeerWindow {
    /// first offset beyond it
    end: u64,
    /// largest seen, in bytes
    largest: u64,
    /// SND.WL1: offset of the peer's segment that set it
    set_by: u64,
    /// SND.WL2: acknowledgement of that segment
    set_at: u64,
}

/// What to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// what the scoreboard holds for lost, or a hole
    Again,
    /// the newest outstanding segment, once for each recovery
    NewestAgain,
    /// new data, and a FIN after it
    New { payload: u32, fin: bool },
}

/// The sending half of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    config: Config,
    numbering: Numbering,
    board: Scoreboard,
    rtt: RttEstimator,
    control: Box<dyn CongestionControl>,
    recovery: Recovery,
    usage: WindowUsage,
    marks: ecn::Marks,
    offered: Offered,
    window: PeerWindow,
    /// payload of a full segment
    mss: u32,
    /// SACK was agreed upon
    sack: bool,
    /// segments that the current event may still release
    burst: u32,
    last_sent: Time,
}

impl Sender {
    pub fn new(config: &Config, iss: SeqNumber) -> Self {
        let initial_ssthresh = match config.initial_ssthresh {
            Switch::Off => f64::INFINITY,
            Switch::On(segments) => f64::from(segments),
        };
        let context = Context {
            initial_window: f64::from(config.initial_window),
            initial_ssthresh,
            mss_bytes: config.payload_bytes(),
            growth: config.growth,
        };
        Sender {
            numbering: Numbering(iss),
            board: Scoreboard::new(config.duplicate_ack_threshold),
            rtt: RttEstimator::new(config),
            control: config.congestion_control.build(&context),
            recovery: Recovery::default(),
            usage: WindowUsage::default(),
            marks: ecn::Marks::default(),
            offered: Offered { end: 1, closed: false, fin_sent: false },
            window: PeerWindow::default(),
            mss: config.payload_bytes(),
            sack: false,
            burst: burst_of(config),
            last_sent: Time::NEVER,
            config: config.clone(),
        }
    }

    pub fn numbering(&self) -> Numbering {
        self.numbering
    }
    pub fn board(&self) -> &Scoreboard {
        &self.board
    }
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }
    pub fn control(&self) -> &dyn CongestionControl {
        &*self.control
    }

    /// What both sides' SYNs have settled: the peer's largest payload, and SACK.
    pub fn negotiate(&mut self, peer_payload: u32, sack: bool) {
        self.mss = self.mss.min(peer_payload.max(1));
        self.sack = sack;
    }

    pub fn write(&mut self, bytes: u64) {
        self.offered.end = self.offered.end.saturating_add(bytes).min(FOREVER);
    }
    pub fn write_forever(&mut self) {
        self.offered.end = FOREVER;
    }
    pub fn close(&mut self) {
        self.offered.closed = true;
    }
    pub fn is_closed(&self) -> bool {
        self.offered.closed
    }

    /// Bytes of the application that are acknowledged.
    pub fn acked_bytes(&self) -> u64 {
        self.board.una().saturating_sub(1).min(self.offered.end - 1)
    }

    /// Something is waiting that the peer's window holds back, and nothing is on its way to open it.
    pub fn needs_probe(&self) -> bool {
        self.board.is_empty() && self.has_unsent() && self.window.end <= self.board.nxt()
    }

    /// The largest window that the peer has offered, in bytes.
    pub fn largest_peer_window(&self) -> u64 {
        self.window.largest
    }

    fn has_unsent(&self) -> bool {
        self.offered.end > self.board.nxt() || (self.offered.closed && !self.offered.fin_sent)
    }

    /// A new event may release a new burst.
    pub fn renew_burst(&mut self) {
        self.burst = burst_of(&self.config);
    }

    /// The congestion window in bytes.
    fn cwnd_bytes(&self) -> u64 {
        (self.control.cwnd() * f64::from(self.mss)) as u64
    }

    /// Payload that the congestion window lets out now.
    fn allowance_bytes(&self) -> u64 {
        let cwnd = self.cwnd_bytes();
        let counts_pipe = self.sack || self.recovery.phase == Phase::AfterTimeout;
        if counts_pipe && (self.config.limited_transmit || self.recovery.phase != Phase::Open) {
            return cwnd.saturating_sub(self.board.pipe_bytes());
        }
        // Without SACK each duplicate ACK stands for a segment that has left the network.
        let extra = self.recovery.extra_window(self.mss, self.config.limited_transmit && !self.sack);
        cwnd.saturating_add_signed(extra).saturating_sub(self.board.outstanding_bytes())
    }

    /// What to send now, if anything.
    pub fn choose(&mut self, may_send_new: bool) -> Option<Choice> {
        if let Some(lost) = self.board.next_lost() {
            let fits = self.recovery.retransmit_now || u64::from(lost.payload()) <= self.allowance_bytes();
            return fits.then_some(Choice::Again);
        }
        if may_send_new
            && self.has_unsent()
            && let Some(new) = self.choose_new()
        {
            return Some(new);
        }
        if self.sack && self.recovery.phase == Phase::FastRecovery { self.choose_hole(may_send_new) } else { None }
    }

    /// New data, as far as both windows allow, without small pieces. [RFC 9293 §3.8.6.2.1]
    fn choose_new(&self) -> Option<Choice> {
        let nxt = self.board.nxt();
        let unsent = self.offered.end - nxt.min(self.offered.end);
        let room = self.window.end.saturating_sub(nxt);
        let wanted = unsent.min(u64::from(self.mss));
        let payload = wanted.min(room);
        let fin = self.offered.closed && !self.offered.fin_sent && payload == unsent && room > payload;
        if payload == 0 {
            return fin.then_some(Choice::New { payload: 0, fin });
        }
        let idle = self.board.is_empty();
        let too_small = payload < wanted && payload < self.window.largest / 2;
        let fits = payload <= self.allowance_bytes() && self.burst > 0;
        (idle || (fits && !too_small)).then_some(Choice::New { payload: payload as u32, fin })
    }

    /// With nothing lost and nothing new to send: holes, then the newest once. [RFC 6675 §4, NextSeg (3), (4)]
    fn choose_hole(&mut self, may_send_new: bool) -> Option<Choice> {
        let new_data_waits_for_cwnd = may_send_new && self.has_unsent() && self.window.end > self.board.nxt();
        if new_data_waits_for_cwnd || self.allowance_bytes() < u64::from(self.mss) {
            return None;
        }
        if self.board.next_hole().is_some() {
            return Some(Choice::Again);
        }
        if !self.recovery.rescued && self.board.newest_hole().is_some() {
            return Some(Choice::NewestAgain);
        }
        self.recovery.rescued = true;
        None
    }

    /// Carries out a choice.
    pub fn send(&mut self, now: Time, choice: Choice) -> Sent {
        let sent = match choice {
            Choice::Again => self.board.resend(now),
            Choice::NewestAgain => {
                self.recovery.rescued = true;
                self.board.resend_newest(now)
            }
            Choice::New { payload, fin } => self.send_new(now, payload, fin),
        };
        if choice == Choice::Again {
            self.recovery.retransmit_now = false;
        }
        self.usage.on_send(self.flight_bytes());
        self.last_sent = now;
        sent
    }

    fn send_new(&mut self, now: Time, payload: u32, fin: bool) -> Sent {
        if self.board.is_empty() {
            self.restart_if_idle(now);
            self.control.on_transmit_start(&self.moment(now));
        }
        self.burst = self.burst.saturating_sub(1);
        self.offered.fin_sent |= fin;
        let content = if fin { Content::Fin } else { Content::Data };
        self.board.push(now, payload + u32::from(fin), content)
    }

    /// The oldest segment sent again has the whole timeout before it, unless a long recovery is to end.
    pub fn restarts_timer(&self, sent: &Sent) -> bool {
        sent.retransmitted && self.board.is_head(sent) && !self.is_impatient()
    }

    /// Later partial ACKs leave the timer alone. [RFC 6582 §4]
    fn is_impatient(&self) -> bool {
        self.config.newreno_impatient && self.recovery.partial_acks > 1
    }

    /// Sends the SYN for the first time.
    pub fn send_syn(&mut self, now: Time) -> Sent {
        debug_assert_eq!(self.board.nxt(), 0);
        self.board.push(now, 1, Content::Syn)
    }

    /// After a pause of more than an RTO the window is no longer known to be right. [RFC 5681 §4.1]
    fn restart_if_idle(&mut self, now: Time) {
        if self.config.slow_start_after_idle && now.since(self.last_sent) > self.rtt.rto() {
            self.control.on_idle(f64::from(self.config.initial_window));
        }
    }

    /// What counts against the congestion window.
    fn flight_bytes(&self) -> u64 {
        if self.sack { self.board.pipe_bytes() } else { self.board.outstanding_bytes() }
    }

    /// The retransmission timer expired. [RFC 6298 §5.4-5.6, RFC 5681 §3.1, RFC 6582 §3.2 (4)]
    pub fn on_timeout(&mut self, now: Time) {
        let event = self.congestion_event(now, CongestionCause::Timeout);
        self.control.on_timeout(&event);
        self.note_reduction();
        self.rtt.back_off();
        self.board.lose_all();
        self.recovery.on_timeout(self.board.nxt());
    }

    /// The timer expired before the connection was open: no word on the path's congestion. [RFC 6298 §5.5]
    pub fn on_syn_timeout(&mut self) {
        self.rtt.back_off();
        self.resend_syn();
    }

    /// The SYN is acknowledged: what its loss did to the timer ends. [RFC 6298 §5.7]
    pub fn on_syn_acked(&mut self, now: Time) {
        if self.rtt.is_backed_off() {
            self.rtt.on_syn_lost();
        }
        self.recovery = Recovery::default();
        self.control.on_established(&self.moment(now), self.rtt.srtt());
    }

    /// The SYN goes out again.
    pub fn resend_syn(&mut self) {
        self.board.lose_all();
        self.recovery.retransmit_now = true;
    }

    fn congestion_event(&self, now: Time, cause: CongestionCause) -> CongestionEvent {
        let mss = f64::from(self.mss);
        let peer_window = self.window.end.saturating_sub(self.board.una()) as f64 / mss;
        let window = match self.config.decrease_from {
            DecreaseFrom::Cwnd => self.control.cwnd().min(peer_window),
            // What limited transmit sent does not count. [RFC 5681 §3.2]
            DecreaseFrom::FlightSize => self.control.cwnd().min(self.board.outstanding_bytes() as f64 / mss),
        };
        let repeated = cause == CongestionCause::Timeout && self.rtt.is_backed_off();
        let Moment { now, snd_una, snd_nxt } = self.moment(now);
        let flight_bytes = self.board.outstanding_bytes();
        CongestionEvent { now, cause, window, flight_bytes, repeated, snd_una, snd_nxt }
    }

    fn moment(&self, now: Time) -> Moment {
        Moment { now, snd_una: self.board.una(), snd_nxt: self.board.nxt() }
    }
}

fn burst_of(config: &Config) -> u32 {
    config.max_burst.as_option().copied().unwrap_or(u32::MAX)
}
