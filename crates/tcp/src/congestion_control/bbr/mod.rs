//! BBR: paces at the largest recent delivery rate, and keeps about twice the capacity of the path in flight.
//!
//! Source: Cardwell et al. 2017; draft-cardwell-iccrg-bbr-congestion-control-00; all arithmetic from the authors' code
//! for Linux, on the BSD side of its licence (`NOTICE`), held against recorded traces (`docs/vectors.md`). Holds:
//! Startup, Drain, ProbeBW, ProbeRTT, the filters of bandwidth (ten round trips) and of least RTT, packet conservation
//! and the return to the earlier window, a rate for policed paths (`long_term`), and more in flight where ACKs come in
//! bunches (`aggregation`).
//!
//! ```text
//! Startup ── three round trips without a quarter more ──► Drain ── in flight ≤ path ──► ProbeBW ◄─┐
//!    ▲                                                                                     │      │ 200 ms
//!    └─────────── pipe not full yet ◄── ProbeRTT ◄── least RTT is older than 10 s ─────────┘──────┘ with four
//! ```
//!
//! A `§` alone is of [draft-cardwell-iccrg-bbr-congestion-control-00], whose names are in backticks. Rates are segments per µs
//! times 2^24, gains are in 1/256. BBR does not react to single losses; it sets its window during recovery itself. Leaves
//! out: limits by narrow bit fields there, an epoch of aggregation at 2^20 segments and its excess at 2^16.

mod aggregation;
mod bandwidth;
mod long_term;
mod rate;
mod view;

use lasthop_registry::{ParamError, params};
use lasthop_units::{DataRate, Duration, Time};

use super::linux::{Clock, rtt_us};
use super::{AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, Draws, Moment, Needs, Prior};
use aggregation::Aggregation;
use bandwidth::WindowedMax;
use long_term::LongTerm;
use rate::{RATE_SHIFT, RATE_UNIT, carried};
pub use view::View;

