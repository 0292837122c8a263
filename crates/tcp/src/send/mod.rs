//! The sending half: the data that may be sent now, and the changes by acknowledgements.

mod ack_jumps;
mod ack_loss;
mod ack_watch;
mod acknowledgement;
mod arriving;
mod ecn;
mod linux;
mod marks;
mod pipe_ack;
mod recovery;
mod report;
mod round_trips;
mod rto;
mod scoreboard;
mod stream;
mod usage;
mod validation;

use std::sync::Arc;

use lasthop_units::{Hold, Time};

use crate::SeqNumber;
use crate::config::{Config, DecreaseFrom, RecoveryMachine};
use crate::congestion_control::{CongestionCause, CongestionControl, CongestionEvent, Moment, Needs, Outside, hold};
use crate::sequence::Numbering;

use ack_watch::AckWatch;
pub(crate) use arriving::{Acknowledgement, TimerChange};
use linux::Linux;
use marks::Marks;
pub(crate) use marks::Reported;
use pipe_ack::Validation;
use recovery::{Phase, Recovery};
use round_trips::RoundTrips;
use rto::RttEstimator;
pub(crate) use scoreboard::{Content, Sent};
use scoreboard::{Scoreboard, Stamp};
use stream::ByteStream;
pub use stream::{Delay, Write};
use usage::WindowUsage;

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

/// The segment to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// a segment that the scoreboard takes as lost, or a hole
    Again,
    /// the newest outstanding segment, once for each recovery
    NewestAgain,
    /// the newest outstanding segment, as a tail loss probe
    Probe,
    /// new data, and a FIN after it
    New { payload: u32, fin: bool },
}

/// The sending half of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    config: Arc<Config>,
    machine: RecoveryMachine,
    numbering: Numbering,
    board: Scoreboard,
    rtt: RttEstimator,
    control: Box<dyn CongestionControl>,
    /// loss recovery by the letter of the RFCs
    recovery: Recovery,
    usage: WindowUsage,
    round_trips: RoundTrips,
    validation: Validation,
    marks: Marks,
    /// loss recovery as in Linux; one of the two is at work
    linux: Linux,
    offered: ByteStream,
    window: PeerWindow,
    /// payload of a full segment
    mss: u32,
    /// bytes of a full segment that are left to options other than timestamps
    reserved: u32,
    /// SACK was agreed upon
    sack: bool,
    /// segments that the current event may still release
    burst: u32,
    last_sent: Time,
    /// retransmissions since the start
    retransmissions: u64,
    /// the application waits for room in the send buffer
    buffer_is_full: bool,
    /// counts missing ACKs
    ack_watch: Option<AckWatch>,
}

impl Sender {
    pub fn new(config: &Arc<Config>, iss: SeqNumber, control: Box<dyn CongestionControl>) -> Self {
        Sender {
            machine: config.recovery,
            numbering: Numbering(iss),
            board: Scoreboard::new(config.loss_detection),
            rtt: RttEstimator::new(config, iss.0),
            control,
            recovery: Recovery::default(),
            usage: WindowUsage::default(),
            round_trips: RoundTrips::default(),
            validation: Validation::default(),
            marks: Marks::default(),
            linux: Linux::new(config),
            offered: ByteStream::new(),
            window: PeerWindow::default(),
            mss: config.payload_bytes(),
            reserved: 0,
            sack: false,
            burst: burst_of(config),
            last_sent: Time::NEVER,
            retransmissions: 0,
            buffer_is_full: false,
            ack_watch: config.ack_loss.as_option().map(AckWatch::new),
            config: Arc::clone(config),
        }
    }

    /// True for recovery as in Linux.
    #[inline(always)]
    pub fn is_linux(&self) -> bool {
        self.machine == RecoveryMachine::Linux
    }

