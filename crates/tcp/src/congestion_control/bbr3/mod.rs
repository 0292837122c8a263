//! BBR version 3: BBR with bounds on the data in flight, learned from losses.
//!
//! Source: draft-ietf-ccwg-bbr-02; section numbers are those of the draft. Not held against any other implementation.
//! Holds: the state machine (§5.3), the filters of bandwidth, RTT and ACK aggregation (§5.5), the long-term and
//! short-term bounds (§5.5.7, §5.5.8, §5.5.10), pacing rate and window (§5.6).
//!
//! ```text
//! Startup ─► Drain ─► Down ─► Cruise ─► Refill ─► Up ─► Down …        ProbeRtt every 5 s without a lower RTT
//! ```
//! Leaves out: the flight at the sending of each lost segment (§5.5.10.2, BBRInflightAtLoss), replaced by the newest
//! sample of the ACK; the count of gaps that ends Startup, replaced by a count of ACKs that report a loss; ECN.

mod cycle;
mod model;
mod probe_bw;

use lasthop_registry::{ParamError, params};
use lasthop_units::{DataRate, Duration, Time};

use super::{AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, Draws, Moment, Needs, Prior};
use cycle::Cycle;
use model::{Aggregation, FullPipe, MaxRate, MinRtt, Rounds, ShortTerm};

params! {
    /// Parameters of BBR version 3.
    pub struct Params {
        /// Share of segments that may be lost while probing. [§2.7, BBR.LossThresh]
        pub loss_threshold: f64 = 0.02,
        /// Factor by which a loss lowers the bounds. [§2.7, BBR.Beta]
        pub beta: f64 = 0.7,
        /// Share of the bound left to other flows while cruising. [§2.7, BBR.Headroom]
        pub headroom: f64 = 0.15,
        /// Time after which the least RTT is measured again, if no lower one came. [§2.14.2, BBR.ProbeRTTInterval]
        pub probe_rtt_interval: Duration = Duration::from_secs(5),
    }
    check |params, path| {
        let shares = [("loss_threshold", params.loss_threshold), ("beta", params.beta), ("headroom", params.headroom)];
        for (key, share) in shares {
            if !(share > 0.0 && share < 1.0) {
                return Err(ParamError::new(format!("{path}.{key}"), "must lie between 0 and 1"));
            }
        }
        Ok(())
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        Box::new(Bbr::new(self, context))
    }
}

/// Gains of pacing and window. [§2.4, §5.3]
const STARTUP_PACING: f64 = 2.77;
const DRAIN_PACING: f64 = 0.5;
const DOWN_PACING: f64 = 0.9;
const UP_PACING: f64 = 1.25;
const CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
/// Pacing stays below the estimate by a hundredth. [§5.6.2]
const PACING_MARGIN: f64 = 0.99;
/// The least window, in segments. [§2.7, BBR.MinPipeCwnd]
const LEAST_WINDOW: f64 = 4.0;
/// Duration of ProbeRTT. [§2.14.2]
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// ACKs that report losses in a round trip, to end Startup. [§5.3.1.3]
const STARTUP_LOSSES: u32 = 6;
/// RTT assumed before the first sample. [§5.6.2]
const NOMINAL_RTT_S: f64 = 0.001;

/// [§5.3]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// True if it sends more than the path is known to carry. [§5.5.10.3, IsProbingBW]
    fn probes(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }

    fn gains(self) -> (f64, f64) {
        match self {
            State::Startup => (STARTUP_PACING, CWND_GAIN),
            State::Drain => (DRAIN_PACING, CWND_GAIN),
            State::Down => (DOWN_PACING, CWND_GAIN),
            State::Cruise | State::Refill => (1.0, CWND_GAIN),
            State::Up => (UP_PACING, UP_CWND_GAIN),
            State::ProbeRtt => (1.0, PROBE_RTT_CWND_GAIN),
        }
    }
}

/// ProbeRTT under way. [§5.3.4]
#[derive(Clone, Copy, Debug)]
struct Holding {
    until: Time,
    round_done: bool,
}