params! {
    /// Parameters of BBR.
    pub struct Params {
        /// A least RTT older than this is measured again. [Cardwell et al. 2017]
        pub min_rtt_window: Duration = Duration::from_secs(10),
        /// Time for which only four segments are in flight to measure it. [Cardwell et al. 2017]
        pub probe_rtt_duration: Duration = Duration::from_millis(200),
        /// Extra window for aggregated ACKs, as over 802.11.
        pub ack_aggregation: bool = true,
        /// Detect a policer and keep to its rate.
        pub long_term: bool = true,
        /// Data of one send is the pacing rate times 2^-pacing_shift s: 10 is about 1 ms.
        pub pacing_shift: u32 = 10,
    }
    check |params, path| {
        if params.min_rtt_window == Duration::ZERO {
            return Err(ParamError::new(format!("{path}.min_rtt_window"), "must be above 0"));
        }
        if params.pacing_shift > 30 {
            return Err(ParamError::new(format!("{path}.pacing_shift"), "must be 30 or less"));
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

/// 1 as a gain. A gain scales the estimated rate to a pacing rate (`pacing_gain`), or the product of rate and RTT to a window
/// (`cwnd_gain`): above 1 the amount in flight grows, below 1 it shrinks. (§4.3)
const GAIN_SHIFT: u32 = 8;
const GAIN_UNIT: u32 = 1 << GAIN_SHIFT;
/// `BBRHighGain`: 2/ln 2, the least gain with which the delivery rate doubles in every round trip, so that Startup finds the
/// rate in the logarithm of the product of rate and RTT. (§4.3.2.1)
const HIGH_GAIN: u32 = GAIN_UNIT * 2885 / 1000 + 1;
/// `1/BBRHighGain`: Drain empties in one round trip the queue that Startup built in its last. (§4.3.3)
const DRAIN_GAIN: u32 = GAIN_UNIT * 1000 / 2885;
/// `cwnd_gain` of ProbeBW: twice the product of rate and RTT, since ACKs that are delayed, stretched or aggregated may come at
/// any time, and the pipe must not run dry until they do. (§4.2.3.2, §4.3.4.1)
const STEADY_CWND_GAIN: u32 = 2 * GAIN_UNIT;
/// Pacing gains of the phases of ProbeBW, a least RTT each: 5/4 to ask for more, 3/4 to drain the queue that this may have
/// made, six times 1 to cruise; their mean is 1. `BBRGainCycleLen` is 8. (§4.3.4.1)
const CYCLE: [u32; 8] = [320, 192, 256, 256, 256, 256, 256, 256];
/// Number of phases from which the first one of ProbeBW is drawn: all but 3/4, as there is seldom a queue to drain. Random
/// phases keep flows from probing at the same time. (§4.3.4.2)
const CYCLE_STARTS: u32 = 7;
/// Pacing stays one hundredth below the estimate, so that a queue made by chance drains. [draft-cardwell-iccrg-bbr-congestion-control-02 §4.6.2]
const PACING_PER_MILLION: u64 = 990_000;
/// `BBRMinPipeCwnd`: the least window, and the window of ProbeRTT, in segments: two under way to a receiver that acknowledges
/// every other one, and ACKs for two under way back. (§4.2.3.3)
const LEAST_WINDOW: u32 = 4;
/// `InitialCwnd`: segments that may be in flight while the model is empty. (§4.2.3.2)
const FIRST_WINDOW: u32 = 10;
/// Round trips in a row, without a rate 5/4 times as high, after which the pipe counts as full: three, as a receiver that tunes
/// its window needs two of them to make room. (§4.3.2.2)
const FULL_ROUNDS: u32 = 3;
/// RTT assumed before the first sample, in µs, for the first pacing rate, `pacing_gain InitialCwnd / RTT`. (§4.2.1)
const NOMINAL_RTT_US: u64 = 1000;
/// Rate in bytes/s, 1.2 Mbit/s, below which segments are handed over singly (`send_quantum`). (§4.2.2)
const SINGLE_SEGMENT_RATE: u64 = 150_000;
/// Bytes of the largest hand-over, headers off, and its segments.
const LARGEST_HANDOVER: u64 = 65_215;
const MOST_SEGMENTS: u64 = 127;

/// `state`: the mode of the state machine. (§3.4)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// doubles the rate in each round trip, until it stops growing (§4.3.2)
    Startup,
    /// empties the queue of Startup (§4.3.3)
    Drain,
    /// goes through [`CYCLE`]; most of a flow's life (§4.3.4)
    ProbeBw,
    /// keeps four segments in flight to see the RTT without a queue (§4.3.5)
    ProbeRtt,
}

/// The phase of the sender's loss recovery, by which the window is modulated. (§4.2.3.4)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Recovery,
    AfterTimeout,
}

/// Round trips by packets, the clock of the filter of rates: one ends when a segment is delivered that was sent after the last
/// end. A clock on the wall would forget rates too soon while RTTs are long. (§4.1.1.3)
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    /// `round_count`: round trips so far
    count: u32,
    /// `next_round_delivered`: a segment ends this round trip if as many were delivered when it was sent
    next_delivered: u64,
    /// `round_start`: this ACK begins a round trip
    begins: bool,
}

/// `RTprop`: an estimate of the round trip without queues, the least RTT of the last ten seconds (`RTpropFilterLen`): noise of a
/// path only ever adds to an RTT. (§4.1.2)
#[derive(Clone, Copy, Debug)]
struct MinRtt {
    us: u32,
    /// `rtprop_stamp`: when it was measured, in clock ticks
    at: u64,
}

/// Conditions for the end of ProbeRTT, counted from when no more than four segments were in flight. (§4.3.5)
#[derive(Clone, Copy, Debug)]
struct ProbeRttEnd {
    /// `probe_rtt_done_stamp`: `ProbeRTTDuration` later, in clock ticks, so that the ProbeRTTs of flows overlap
    after: u64,
    /// `probe_rtt_round_done`: a round trip is over too
    round_done: bool,
}