    /// True if it matters which copy of a segment an echoed timestamp answers, or whether ACKs are missing.
    pub fn reads_echoes(&self) -> bool {
        self.retransmissions > 0 || self.ack_watch.is_some()
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

    /// Replaces the controller's values by values from outside.
    pub fn set_outside(&mut self, values: Outside) {
        hold(&mut self.control, values);
    }

    /// Takes over the agreement of both SYNs: the largest payload that both take, and SACK.
    pub fn negotiate(&mut self, payload: u32, sack: bool) {
        self.mss = payload.max(1);
        self.reserved = 0;
        self.sack = sack;
        self.offered.join_pieces();
    }

    pub fn write(&mut self, bytes: u64, write: Write) {
        self.offered.write(bytes, write, self.board.nxt(), self.mss, self.window.largest);
    }
    pub fn write_forever(&mut self) {
        self.offered.write_forever();
    }
    pub fn set_delay(&mut self, delay: Delay) {
        self.offered.set_delay(delay);
    }
    pub fn delay(&self) -> Delay {
        self.offered.delay()
    }
    pub fn largest_peer_window(&self) -> u64 {
        self.window.largest
    }
    /// Bytes written and not yet sent.
    pub fn unsent_bytes(&self) -> u64 {
        self.offered.end - self.board.nxt().clamp(1, self.offered.end)
    }
    /// True if this segment is to carry PSH.
    pub fn is_pushed(&self, sent: &Sent) -> bool {
        sent.payload() > 0 && self.offered.is_pushed(sent.start + u64::from(sent.payload()))
    }
    pub fn close(&mut self) {
        self.offered.closed = true;
    }
    pub fn is_closed(&self) -> bool {
        self.offered.closed
    }

    /// The controller's demands.
    pub fn needs(&self) -> Needs {
        self.control.needs()
    }

    /// Bytes of the application that are acknowledged.
    pub fn acked_bytes(&self) -> u64 {
        self.board.una().saturating_sub(1).min(self.offered.end - 1)
    }

    /// True if waiting data is held back by the peer's window, and nothing in flight will open it.
    pub fn needs_probe(&self) -> bool {
        self.board.is_empty() && self.has_unsent() && self.window.end <= self.board.nxt()
    }

    /// True if the timer stands for the retransmission of data, not for a probe or for reordering.
    pub fn is_retransmission_due(&self) -> bool {
        !self.is_linux() || self.linux.timer.purpose == linux::Purpose::Retransmission
    }

    /// True if a short segment waits for more, and nothing in flight will release it.
    pub fn is_held(&self) -> bool {
        self.board.is_empty() && self.has_unsent() && self.window.end > self.board.nxt()
    }
    /// Releases waiting data.
    pub fn send_short(&mut self) {
        self.offered.send_short();
    }
    /// Releases waiting data, and pushes it.
    pub fn push_short(&mut self) {
        self.offered.push_short();
    }

    /// The reason for which it waits, when it has nothing more to send just now.
    pub fn hold(&self, now: Time, may_send_new: bool) -> Hold {
        let (nxt, has_lost) = (self.board.nxt(), self.board.has_to_resend());
        let has_new = may_send_new && self.has_unsent();
        let wanted = self.offered.unsent_in_piece(nxt).min(u64::from(self.mss));
        let has_room = if self.is_linux() { self.window_has_room() } else { self.allowance_bytes() >= wanted.max(1) };
        match (has_lost || has_new, has_room) {
            (false, _) => Hold::Application,
            (true, false) => Hold::CongestionWindow,
            (true, true) if !has_lost && self.window.end < nxt + wanted => Hold::ReceiveWindow,
            (true, true) if self.paced_until(now).is_some() => Hold::Pacing,
            (true, true) if !has_lost && self.offered.delays(self.board.una(), nxt, wanted, self.mss) => {
                Hold::Application
            }
            // Linux waits for the window to grow rather than send a short burst.
            (true, true) if self.is_linux() && self.config.tso_deferral && !self.board.is_empty() => {
                Hold::CongestionWindow
            }
            (true, true) => Hold::Device,
        }
    }

    #[inline]
    fn has_unsent(&self) -> bool {
        self.offered.end > self.board.nxt() || self.owes_fin()
    }

    /// True if the application has closed, and the FIN is not yet sent.
    #[inline]
    fn owes_fin(&self) -> bool {
        self.offered.closed && !self.offered.fin_sent
    }

    /// Allows a new burst for a new event.
    pub fn renew_burst(&mut self) {
        self.offered.on_event();
        self.burst = burst_of(&self.config);
        self.linux.release_nothing();
    }

    /// The congestion window in bytes.
    fn cwnd_bytes(&self) -> u64 {
        (self.control.cwnd() * f64::from(self.mss)) as u64
    }

    /// Payload that the congestion window lets out now, by the letter of the RFCs.
    #[inline]
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

    /// True if nothing is in flight, nothing waits and no probe is due, as at an end that only receives.
    #[inline(always)]
    fn is_idle(&self) -> bool {
        let asks_nothing = !self.linux.probe.due && self.linux.permission != linux::Permission::NewFirst;
        self.board.is_empty() && !self.has_unsent() && asks_nothing && self.recovery.phase == Phase::Open
    }

    /// The segment to send now, if any.
    #[inline(always)]
    pub fn choose(&mut self, now: Time, may_send_new: bool) -> Option<Choice> {
        if self.is_idle() {
            debug_assert!(self.choose_one(now, may_send_new).is_none(), "idle, with something to send");
            return None;
        }
        self.choose_one(now, may_send_new)
    }

    fn choose_one(&mut self, now: Time, may_send_new: bool) -> Option<Choice> {
        if self.is_linux() {
            return self.choose_linux(now, may_send_new);
        }
        if let Some(lost) = self.board.next_lost() {
            let fits = self.recovery.retransmit_now || u64::from(lost.payload()) <= self.allowance_bytes();
            return fits.then_some(Choice::Again);
        }
        if may_send_new
            && self.has_unsent()
            && let Some(new) = self.choose_new(Sender::allowance_bytes)
        {
            return Some(new);
        }
        if self.sack && self.recovery.phase == Phase::FastRecovery { self.choose_hole(may_send_new) } else { None }
    }

    /// New data, as far as both windows allow, without small pieces. [RFC 9293 §3.8.6.2.1]
    #[inline(always)]
    fn choose_new(&self, allowance: impl Fn(&Sender) -> u64) -> Option<Choice> {
        let nxt = self.board.nxt();
        let unsent = self.offered.end - nxt.min(self.offered.end);
        let room = self.window.end.saturating_sub(nxt);
        let wanted = self.offered.unsent_in_piece(nxt).min(u64::from(self.mss));
        let payload = wanted.min(room);
        let fin = self.owes_fin() && payload == unsent && room > payload;
        if payload == 0 {
            return fin.then_some(Choice::New { payload: 0, fin });
        }
        if !fin && self.offered.delays(self.board.una(), nxt, payload, self.mss) {
            return None;
        }
        let idle = self.board.is_empty();
        // Data cut short by the peer's window waits for it, or for the persist timer. [RFC 9293 §3.8.6.2.1]
        let too_small = payload < wanted
            && payload < self.window.largest / 2
            && !self.offered.is_let_go()
            && nxt + payload != self.linux.send_end;
        let fits = || payload <= allowance(self) && self.burst > 0;
        (!too_small && (idle || fits())).then_some(Choice::New { payload: payload as u32, fin })
    }

    /// A hole when nothing is lost and no data is new, then the newest once. [RFC 6675 §4, NextSeg (3), (4)]
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
        let stamp = self.stamp(now);
        let sent = match choice {
            Choice::Again => self.send_again(now, stamp),
            Choice::NewestAgain => {
                self.recovery.rescued = true;
                self.board.resend_newest(now, stamp)
            }
            Choice::Probe => self.board.probe_newest(now, stamp),
            Choice::New { payload, fin } => self.send_new(now, payload, fin, stamp),
        };
        self.retransmissions += u64::from(sent.retransmitted);
        self.last_sent = now;
        if self.is_linux() {
            self.after_send(now, choice, &sent);
        } else {
            self.usage.on_send(self.flight_bytes());
        }
        sent
    }