#[derive(Debug)]
struct Bbr {
    params: Params,
    draws: Draws,
    mss: f64,
    /// Window in segments until the model knows the path; the model may hold the window only after as many segments
    /// arrived. [§2.2, C.InitialCwnd; §5.6.4.2, §5.6.4.6]
    initial_window: f64,
    /// in segments
    cwnd: f64,
    ssthresh: f64,
    /// segments per s
    pacing: f64,
    has_rtt: bool,
    state: State,
    rounds: Rounds,
    max_rate: MaxRate,
    min_rtt: MinRtt,
    full: FullPipe,
    aggregation: Aggregation,
    short_term: ShortTerm,
    /// most that may be in flight, in segments; infinite until a loss [§2.9, inflight_longterm]
    long_term: f64,
    cycle: Cycle,
    holding: Option<Holding>,
    /// window to restore
    prior_cwnd: f64,
    recovers: bool,
    conserves: bool,
    restarts_from_idle: bool,
    /// segments delivered since the connection began
    total_delivered: u64,
}

impl Bbr {
    fn new(params: &Params, context: &Context) -> Bbr {
        let cwnd = context.initial_window;
        Bbr {
            params: params.clone(),
            draws: context.draws,
            mss: f64::from(context.mss_bytes),
            initial_window: cwnd,
            cwnd,
            ssthresh: context.initial_ssthresh,
            pacing: STARTUP_PACING * cwnd / NOMINAL_RTT_S,
            has_rtt: false,
            state: State::Startup,
            rounds: Rounds::default(),
            max_rate: MaxRate::default(),
            min_rtt: MinRtt::default(),
            full: FullPipe::default(),
            aggregation: Aggregation::default(),
            short_term: ShortTerm::default(),
            long_term: f64::INFINITY,
            cycle: Cycle::default(),
            holding: None,
            prior_cwnd: 0.0,
            recovers: false,
            conserves: false,
            restarts_from_idle: false,
            total_delivered: 0,
        }
    }

    /// The rate in use, in segments per s. [§5.5.6]
    fn rate(&self) -> f64 {
        self.max_rate.get().min(self.short_term.rate)
    }

    /// [§5.6.4.2, BBRBDPMultiple]
    fn path_holds(&self, rate: f64, gain: f64) -> f64 {
        self.min_rtt.s.map_or(self.initial_window, |min_rtt_s| gain * rate * min_rtt_s)
    }

    /// Segments handed over at once: about 1 ms. [§5.6.3]
    fn quantum(&self) -> f64 {
        (self.pacing * 0.001).clamp(2.0, 44.0)
    }

    /// [§5.6.4.2, BBRQuantizationBudget]
    fn with_room(&self, segments: f64) -> f64 {
        let least = segments.max(3.0 * self.quantum()).max(LEAST_WINDOW);
        if self.state == State::Up { least + 2.0 } else { least }
    }

    fn target(&self, gain: f64) -> f64 {
        self.with_room(self.path_holds(self.rate(), gain))
    }

    /// The long-term bound less the headroom. [§5.3.3.6]
    fn with_headroom(&self) -> f64 {
        if self.long_term.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = (self.params.headroom * self.long_term).max(1.0);
        (self.long_term - headroom).max(LEAST_WINDOW)
    }