/// Detection of a full pipe by a plateau of the rate. (§4.3.2.2)
#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    /// `full_bw`: the rate of which the next must have 5/4
    rate: u32,
    /// `full_bw_count`: round trips in a row that did not have it
    rounds: u32,
    /// `filled_pipe`: it was full once, so that pacing may slow down and the window has an upper bound
    reached: bool,
}

/// The window in and after recovery. (§4.2.3.4)
#[derive(Clone, Copy, Debug)]
struct Recovering {
    phase: Phase,
    /// at the last ACK
    prior_phase: Phase,
    /// `packet_conservation`: in the first round trip of a recovery as much may leave as was delivered
    conserves: bool,
    /// `prior_cwnd`: the last window that neither recovery nor ProbeRTT had changed, which their end restores
    prior_cwnd: u32,
}

/// The controller of one connection.
#[derive(Debug)]
pub struct Bbr {
    params: Params,
    mss: u64,
    clock: Clock,
    draws: Draws,
    /// `cwnd`: most segments in flight; it follows `target_cwnd = cwnd_gain BtlBw RTprop + 3 send_quantum` (§4.2.3)
    cwnd: u32,
    /// in segments, set when Startup ends; not used in any decision
    ssthresh: f64,
    mode: Mode,
    /// `pacing_gain`: factor from `BtlBw` to the pacing rate, by mode and phase (§4.2.1)
    pacing_gain: u32,
    /// `cwnd_gain`: factor from `BtlBw RTprop` to the window (§4.2.3.2)
    cwnd_gain: u32,
    /// `pacing_rate = pacing_gain BtlBw`, in bytes/s: at which segments leave (§4.2.1)
    pacing: u64,
    /// the first pacing rate has been computed from an RTT instead of the nominal one (§4.2.1)
    has_rtt: bool,
    /// `BtlBw`: the rate of the bottleneck, the largest delivery rate of the last `BtlBwFilterLen`, ten round trips, as noise
    /// mostly lowers a sample (§4.1.1.2)
    max_rate: WindowedMax,
    long_term: LongTerm,
    rounds: Rounds,
    min_rtt: MinRtt,
    probe_rtt_end: Option<ProbeRttEnd>,
    /// `cycle_index`: the phase of ProbeBW (§4.3.4.3)
    cycle_index: usize,
    /// `cycle_stamp`: when that phase began, in µs (§4.3.4.3)
    cycle_start: u64,
    full: FullPipe,
    recovering: Recovering,
    aggregation: Aggregation,
    /// `idle_restart`: the application was silent, and data goes out again: no ProbeRTT, as the silence has emptied the queue
    /// (§4.3.4.4, §4.3.5)
    restarts_from_idle: bool,
    /// time of the last delivery, in µs
    delivered_at: u64,
    total_delivered: u64,
}

fn micros(now: Time) -> u64 {
    now.as_nanos() / 1000
}

impl Bbr {
    /// The controller of a connection that begins.
    pub fn new(params: &Params, context: &Context) -> Bbr {
        let mut bbr = Bbr {
            params: params.clone(),
            mss: u64::from(context.mss_bytes),
            clock: Clock::new(context.tick),
            draws: context.draws,
            cwnd: context.initial_window as u32,
            ssthresh: context.initial_ssthresh,
            mode: Mode::Startup,
            pacing_gain: 0,
            cwnd_gain: 0,
            pacing: 0,
            has_rtt: false,
            max_rate: WindowedMax::default(),
            long_term: LongTerm::default(),
            rounds: Rounds::default(),
            min_rtt: MinRtt { us: u32::MAX, at: 0 },
            probe_rtt_end: None,
            cycle_index: 0,
            cycle_start: 0,
            full: FullPipe::default(),
            recovering: Recovering { phase: Phase::Open, prior_phase: Phase::Open, conserves: false, prior_cwnd: 0 },
            aggregation: Aggregation::default(),
            restarts_from_idle: false,
            delivered_at: 0,
            total_delivered: 0,
        };
        bbr.pace_from_rtt(None);
        bbr
    }

    // The estimates of the path.

    /// The largest recent delivery rate.
    fn max_rate(&self) -> u32 {
        self.max_rate.get()
    }