    fn send_again(&mut self, now: Time, stamp: Option<Stamp>) -> Sent {
        self.recovery.retransmit_now = false;
        let segment = match self.board.next_lost() {
            Some(lost) => lost,
            None => self.board.next_hole().expect("chosen only where there is one"),
        };
        self.board.resend(now, &segment, stamp)
    }

    fn send_new(&mut self, now: Time, payload: u32, fin: bool, stamp: Option<Stamp>) -> Sent {
        if self.board.is_empty() {
            self.restart_if_idle(now);
            self.validate_on_send(now);
            self.control.on_transmit_start(&self.moment(now));
            self.settle_window();
        }
        self.burst = self.burst.saturating_sub(1);
        self.offered.fin_sent |= fin;
        if payload > 0 {
            let nxt = self.board.nxt();
            let end = nxt + u64::from(payload);
            self.offered.on_sent(nxt, end, self.mss, end == self.linux.send_end);
        }
        let content = if fin { Content::Fin } else { Content::Data };
        self.board.push(now, payload + u32::from(fin), content, stamp)
    }

    /// True if a retransmission of the oldest starts the timeout again, unless a long recovery is to end.
    pub fn restarts_timer(&self, sent: &Sent) -> bool {
        sent.retransmitted && self.board.is_head(sent) && !self.is_impatient()
    }