    /// [§5.2.3, BBRUpdateModelAndState]
    fn update_model(&mut self, ack: &AckSample) {
        self.total_delivered = ack.total_delivered;
        if ack.lost_segments > 0 {
            self.short_term.note_loss(ack.total_delivered);
        }
        let rate = ack.rate.map(|sample| f64::from(sample.delivered) / sample.interval.as_secs_f64().max(1e-9));
        if let (Some(sample), Some(rate)) = (&ack.rate, rate) {
            self.short_term.hear(sample, rate, ack.total_delivered);
            self.rounds.hear(sample, ack.total_delivered);
            self.cycle.rounds_since_probe += u32::from(self.rounds.begins);
            self.max_rate.hear(rate, sample.is_app_limited);
            self.adapt_short_term();
        } else {
            self.rounds.begins = false;
            self.short_term.round_begins = false;
        }
        self.conserves &= !self.rounds.begins;
        let known = self.rate();
        if self.rounds.begins {
            self.aggregation.begin_round(self.full.reached);
        }
        self.aggregation.hear(ack.now, f64::from(ack.delivered_segments), known, self.cwnd);
        self.look_for_full_pipe(ack, rate);
        if self.state == State::Drain && f64::from(ack.flight_segments) <= self.target(1.0) {
            self.start_down(ack.now);
        }
        if self.full.reached {
            self.update_cycle(ack, rate.unwrap_or(0.0));
        }
        let expired = self.min_rtt.hear(ack.now, ack.rtt_sample, self.params.probe_rtt_interval);
        self.check_probe_rtt(ack, expired);
        if let (Some(sample), Some(rate)) = (&ack.rate, rate) {
            self.short_term.advance(sample, rate);
        }
    }

    /// [§5.5.10.3, BBRAdaptLowerBoundsFromCongestion]
    fn adapt_short_term(&mut self) {
        if !self.short_term.round_begins {
            return;
        }
        if self.short_term.lost && !self.state.probes() {
            let (rate, cwnd) = (self.max_rate.get(), self.cwnd);
            self.short_term.lower(rate, cwnd, self.params.beta);
        }
        self.short_term.lost = false;
    }

    /// [§5.3.1.2, §5.3.1.3]
    fn look_for_full_pipe(&mut self, ack: &AckSample, rate: Option<f64>) {
        let app_limited = ack.rate.is_some_and(|sample| sample.is_app_limited);
        if let Some(rate) = rate.filter(|_| self.rounds.begins && !app_limited) {
            self.full.hear(rate);
        }
        if self.state != State::Startup {
            return;
        }
        self.full.losses += u32::from(ack.lost_segments > 0);
        if self.rounds.begins {
            let too_high = ack.rate.is_some_and(|sample| self.is_too_high(&sample));
            if self.recovers && self.full.losses >= STARTUP_LOSSES && too_high {
                self.full.reached = true;
                self.long_term = self.path_holds(self.max_rate.get(), 1.0).max(self.short_term.latest_flight);
            }
            self.full.losses = 0;
        }
        if self.full.reached {
            self.state = State::Drain;
        }
    }

    /// [§5.3.4.3, BBRCheckProbeRTT]
    fn check_probe_rtt(&mut self, ack: &AckSample, expired: bool) {
        if self.state != State::ProbeRtt && expired && !self.restarts_from_idle {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.holding = None;
            self.cycle.stop_probing();
            self.rounds.start(ack.total_delivered);
        }
        if self.state == State::ProbeRtt {
            self.hold_probe_rtt(ack);
        }
        if ack.delivered_segments > 0 {
            self.restarts_from_idle = false;
        }
    }

    fn hold_probe_rtt(&mut self, ack: &AckSample) {
        let is_drained = f64::from(ack.flight_segments) <= self.probe_rtt_cwnd();
        match &mut self.holding {
            None if is_drained => {
                self.holding = Some(Holding { until: ack.now + PROBE_RTT_DURATION, round_done: false });
                self.rounds.start(ack.total_delivered);
            }
            None => {}
            Some(holding) => {
                holding.round_done |= self.rounds.begins;
                if holding.round_done {
                    self.leave_probe_rtt(ack.now);
                }
            }
        }
    }