    /// The rate in use: that of a policer where one was found.
    fn rate(&self) -> u32 {
        self.long_term.in_use().unwrap_or(self.max_rate())
    }

    fn bytes_per_s(&self, rate: u32, gain: u32) -> u64 {
        let scaled = u128::from(rate) * u128::from(self.mss) * u128::from(gain);
        (((scaled >> GAIN_SHIFT) * u128::from(PACING_PER_MILLION)) >> RATE_SHIFT) as u64
    }

    /// `estimated_bdp`: segments that the path holds without a queue, `BtlBw RTprop`, times a gain, rounded up. (§4.2.3.2)
    fn path_holds(&self, rate: u32, gain: u32) -> u32 {
        if self.min_rtt.us == u32::MAX {
            return FIRST_WINDOW;
        }
        let held = u128::from(rate) * u128::from(self.min_rtt.us) * u128::from(gain);
        (held >> GAIN_SHIFT).div_ceil(u128::from(RATE_UNIT)).min(u128::from(u32::MAX / 4)) as u32
    }

    /// `send_quantum`: segments handed over to the link at once, about a millisecond's at the pacing rate. (§4.2.2)
    fn handover(&self) -> u32 {
        let bytes = (self.pacing >> self.params.pacing_shift).min(LARGEST_HANDOVER);
        let least = if self.pacing < SINGLE_SEGMENT_RATE { 1 } else { 2 };
        (bytes / self.mss.max(1)).max(least).min(MOST_SEGMENTS) as u32
    }

    /// Adds room for three hand-overs on the way (`3 send_quantum`, §4.2.3.2), for delayed ACKs, and for the probe of a short path.
    fn with_room(&self, segments: u32) -> u32 {
        let even = (segments + 3 * self.handover() + 1) & !1;
        let probes = self.mode == Mode::ProbeBw && self.cycle_index == 0;
        if probes { even + 2 } else { even }
    }

    fn target(&self, rate: u32, gain: u32) -> u32 {
        self.with_room(self.path_holds(rate, gain))
    }

    /// Segments of `flight` that are still in the network when the next one may leave.
    fn in_network_at_departure(&self, flight: u32, ack: &AckSample) -> u32 {
        let wait_us = ack.next_departure.max(ack.now).since(ack.now).as_nanos() / 1000;
        let joins = if self.pacing_gain > GAIN_UNIT { self.handover() } else { 0 };
        u64::from(flight + joins).saturating_sub(carried(self.rate(), wait_us)) as u32
    }

    // The model.

    fn update_model(&mut self, ack: &AckSample) {
        if ack.delivered_segments > 0 {
            self.delivered_at = micros(ack.now);
            self.total_delivered = ack.total_delivered;
        }
        self.update_rate(ack);
        if self.params.ack_aggregation && ack.rate.is_some() {
            let (rate, cwnd) = (self.rate(), self.cwnd);
            self.aggregation.on_ack(ack.delivered_segments, self.delivered_at, rate, cwnd, self.rounds.begins);
        }
        if self.mode == Mode::ProbeBw && self.phase_is_over(ack) {
            self.next_phase();
        }
        self.look_for_full_pipe(ack);
        self.look_for_drained_pipe(ack);
        self.update_min_rtt(ack);
        self.set_gains();
    }

    /// `BBRUpdateBtlBw()`: a sample that the application limited counts only if it is above the estimate. (§4.1.1.4, §4.1.1.5)
    fn update_rate(&mut self, ack: &AckSample) {
        self.rounds.begins = false;
        let Some(sample) = ack.rate.filter(|sample| sample.interval >= Duration::from_micros(1)) else { return };
        if sample.prior_delivered >= self.rounds.next_delivered {
            self.rounds.next_delivered = ack.total_delivered;
            self.rounds.count += 1;
            self.rounds.begins = true;
            self.recovering.conserves = false;
        }
        self.sample_long_term(ack.lost_segments, ack.total_lost, sample.is_app_limited);
        let rate = (u64::from(sample.delivered) << RATE_SHIFT) / (sample.interval.as_nanos() / 1000);
        let rate = rate.min(u64::from(u32::MAX)) as u32;
        if !sample.is_app_limited || rate >= self.max_rate() {
            self.max_rate.update(self.rounds.count, rate);
        }
    }