    /// True if later partial ACKs leave the timer alone. [RFC 6582 §4]
    fn is_impatient(&self) -> bool {
        self.config.newreno_impatient && self.recovery.partial_acks > 1
    }

    /// Sends the SYN for the first time.
    pub fn send_syn(&mut self, now: Time) -> Sent {
        debug_assert_eq!(self.board.nxt(), 0);
        let stamp = self.stamp(now);
        self.board.push(now, 1, Content::Syn, stamp)
    }

    /// Restarts a window that a pause of more than an RTO has made uncertain. [RFC 5681 §4.1]
    fn restart_if_idle(&mut self, now: Time) {
        let pause = now.since(self.last_sent);
        if self.config.slow_start_after_idle && pause > self.rtt.rto() {
            let least = f64::from(self.config.initial_window);
            self.control.on_idle(if self.is_linux() { self.window_after_pause(pause, least) } else { least });
        }
    }

    /// The data that counts against the congestion window.
    fn flight_bytes(&self) -> u64 {
        if self.sack { self.board.pipe_bytes() } else { self.board.outstanding_bytes() }
    }

    /// Deadline of the timer that the sender keeps itself; `None` where the endpoint does.
    pub fn deadline(&self) -> Option<Time> {
        self.is_linux().then_some(self.linux.timer.deadline)
    }

    /// Called when the retransmission timer expires. [RFC 6298 §5.4-5.6, RFC 5681 §3.1, RFC 6582 §3.2 (4)]
    pub fn on_timeout(&mut self, now: Time) {
        let event = self.congestion_event(now, CongestionCause::Timeout);
        self.control.on_timeout(&event);
        self.forget_validation();
        self.queue_cwr();
        self.rtt.back_off();
        self.board.lose_after_timeout(|_| true);
        self.recovery.on_timeout(self.board.nxt());
    }

    /// Called when the timer expires before the connection is open: no sign of congestion. [RFC 6298 §5.5]
    pub fn on_syn_timeout(&mut self, doubles: bool) {
        if doubles {
            self.rtt.back_off();
        }
        self.resend_syn();
    }

    /// Called when the SYN is acknowledged: the effect of its loss on the timer ends. [RFC 6298 §5.7]
    pub fn on_syn_acked(&mut self, now: Time, timed_out: bool) {
        if timed_out || self.rtt.is_backed_off() {
            self.rtt.on_syn_lost();
        }
        self.recovery = Recovery::default();
        self.linux.restart();
        self.control.on_established(&self.moment(now), self.rtt.srtt());
        self.settle_window();
    }

    /// Retransmits the SYN.
    pub fn resend_syn(&mut self) {
        self.board.lose_after_timeout(|_| true);
        self.recovery.retransmit_now = true;
    }

    fn congestion_event(&self, now: Time, cause: CongestionCause) -> CongestionEvent {
        let mss = f64::from(self.mss);
        let peer_window = self.window.end.saturating_sub(self.board.una()) as f64 / mss;
        let window = match self.config.decrease_from {
            DecreaseFrom::Cwnd => self.control.cwnd().min(peer_window),
            // Data sent by limited transmit does not count. [RFC 5681 §3.2]
            DecreaseFrom::FlightSize => self.control.cwnd().min(self.board.outstanding_bytes() as f64 / mss),
        };
        let window = self.window_in_use(now, window);
        let repeated = cause == CongestionCause::Timeout && self.rtt.is_backed_off();
        let Moment { now, snd_una, snd_nxt, .. } = self.moment(now);
        let flight_bytes = self.board.outstanding_bytes();
        CongestionEvent { now, cause, window, flight_bytes, repeated, snd_una, snd_nxt, total_lost: 0 }
    }

    fn moment(&self, now: Time) -> Moment {
        Moment {
            now,
            snd_una: self.board.una(),
            snd_nxt: self.board.nxt(),
            app_limited: self.linux.rate.is_app_limited(),
        }
    }
}

fn burst_of(config: &Config) -> u32 {
    config.max_burst.as_option().copied().unwrap_or(u32::MAX)
}
