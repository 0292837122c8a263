//! Random events: on any path, a controller stays within bounds and its arithmetic does not wrap.

use std::ops::Range;

use lasthop_engine::Stream;
use lasthop_tcp::congestion_control::{AckSample, CongestionCause, CongestionControl, CongestionEvent, Moment, Prior};
use lasthop_units::{Duration, Time};

use super::candidate::Candidate;
use super::samples::{MSS_BYTES, ack, context, loss, rated, state};
use crate::failure::{Failure, Trial};

/// Events of one storm.
const STEPS: u64 = 3000;

/// The scale of a storm.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// factor of all RTTs, which are up to 36 minutes
    rtt_factor: u64,
    /// bits of the largest number of segments that one ACK covers
    ack_bits: u32,
    /// bits of windows set from outside; 0 for none
    window_bits: u32,
}

/// Possible events of a path: RTTs from 1 µs to 36 minutes, ACKs of up to a thousand segments.
const PATHS: Scale = Scale { rtt_factor: 1, ack_bits: 10, window_bits: 0 };
/// Events beyond any path: RTTs of a day, ACKs and windows of 2^30 segments.
const EXTREMES: Scale = Scale { rtt_factor: 40, ack_bits: 31, window_bits: 30 };

/// Random events leave a finite window of at least one segment, ssthresh at its least or above, and a rate above 0.
///
/// # Errors
/// The first failure.
pub fn no_path_drives_it_out_of_bounds(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("no_path_drives_it_out_of_bounds", seeds, |trial| storm(candidate, trial, PATHS))
}

/// The same with windows and ACKs of up to 2^30 segments and RTTs of up to a day; overflow checks turn a wrapped number
/// into a panic.
///
/// # Errors
/// The first failure.
pub fn no_arithmetic_wraps(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("no_arithmetic_wraps", seeds, |trial| storm(candidate, trial, EXTREMES))
}

fn storm(candidate: &Candidate, trial: &Trial, scale: Scale) -> Result<(), Failure> {
    let mut control = (candidate.build)(&context(trial.seed));
    let mut weather = Weather::new(trial.seed, scale);
    control.on_established(&weather.moment(weather.una, false), None);
    for step in 0..STEPS {
        weather.strike(&mut *control);
        let (cwnd, ssthresh) = (control.cwnd(), control.ssthresh());
        trial.require(step, cwnd >= 1.0 && cwnd.is_finite(), || state(&*control))?;
        let least = candidate.promise.least_ssthresh;
        trial.require(step, ssthresh >= least, || format!("{}, which is to be at least {least}", state(&*control)))?;
        let sends = control.pacing_rate().is_none_or(|rate| rate.as_bps() > 0);
        trial.require(step, sends, || format!("a pacing rate of 0, {}", state(&*control)))?;
    }
    Ok(())
}

/// The state of a storm.
struct Weather {
    random: Stream,
    scale: Scale,
    now: Time,
    /// offset of the oldest byte not acknowledged
    una: u64,
    delivered: u64,
    lost: u64,
}

impl Weather {
    fn new(seed: u64, scale: Scale) -> Weather {
        let random = Stream::new(seed, "storm", u64::from(scale.ack_bits));
        Weather { random, scale, now: Time::from_nanos(1), una: 1, delivered: 0, lost: 0 }
    }

    /// A whole number below `bound`, which is at least 1.
    fn below(&mut self, bound: u64) -> u64 {
        self.random.bits() % bound
    }

    /// A number of at most so many bits, with each length equally likely.
    fn of_bits(&mut self, bits: u32) -> u64 {
        let length = self.below(u64::from(bits));
        self.below(1 << length)
    }

    fn moment(&self, nxt: u64, app_limited: bool) -> Moment {
        Moment { now: self.now, snd_una: self.una, snd_nxt: nxt, app_limited }
    }

    /// The next ACK, a while later; its data is acknowledged once it has been handed over.
    fn ack(&mut self, nxt: u64) -> AckSample {
        let rtt = Duration::from_micros(1 + self.scale.rtt_factor * self.of_bits(31));
        let segments = 1 + self.of_bits(self.scale.ack_bits) as u32;
        let newly_lost = if self.below(20) == 0 { self.below(30) } else { 0 };
        (self.delivered, self.lost) = (self.delivered + u64::from(segments), self.lost + newly_lost);
        let sample = ack(self.now, segments, rtt);
        let (has_rate, is_app_limited) = (self.below(8) > 0, self.below(5) == 0);
        let sample = AckSample { total_delivered: self.delivered, ..sample };
        let sample = if has_rate { rated(sample, self.delivered, is_app_limited) } else { sample };
        AckSample {
            snd_una: self.una,
            snd_nxt: nxt,
            lost_segments: newly_lost as u32,
            total_lost: self.lost,
            ce_segments: self.below(u64::from(segments) + 1) as u32,
            ece: self.below(9) == 0,
            flight_segments: self.below(2000) as u32,
            prior_flight_segments: self.below(2000) as u32,
            next_departure: self.now + Duration::from_micros(self.below(5000)),
            ..sample
        }
    }

    /// One event; most of sixty are ACKs.
    fn strike(&mut self, control: &mut dyn CongestionControl) {
        let pause = 4 + self.below(24);
        let pause = Duration::from_micros(self.below(1 << pause));
        self.now += pause;
        if self.scale.window_bits > 0 && self.below(50) == 0 {
            control.set_window(1.0 + self.below(1 << self.scale.window_bits) as f64);
        }
        let nxt = self.una + u64::from(MSS_BYTES) * (1 + self.below(5000));
        let ack = self.ack(nxt);
        let idle = self.below(2) == 0;
        let at = self.moment(nxt, idle);
        let event = CongestionEvent {
            snd_una: self.una,
            snd_nxt: nxt,
            total_lost: self.lost,
            ..loss(self.now, control.cwnd())
        };
        let prior = Prior { cwnd: 1.0 + self.below(500) as f64, ssthresh: 2.0 + self.below(500) as f64 };
        match self.below(60) {
            0 => control.on_congestion(&event),
            1 => control.on_recovery_exit(&at),
            2 => control.on_timeout(&CongestionEvent { cause: CongestionCause::Timeout, ..event }),
            3 => control.on_transmit_start(&at),
            4 => control.on_ack(&AckSample { in_recovery: true, acked_segments: 0, ..ack }),
            5 => control.on_ack(&AckSample { ends_timeout: true, rtt_sample: None, ..ack }),
            6 => control.on_idle(10.0),
            7 => control.on_spurious(&at, &prior),
            8 => control.on_congestion(&CongestionEvent { cause: CongestionCause::Ecn, ..event }),
            _ => control.on_ack(&ack),
        }
        self.una += ack.acked_bytes;
    }
}
