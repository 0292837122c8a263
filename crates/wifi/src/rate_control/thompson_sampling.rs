//! Thompson sampling: the mode that is best in a random draw from the posterior of each.
//! [Thompson 1933; ns-3, thompson-sampling-wifi-manager.cc]
//!
//! Each mode has a count of MPDUs that arrived and of those that were lost, both fading by `exp(-decay * t)`. Before
//! each attempt its success probability is drawn from `Beta(1 + arrived, 1 + lost)`, and the mode with the highest draw
//! times rate is used. Modes with few counts are tried now and then, and fading makes all counts small.
//!
//! Going down from the highest rate, a mode need not be drawn if even certain success would not beat the best so far:
//! that changes no choice. ns-3 rounds the counts down before it draws, and draws after each attempt instead of before;
//! this implementation does neither. Overhead is not counted, as in ns-3.

use lasthop_engine::Stream;
use lasthop_registry::ParamError;
use lasthop_units::Time;

use super::interface::{FrameInfo, PeerModes, RateControl, TxStatus};
use super::ladder::ladder;
use super::rate_chain::RateChain;
use crate::phy::ModeId;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Rate of forgetting in 1/s: after one second, counts are multiplied by exp(-decay). 0 never forgets.
        pub decay: f64 = 1.0,
    }
    check |this, path| {
        if this.decay < 0.0 {
            return Err(ParamError::new(format!("{path}.decay"), "must not be below 0"));
        }
        Ok(())
    }
}

/// A mode and its counts of MPDUs that arrived and were lost, which fade with age.
#[derive(Clone, Copy, Debug)]
struct Rate {
    mode: ModeId,
    bps: f64,
    arrived: f64,
    lost: f64,
}

/// The rate control.
pub struct ThompsonSampling {
    decay: f64,
    /// The modes, highest rate first.
    rates: Vec<Rate>,
    /// Time at which the counts were last faded.
    faded: Time,
    draws: Stream,
}

impl ThompsonSampling {
    pub(super) fn new(params: &Params, peer: &PeerModes) -> ThompsonSampling {
        let rate = |&mode: &ModeId| {
            let bps = peer.phy.mode(mode).rate.as_bps() as f64;
            Rate { mode, bps, arrived: 0.0, lost: 0.0 }
        };
        let rates = ladder(peer).iter().rev().map(rate).collect();
        let draws = Stream::new(peer.seed, "thompson_sampling", 0);
        ThompsonSampling { decay: params.decay, rates, faded: Time::ZERO, draws }
    }

    fn fade(&mut self, now: Time) {
        if now > self.faded {
            let factor = libm::exp(-self.decay * now.since(self.faded).as_secs_f64());
            for rate in &mut self.rates {
                rate.arrived *= factor;
                rate.lost *= factor;
            }
            self.faded = now;
        }
    }
}

impl RateControl for ThompsonSampling {
    fn rates_for(&mut self, frame: &FrameInfo) -> RateChain {
        self.fade(frame.now);
        let (mut best, mut chosen) = (0.0, self.rates[self.rates.len() - 1].mode);
        for rate in &self.rates {
            if rate.bps <= best {
                break;
            }
            let drawn = rate.bps * beta(1.0 + rate.arrived, 1.0 + rate.lost, &mut self.draws);
            if drawn > best {
                (best, chosen) = (drawn, rate.mode);
            }
        }
        RateChain::single(chosen, 1)
    }

    fn on_tx_status(&mut self, status: &TxStatus) {
        self.fade(status.now);
        if let Some(rate) = self.rates.iter_mut().find(|r| r.mode == status.mode) {
            rate.arrived += f64::from(status.acknowledged);
            rate.lost += f64::from(status.mpdus - status.acknowledged);
        }
    }
}

/// A draw from the beta distribution, as the share of one gamma variable in the sum of two.
fn beta(a: f64, b: f64, draws: &mut Stream) -> f64 {
    let (x, y) = (gamma(a, draws), gamma(b, draws));
    x / (x + y)
}

/// A draw from the gamma distribution with `shape >= 1` and scale 1. [Marsaglia, Tsang 2000]
fn gamma(shape: f64, draws: &mut Stream) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(draws);
        let t = 1.0 + c * x;
        if t <= 0.0 {
            continue;
        }
        let v = t * t * t;
        // A draw in (0, 1], so that its logarithm is finite. The first comparison spares most logarithms of the second.
        let u = 1.0 - draws.unit();
        let x2 = x * x;
        if u < 1.0 - 0.0331 * x2 * x2 || libm::log(u) < 0.5 * x2 + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

/// A draw from the normal distribution. [Box, Muller 1958]
fn normal(draws: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - draws.unit()));
    radius * libm::cos(2.0 * core::f64::consts::PI * draws.unit())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{frame, peer, phy};
    use super::*;
    use lasthop_units::Duration;

    #[test]
    fn beta_draws_have_the_mean_and_variance_of_the_distribution() {
        let mut draws = Stream::new(1, "test", 0);
        for (a, b) in [(1.0, 1.0), (2.5, 1.0), (30.0, 3.0), (1.0, 200.0)] {
            let n = 100_000;
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..n {
                let x = beta(a, b, &mut draws);
                assert!((0.0..=1.0).contains(&x));
                sum += x;
                squares += x * x;
            }
            let mean = sum / f64::from(n);
            let variance = squares / f64::from(n) - mean * mean;
            // a / (a + b) and ab / ((a + b)^2 (a + b + 1)); five deviations of the mean, 5 % of the variance.
            let (m, v) = (a / (a + b), a * b / ((a + b) * (a + b) * (a + b + 1.0)));
            assert!((mean - m).abs() < 5.0 * libm::sqrt(v / f64::from(n)), "{a} {b}: {mean} {m}");
            assert!((variance / v - 1.0).abs() < 0.05, "{a} {b}: {variance} {v}");
        }
    }

    /// Shares of the modes in attempts at `at`, after `arrived` and `lost` MPDUs in each at time 0.
    fn shares(arrived: u32, lost: &[u32; 4], at: Time) -> [f64; 4] {
        let phy = phy("802.11b");
        let mut control = ThompsonSampling::new(&Params::default(), &peer(&phy));
        for (i, lost) in lost.iter().enumerate() {
            let (mode, mpdus) = (ModeId(i as u16), arrived + lost);
            let (now, rts, snr) = (Time::ZERO, false, None);
            control.on_tx_status(&TxStatus { now, mode, success: true, mpdus, acknowledged: arrived, rts, snr });
        }
        let mut counts = [0.0; 4];
        for _ in 0..10_000 {
            counts[control.rates_for(&FrameInfo { now: at, ..frame(0) }).first().index()] += 1e-4;
        }
        counts
    }

    #[test]
    fn well_known_rates_decide() {
        // 11 Mbit/s at one in five (2.2) against 5.5 at four in five (4.4).
        let shares = shares(100, &[0, 0, 25, 400], Time::ZERO);
        assert!(shares[2] > 0.999, "{shares:?}");
    }

    #[test]
    fn faded_rate_is_tried_again() {
        // After 8 s, 100 arrivals count for 0.03: nearly Beta(1, 1) for each.
        let shares = shares(100, &[0, 0, 25, 400], Time::ZERO + Duration::from_secs(8));
        // 11 U against the best of 5.5 V, 2 W and 1 X, all uniform: 11 U wins for sure above 5.5, and below
        // it against 5.5 V alone in half of the cases: less than 3/4, and more than 1/2.
        assert!((0.5..0.75).contains(&shares[3]), "{shares:?}");
    }
}