    fn sample_long_term(&mut self, lost: u32, total_lost: u64, is_app_limited: bool) {
        if !self.params.long_term {
            return;
        }
        if self.long_term.in_use().is_some() {
            let round = self.mode == Mode::ProbeBw && self.rounds.begins;
            if round && self.long_term.has_served() {
                self.long_term = LongTerm::default();
                self.begin_probing();
            }
            return;
        }
        let here = long_term::Here { at_us: self.delivered_at, delivered: self.total_delivered, lost: total_lost };
        let tells_alike = |a: u32, b: u32| {
            let apart = a.abs_diff(b);
            u64::from(apart) << GAIN_SHIFT <= u64::from(long_term::ALIKE) * u64::from(b)
                || self.bytes_per_s(apart, GAIN_UNIT) <= long_term::ALIKE_BYTES_PER_S
        };
        let mut long_term = self.long_term;
        if long_term.sample(&here, lost, is_app_limited, self.rounds.begins, tells_alike) {
            self.pacing_gain = GAIN_UNIT;
        }
        self.long_term = long_term;
    }

    /// `BBRIsNextCyclePhase()`: a phase of ProbeBW lasts a least RTT; with a gain above 1 also until it has filled the path or lost
    /// a segment, below 1 only until the queue is gone. (§4.3.4.3)
    fn phase_is_over(&self, ack: &AckSample) -> bool {
        let lasted = self.delivered_at.saturating_sub(self.cycle_start) > u64::from(self.min_rtt.us);
        if self.pacing_gain == GAIN_UNIT {
            return lasted;
        }
        let in_network = self.in_network_at_departure(ack.prior_flight_segments, ack);
        if self.pacing_gain > GAIN_UNIT {
            let fills = || in_network >= self.target(self.max_rate(), self.pacing_gain);
            return lasted && (ack.lost_segments > 0 || fills());
        }
        lasted || in_network <= self.target(self.max_rate(), GAIN_UNIT)
    }

    fn next_phase(&mut self) {
        self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
        self.cycle_start = self.delivered_at;
    }

    /// `BBREnterProbeBW()`. (§4.3.4.3)
    fn begin_probing(&mut self) {
        self.mode = Mode::ProbeBw;
        self.cycle_index = CYCLE.len() - 1 - self.draws.below(CYCLE_STARTS) as usize;
        self.next_phase();
    }

    /// `BBRCheckFullPipe()`: once a round trip, unless the application limited the sample. (§4.3.2.2)
    fn look_for_full_pipe(&mut self, ack: &AckSample) {
        let tells = self.rounds.begins && ack.rate.is_some_and(|sample| !sample.is_app_limited);
        if self.full.reached || !tells {
            return;
        }
        if u64::from(self.max_rate()) >= u64::from(self.full.rate) * 5 / 4 {
            self.full.rate = self.max_rate();
            self.full.rounds = 0;
            return;
        }
        self.full.rounds += 1;
        self.full.reached = self.full.rounds >= FULL_ROUNDS;
    }

