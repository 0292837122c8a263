//! Prague: DCTCP's reaction to marks, adapted to the Internet.
//!
//! Source: draft-briscoe-iccrg-prague-congestion-control-04, based on RFC 9330 and RFC 9331. Holds: the share of marks
//! averaged with weight 1/16 once per virtual round trip (§2.4.2), a reduction by half of it at most once per round
//! trip, the virtual one included as in the authors' code, additive increase for unmarked data, during a reduction too
//! (§2.4.3), independence of the RTT below 25 ms (§2.4.4), Reno's reaction to losses (§2.4.1), pacing (§2.4.5). Needs
//! ECN and feedback of the number of marked segments. Leaves out: the fallback on queues with classic ECN, the delay
//! before RTT independence sets in.

use lasthop_registry::{ParamError, params};
use lasthop_units::{DataRate, Duration, Time};

use super::{
    AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, LOSS_WINDOW, MIN_SSTHRESH, MarkReports,
    Moment, Needs, Prior, slow_start,
};

params! {
    /// Parameters of Prague.
    pub struct Params {
        /// Weight of a new share of marks. [§2.4.2]
        pub g: f64 = 0.0625,
        /// Shorter RTTs count as this RTT; 0: none do. [§2.4.4]
        pub virtual_rtt: Duration = Duration::from_millis(25),
        /// Factor by which a loss multiplies the window. [§2.4.1]
        pub loss_beta: f64 = 0.5,
    }
    check |params, path| {
        if params.g <= 0.0 || params.g > 1.0 {
            return Err(ParamError::new(format!("{path}.g"), "must be above 0, at most 1"));
        }
        if params.loss_beta <= 0.0 || params.loss_beta >= 1.0 {
            return Err(ParamError::new(format!("{path}.loss_beta"), "must lie between 0 and 1"));
        }
        Ok(())
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        Box::new(Prague {
            params: self.clone(),
            mss: f64::from(context.mss_bytes),
            cwnd: context.initial_window,
            ssthresh: context.initial_ssthresh,
            srtt: None,
            alpha: 1.0,
            saw_marks: false,
            round: Round::default(),
            answered: None,
            recovers: false,
        })
    }
}

/// Segments of a virtual round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    ends: Time,
    delivered: f64,
    marked: f64,
}

/// Pacing above the rate of the window in slow start. [§2.4.5]
const SLOW_START_PACING: f64 = 2.0;
/// The longest burst at that rate. [§2.4.5]
const LONGEST_SEND: Duration = Duration::from_micros(250);

/// The last reduction for marks.
#[derive(Clone, Copy, Debug)]
struct Answer {
    at: Time,
    /// Marks are answered until this offset is acknowledged.
    end: u64,
}

#[derive(Debug)]
struct Prague {
    params: Params,
    mss: f64,
    /// in segments
    cwnd: f64,
    /// in segments
    ssthresh: f64,
    srtt: Option<Duration>,
    /// averaged share of marks
    alpha: f64,
    saw_marks: bool,
    round: Round,
    answered: Option<Answer>,
    /// recovery from a loss is under way
    recovers: bool,
}

impl Prague {
    fn rtt_s(&self) -> f64 {
        self.srtt.map_or(0.0, Duration::as_secs_f64)
    }

    /// Segments of growth in a round trip: (RTT/virtual RTT)^2, at most 1. [§2.4.4]
    fn increase(&self) -> f64 {
        let virtual_s = self.params.virtual_rtt.as_secs_f64();
        if virtual_s == 0.0 || self.srtt.is_none() {
            return 1.0;
        }
        let ratio = (self.rtt_s() / virtual_s).min(1.0);
        ratio * ratio
    }

    /// alpha <- (1 - g) alpha + g F; it stays 1 until there is a mark.
    fn average(&mut self, ack: &AckSample, marked: f64) {
        self.round.delivered += f64::from(ack.delivered_segments);
        self.round.marked += marked;
        if ack.now < self.round.ends || self.round.delivered == 0.0 {
            return;
        }
        if self.saw_marks {
            let share = self.round.marked / self.round.delivered;
            self.alpha += self.params.g * (share - self.alpha);
        }
        let length = self.srtt.unwrap_or(Duration::ZERO).max(self.params.virtual_rtt);
        self.round = Round { ends: ack.now + length, ..Round::default() };
    }

    /// w <- (1 - alpha/2) w, once per round trip, and once per virtual one.
    fn answer_marks(&mut self, now: Time, una: u64, nxt: u64) {
        let was = self.answered.is_some_and(|answer| una <= answer.end || now < answer.at + self.params.virtual_rtt);
        if self.recovers || was {
            return;
        }
        self.saw_marks = true;
        self.answered = Some(Answer { at: now, end: nxt });
        self.cwnd = (self.cwnd * (1.0 - self.alpha / 2.0)).max(MIN_SSTHRESH);
        self.ssthresh = self.cwnd;
    }

    fn reduce(&mut self, window: f64) {
        self.ssthresh = (window * self.params.loss_beta).max(MIN_SSTHRESH);
        self.cwnd = self.ssthresh;
    }
}

impl CongestionControl for Prague {
    fn needs(&self) -> Needs {
        Needs { paced: true, marks: MarkReports::Counted, is_scalable: true, ..Needs::NONE }
    }

    fn on_established(&mut self, _: &Moment, rtt: Option<Duration>) {
        self.srtt = rtt;
    }