    fn leave_probe_rtt(&mut self, now: Time) {
        if self.holding.is_none_or(|holding| now <= holding.until) {
            return;
        }
        self.min_rtt.probed_at = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.short_term.forget();
        if self.full.reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn probe_rtt_cwnd(&self) -> f64 {
        self.path_holds(self.rate(), PROBE_RTT_CWND_GAIN).max(LEAST_WINDOW)
    }

    fn save_cwnd(&mut self) {
        let is_good = !self.recovers && self.state != State::ProbeRtt;
        self.prior_cwnd = if is_good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// Paces at the initial window per RTT, with the first RTT known. [§5.6.2, BBRInitPacingRate]
    fn begin_pacing(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt.filter(|rtt| !self.has_rtt && *rtt > Duration::ZERO) {
            self.pacing = STARTUP_PACING * self.cwnd / rtt.as_secs_f64();
            self.has_rtt = true;
        }
    }

    /// [§5.6.2]
    fn pace(&mut self, gain: f64) {
        let rate = gain * self.rate() * PACING_MARGIN;
        if rate > 0.0 && (self.full.reached || rate > self.pacing) {
            self.pacing = rate;
        }
    }

    /// [§5.6.4.6]
    fn set_cwnd(&mut self, ack: &AckSample) {
        let acked = f64::from(ack.delivered_segments);
        if ack.lost_segments > 0 {
            self.cwnd = (self.cwnd - f64::from(ack.lost_segments)).max(1.0);
        }
        if self.conserves {
            self.cwnd = self.cwnd.max(f64::from(ack.flight_segments) + acked);
        } else if acked > 0.0 {
            let most = self.with_room(self.path_holds(self.rate(), self.state.gains().1) + self.aggregation.extra());
            if self.full.reached {
                self.cwnd = (self.cwnd + acked).min(most);
            } else if self.cwnd < most || (ack.total_delivered as f64) < self.initial_window {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(LEAST_WINDOW);
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.cwnd = self.cwnd.min(self.bound());
    }

    /// [§5.6.4.7, BBRBoundCwndForModel]
    fn bound(&self) -> f64 {
        let long_term = match self.state {
            State::Cruise | State::ProbeRtt => self.with_headroom(),
            state if state.is_probe_bw() => self.long_term,
            _ => f64::INFINITY,
        };
        long_term.min(self.short_term.flight).max(LEAST_WINDOW)
    }
}

impl CongestionControl for Bbr {
    fn needs(&self) -> Needs {
        Needs { paced: true, rate_samples: true, ..Needs::NONE }
    }

    fn on_established(&mut self, at: &Moment, rtt: Option<Duration>) {
        self.min_rtt.begin(at.now, rtt);
        self.aggregation.begin(at.now);
        self.begin_pacing(rtt);
    }

    /// [§5.4.1]
    fn on_transmit_start(&mut self, at: &Moment) {
        if !at.app_limited {
            return;
        }
        self.restarts_from_idle = true;
        self.aggregation.begin(at.now);
        if self.state.is_probe_bw() {
            self.pace(1.0);
        } else if self.state == State::ProbeRtt {
            self.leave_probe_rtt(at.now);
        }
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if ack.ends_timeout {
            self.recovers = false;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        self.update_model(ack);
        self.begin_pacing(ack.srtt);
        self.pace(self.state.gains().0);
        self.set_cwnd(ack);
    }

    /// [§5.6.4.4]
    fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.cause == CongestionCause::Ecn {
            return;
        }
        self.save_cwnd();
        self.recovers = true;
        self.conserves = true;
    }

    /// [§5.6.4.4]
    fn on_timeout(&mut self, _: &CongestionEvent) {
        self.save_cwnd();
        self.cwnd = 1.0;
        self.recovers = true;
        self.conserves = false;
    }

    fn on_recovery_exit(&mut self, _: &Moment) {
        self.recovers = false;
        self.conserves = false;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// [§5.5.11]
    fn on_spurious(&mut self, at: &Moment, _: &Prior) {
        self.short_term.forget();
        self.full.restart(0.0);
        self.on_recovery_exit(at);
    }

    fn set_window(&mut self, segments: f64) {
        self.cwnd = segments;
    }

    fn set_ssthresh(&mut self, segments: f64) {
        self.ssthresh = segments;
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn holds_back(&self) -> bool {
        self.state == State::ProbeRtt
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        Some(DataRate::from_bps((self.pacing * self.mss * 8.0).clamp(8.0, 1e15) as u64))
    }

    fn rtt(&self) -> Option<Duration> {
        self.min_rtt.s.map(Duration::from_secs_f64)
    }
}

#[cfg(test)]
mod tests;