    /// `BBRCheckDrain()`: Drain ends when no more is in flight than the path holds. (§4.3.3)
    fn look_for_drained_pipe(&mut self, ack: &AckSample) {
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
            self.ssthresh = f64::from(self.target(self.max_rate(), GAIN_UNIT));
        }
        let in_network = || self.in_network_at_departure(ack.flight_segments, ack);
        if self.mode == Mode::Drain && in_network() <= self.target(self.max_rate(), GAIN_UNIT) {
            self.begin_probing();
        }
    }

    /// `BBRUpdateRTprop()` and `BBRCheckProbeRTT()`. (§4.1.2.3, §4.3.5)
    fn update_min_rtt(&mut self, ack: &AckSample) {
        let now = self.clock.jiffies(ack.now);
        let is_old = now > self.min_rtt.at + self.clock.covering(self.params.min_rtt_window);
        let is_delayed = ack.rate.is_some_and(|sample| sample.is_ack_delayed);
        if let Some(rtt) = rtt_us(ack)
            && (rtt < self.min_rtt.us || (is_old && !is_delayed))
        {
            self.min_rtt = MinRtt { us: rtt, at: now };
        }
        if is_old && !self.restarts_from_idle && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_end = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(ack, now);
        }
        if ack.delivered_segments > 0 {
            self.restarts_from_idle = false;
        }
    }

    fn probe_rtt(&mut self, ack: &AckSample, now: u64) {
        match &mut self.probe_rtt_end {
            None if ack.flight_segments <= LEAST_WINDOW => {
                let after = now + self.clock.covering(self.params.probe_rtt_duration);
                self.probe_rtt_end = Some(ProbeRttEnd { after, round_done: false });
                self.rounds.next_delivered = ack.total_delivered;
            }
            None => {}
            Some(end) => {
                end.round_done |= self.rounds.begins;
                if end.round_done {
                    self.leave_probe_rtt(now);
                }
            }
        }
    }

    fn leave_probe_rtt(&mut self, now: u64) {
        if self.probe_rtt_end.is_none_or(|end| now <= end.after) {
            return;
        }
        self.min_rtt.at = now;
        self.cwnd = self.cwnd.max(self.recovering.prior_cwnd);
        if self.full.reached { self.begin_probing() } else { self.mode = Mode::Startup }
    }

    fn set_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.long_term.in_use().is_some() => (GAIN_UNIT, STEADY_CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.cycle_index], STEADY_CWND_GAIN),
            Mode::ProbeRtt => (GAIN_UNIT, GAIN_UNIT),
        };
    }

    // The consequences of the model.

    fn pace_from_rtt(&mut self, srtt: Option<Duration>) {
        let rtt_us = srtt.map_or(NOMINAL_RTT_US, |srtt| (srtt.as_nanos() / 1000).max(1));
        self.has_rtt |= srtt.is_some();
        let rate = (u64::from(self.cwnd) << RATE_SHIFT) / rtt_us;
        self.pacing = self.bytes_per_s(rate.min(u64::from(u32::MAX)) as u32, HIGH_GAIN);
    }

    /// `BBRSetPacingRateWithGain()`: until the pipe is full, pacing never slows down. (§4.2.1)
    fn pace(&mut self, gain: u32, srtt: Option<Duration>) {
        if !self.has_rtt && srtt.is_some() {
            self.pace_from_rtt(srtt);
        }
        let rate = self.bytes_per_s(self.rate(), gain);
        if self.full.reached || rate > self.pacing {
            self.pacing = rate;
        }
    }

    /// `BBRSaveCwnd()`: keeps the last window that neither recovery nor ProbeRTT has changed. (§4.2.3.4)
    fn save_cwnd(&mut self) {
        let is_good = self.recovering.prior_phase == Phase::Open && self.mode != Mode::ProbeRtt;
        let least = if is_good { 0 } else { self.recovering.prior_cwnd };
        self.recovering.prior_cwnd = self.cwnd.max(least);
    }

    fn set_cwnd(&mut self, ack: &AckSample) {
        if ack.delivered_segments > 0 {
            self.cwnd = self.next_cwnd(ack);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(LEAST_WINDOW);
        }
    }

    /// The core of `BBRSetCwnd()`: towards the target by no more than was delivered. (§4.2.3.6)
    fn next_cwnd(&mut self, ack: &AckSample) -> u32 {
        let acked = ack.delivered_segments;
        let cwnd = self.recover_or_restore(ack);
        if self.recovering.conserves {
            return cwnd.max(ack.flight_segments + acked);
        }
        let (rate, gain) = (self.rate(), self.cwnd_gain);
        let extra = if self.full.reached { self.aggregation.extra(rate) } else { 0 };
        let target = self.with_room(self.path_holds(rate, gain) + extra);
        let cwnd = if self.full.reached {
            (cwnd + acked).min(target)
        } else if cwnd < target || ack.total_delivered < u64::from(FIRST_WINDOW) {
            cwnd + acked
        } else {
            cwnd
        };
        cwnd.max(LEAST_WINDOW)
    }

    /// `BBRModulateCwndForRecovery()`: packet conservation in the first round trip of a recovery, as much leaves as was delivered.
    /// The end of the recovery restores the window. (§4.2.3.4)
    fn recover_or_restore(&mut self, ack: &AckSample) -> u32 {
        let Recovering { phase, prior_phase, prior_cwnd, .. } = self.recovering;
        let mut cwnd = self.cwnd;
        if ack.lost_segments > 0 {
            cwnd = cwnd.saturating_sub(ack.lost_segments).max(1);
        }
        if phase == Phase::Recovery && prior_phase != Phase::Recovery {
            self.recovering.conserves = true;
            self.rounds.next_delivered = ack.total_delivered;
            cwnd = ack.flight_segments + ack.delivered_segments;
        } else if phase == Phase::Open && prior_phase != Phase::Open {
            self.recovering.conserves = false;
            cwnd = cwnd.max(prior_cwnd);
        }
        self.recovering.prior_phase = phase;
        cwnd
    }
}