    fn on_ack(&mut self, ack: &AckSample) {
        self.srtt = ack.srtt.or(self.srtt);
        let delivered = f64::from(ack.delivered_segments);
        // Feedback without a count: the receiver echoes each mark. [RFC 8257 §3.2]
        let marked =
            if ack.ce_segments == 0 && ack.ece { delivered } else { f64::from(ack.ce_segments).min(delivered) };
        if marked > 0.0 {
            self.answer_marks(ack.now, ack.snd_una, ack.snd_nxt);
        }
        self.average(ack, marked);
        if self.recovers || ack.app_limited || ack.acked_segments == 0 {
            return;
        }
        let share = slow_start(&mut self.cwnd, self.ssthresh, ack);
        let unmarked = 1.0 - if delivered > 0.0 { marked / delivered } else { 0.0 };
        self.cwnd += self.increase() * ack.avoidance_credit * share * unmarked / self.cwnd;
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.cause == CongestionCause::Ecn {
            return self.answer_marks(event.now, event.snd_una, event.snd_nxt);
        }
        self.reduce(event.window);
        self.recovers = true;
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        if !event.repeated {
            self.reduce(event.window);
        }
        self.cwnd = LOSS_WINDOW;
        self.recovers = false;
    }

    fn on_recovery_exit(&mut self, _: &Moment) {
        self.recovers = false;
    }

    fn on_spurious(&mut self, _: &Moment, prior: &Prior) {
        self.cwnd = self.cwnd.max(prior.cwnd);
        self.ssthresh = self.ssthresh.max(prior.ssthresh);
        self.recovers = false;
    }

    fn on_idle(&mut self, restart_window: f64) {
        self.cwnd = self.cwnd.min(restart_window);
    }

    fn set_window(&mut self, segments: f64) {
        self.cwnd = segments;
    }

    fn set_ssthresh(&mut self, segments: f64) {
        self.ssthresh = segments;
    }

    /// True while marks are answered: the window goes on growing then, so that nothing else may set it.
    fn owns_recovery(&self) -> bool {
        true
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        let rtt_s = self.rtt_s();
        if rtt_s == 0.0 {
            return None;
        }
        let factor = if self.cwnd < self.ssthresh { SLOW_START_PACING } else { 1.0 };
        let bps = (factor * self.cwnd * self.mss * 8.0 / rtt_s).clamp(1.0, 1e15);
        Some(DataRate::from_bps(bps as u64))
    }

    fn longest_send(&self) -> Option<Duration> {
        Some(LONGEST_SEND)
    }

    fn rtt(&self) -> Option<Duration> {
        self.srtt
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, context, loss};
    use super::*;
    use crate::congestion_control::GrowthMode::PerByte;

    /// Round trips of `rtt`, in which each `every`th segment is marked; 0: none.
    fn run(
        control: &mut dyn CongestionControl,
        from: (Time, u64),
        rtt: Duration,
        every: u64,
        rounds: u32,
    ) -> (Time, u64) {
        let (mut now, mut una) = from;
        for _ in 0..rounds {
            let window = control.cwnd() as u64;
            for i in 0..window {
                una += 1;
                let sample = ack(now + rtt * i / window, 1, rtt, PerByte);
                let ce_segments = u32::from(every > 0 && una % every == 0);
                let at = AckSample { snd_una: una * 1000, snd_nxt: (una + window) * 1000, ce_segments, ..sample };
                control.on_ack(&at);
            }
            now += rtt;
        }
        (now, una)
    }

    const START: (Time, u64) = (Time::ZERO, 0);

    #[test]
    fn two_marks_in_a_round_trip_balance_one_segment_of_growth() {
        // alpha = m/w, so a round trip takes m/2 segments and adds nearly 1: m = 2, with marks at random a little
        // more. Here each 50th is marked: w settles where w/50 = 2.
        let mut control = Params::default().build(&context(PerByte));
        control.set_ssthresh(10.0);
        run(&mut *control, START, Duration::from_millis(50), 50, 2000);
        assert!((70.0..140.0).contains(&control.cwnd()), "{}", control.cwnd());
    }

    #[test]
    fn growth_below_25_ms_goes_with_the_square_of_the_rtt() {
        // (5/25)^2 = 0.04 per round trip: in 500 round trips 20
        let mut control = Params::default().build(&context(PerByte));
        control.set_ssthresh(10.0);
        run(&mut *control, START, Duration::from_millis(5), 0, 500);
        assert!((control.cwnd() - 30.0).abs() < 1.0, "{}", control.cwnd());
    }

    #[test]
    fn the_first_mark_ends_slow_start_by_half_and_a_loss_halves() {
        let mut control = Params::default().build(&context(PerByte));
        let at = run(&mut *control, START, Duration::from_millis(50), 0, 3);
        assert_eq!(control.cwnd(), 80.0);
        let sample = ack(at.0, 1, Duration::from_millis(50), PerByte);
        control.on_ack(&AckSample { ce_segments: 1, snd_una: 100_000, snd_nxt: 200_000, ..sample });
        assert_eq!((control.cwnd(), control.ssthresh()), (40.0, 40.0));
        control.on_congestion(&loss(at.0, 40.0));
        assert_eq!(control.cwnd(), 20.0);
    }

    #[test]
    fn it_paces_twice_as_fast_in_slow_start() {
        let mut control = Params::default().build(&context(PerByte));
        control.on_ack(&ack(Time::ZERO, 1, Duration::from_millis(50), PerByte));
        // 11 segments of 1000 B in 50 ms, twice
        assert_eq!(control.pacing_rate().unwrap().as_bps(), 3_520_000);
        control.set_ssthresh(5.0);
        assert_eq!(control.pacing_rate().unwrap().as_bps(), 1_760_000);
    }
}