impl CongestionControl for Bbr {
    fn needs(&self) -> Needs {
        Needs { paced: true, rate_samples: true, ..Needs::NONE }
    }

    fn on_established(&mut self, at: &Moment, rtt: Option<Duration>) {
        let us = rtt.map_or(u32::MAX, |rtt| (rtt.as_nanos() / 1000).min(u64::from(u32::MAX - 1)) as u32);
        self.min_rtt = MinRtt { us, at: self.clock.jiffies(at.now) };
        self.aggregation.begin(micros(at.now));
        self.pace_from_rtt(rtt);
    }

    /// Paces at the estimated rate after a pause of the application.
    fn on_transmit_start(&mut self, at: &Moment) {
        if !at.app_limited {
            return;
        }
        self.restarts_from_idle = true;
        self.aggregation.begin(micros(at.now));
        match self.mode {
            Mode::ProbeBw => self.pace(GAIN_UNIT, None),
            Mode::ProbeRtt => self.leave_probe_rtt(self.clock.jiffies(at.now)),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if ack.ends_timeout {
            self.recovering.phase = Phase::Open;
        }
        self.update_model(ack);
        self.pace(self.pacing_gain, ack.srtt);
        self.set_cwnd(ack);
    }

    /// Enters recovery after a loss; ignores marks.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.save_cwnd();
        if event.cause == CongestionCause::Ecn {
            return;
        }
        self.recovering.phase = Phase::Recovery;
    }

    /// The end of a timeout counts as the end of a round trip.
    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.save_cwnd();
        self.cwnd = 1;
        self.recovering.phase = Phase::AfterTimeout;
        self.recovering.prior_phase = Phase::AfterTimeout;
        self.full.rate = 0;
        self.rounds.begins = true;
        self.sample_long_term(1, event.total_lost, false);
    }

    fn on_recovery_exit(&mut self, _: &Moment) {
        self.recovering.phase = Phase::Open;
    }

    /// Does nothing: the window comes back with the next ACK, as after any recovery.
    fn on_spurious(&mut self, _: &Moment, _: &Prior) {
        self.full.rate = 0;
        self.full.rounds = 0;
        self.long_term = LongTerm::default();
        self.recovering.phase = Phase::Open;
    }

    fn set_window(&mut self, segments: f64) {
        self.cwnd = segments as u32;
    }

    fn set_ssthresh(&mut self, segments: f64) {
        self.ssthresh = segments;
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn holds_back(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    fn cwnd(&self) -> f64 {
        f64::from(self.cwnd)
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        Some(DataRate::from_bps(self.pacing.max(1).saturating_mul(8)))
    }

    fn rtt(&self) -> Option<Duration> {
        (self.min_rtt.us < u32::MAX).then(|| Duration::from_micros(u64::from(self.min_rtt.us)))
    }
}
