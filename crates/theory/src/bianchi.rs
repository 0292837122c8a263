//! Saturation throughput of the DCF: a fixed point of two probabilities.
//!
//! Every station always has a frame; each of its attempts collides with the same probability `p`, whatever the
//! retry stage (the decoupling assumption). With unlimited retries this is [Bianchi 2000]; with a limit, the
//! chain of [Wu 2002] and [Chatzimisios 2003], written in its renewal form, which is algebraically the same.
//! Counters go down by one in a busy slot too; a station with frozen counters, as in the standard, gets
//! 0.3-1.7 % less. Left out: channel errors, capture, hidden stations, differing windows.

use lasthop_units::{Bytes, Duration};

/// The binary exponential backoff of every station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// `W` = CWmin + 1, slots.
    pub window: u32,
    /// `m`: number of doublings of the window; CWmax + 1 = `W 2^m`.
    pub doublings: u32,
    /// Attempts for one frame, the first included, before it is dropped; `None` = unlimited.
    pub attempts: Option<u32>,
}

/// The result of [`Backoff::solve`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedPoint {
    /// `n`, stations with a frame to send.
    pub stations: u32,
    /// Probability that a station transmits in a slot.
    pub tau: f64,
    /// Probability that an attempt collides.
    pub p: f64,
    /// Probability that a frame is dropped after its last attempt, `p^attempts`.
    pub drop_probability: f64,
}

/// Durations of the three kinds of slot of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotTimes {
    /// `sigma`: an idle slot.
    pub idle: Duration,
    /// `T_s`: a success, up to the next slot.
    pub success: Duration,
    /// `T_c`: a collision, up to the next slot.
    pub collision: Duration,
}

/// `base^exponent`, the same on every machine.
pub(crate) fn power(base: f64, exponent: u32) -> f64 {
    libm::pow(base, f64::from(exponent))
}

impl Backoff {
    /// `tau` for a given `p`.
    ///
    /// Unlimited [Bianchi 2000 eq. 7]: `tau = 2 / (1 + W + p W sum_{i<m} (2p)^i)`.
    ///
    /// With `R` attempts: attempts per frame over slots per frame,
    /// `tau = sum_{i<R} p^i / sum_{i<R} p^i (W_i + 1)/2`, with `W_i = W 2^min(i,m)`.
    pub fn tau(&self, p: f64) -> f64 {
        match self.attempts {
            None => self.tau_unlimited(p),
            Some(attempts) => self.tau_limited(p, attempts),
        }
    }

    fn tau_unlimited(&self, p: f64) -> f64 {
        let w = f64::from(self.window);
        let (mut sum, mut term) = (0.0, 1.0);
        for _ in 0..self.doublings {
            sum += term;
            term *= 2.0 * p;
        }
        2.0 / (1.0 + w + p * w * sum)
    }

    fn tau_limited(&self, p: f64, attempts: u32) -> f64 {
        assert!(attempts > 0, "a frame is sent at least once");
        let (mut tries, mut slots, mut reached) = (0.0, 0.0, 1.0);
        for i in 0..attempts {
            let w = f64::from(self.window) * power(2.0, i.min(self.doublings));
            tries += reached;
            slots += reached * (w + 1.0) / 2.0;
            reached *= p;
        }
        tries / slots
    }

    /// The fixed point of [`Backoff::tau`] and `p = 1 - (1 - tau)^(n-1)` for `stations` = `n` >= 1.
    ///
    /// `tau` falls with `p`, so `1 - (1 - tau(p))^(n-1) - p` falls too, from at least 0 at `p = 0` to
    /// at most 0 at `p = 1`: there is one root, and halving finds it.
    pub fn solve(&self, stations: u32) -> FixedPoint {
        assert!(stations > 0, "without stations nobody contends");
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let p = 0.5 * (low + high);
            if 1.0 - power(1.0 - self.tau(p), stations - 1) > p {
                low = p;
            } else {
                high = p;
            }
        }
        // A station alone never collides; halving would only come near to that.
        let p = if stations == 1 { 0.0 } else { 0.5 * (low + high) };
        let drop_probability = self.attempts.map_or(0.0, |attempts| power(p, attempts));
        FixedPoint { stations, tau: self.tau(p), p, drop_probability }
    }
}

impl FixedPoint {
    /// Probability that no station transmits in a slot, `1 - P_tr = (1 - tau)^n`.
    pub fn idle(&self) -> f64 {
        power(1.0 - self.tau, self.stations)
    }

    /// Probability that exactly one station transmits, `P_tr P_s = n tau (1 - tau)^(n-1)`.
    pub fn success(&self) -> f64 {
        f64::from(self.stations) * self.tau * power(1.0 - self.tau, self.stations - 1)
    }

    /// Probability that two or more transmit.
    pub fn collision(&self) -> f64 {
        (1.0 - self.idle() - self.success()).max(0.0)
    }

    /// Saturation throughput of all stations together in bit/s [Bianchi 2000 eq. 13]:
    /// `S = P_s P_tr E[P] / ((1 - P_tr) sigma + P_tr P_s T_s + P_tr (1 - P_s) T_c)`.
    pub fn throughput_bps(&self, times: &SlotTimes, payload: Bytes) -> f64 {
        let mean_slot_s = self.idle() * times.idle.as_secs_f64()
            + self.success() * times.success.as_secs_f64()
            + self.collision() * times.collision.as_secs_f64();
        self.success() * 8.0 * payload.0 as f64 / mean_slot_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_station_transmits_once_in_a_mean_backoff_and_never_collides() {
        let point = Backoff { window: 32, doublings: 5, attempts: None }.solve(1);
        assert_eq!(point.p, 0.0);
        assert!((point.tau - 2.0 / 33.0).abs() < 1e-15);
    }

    #[test]
    fn without_doubling_tau_does_not_depend_on_p() {
        for attempts in [None, Some(1), Some(7)] {
            let backoff = Backoff { window: 16, doublings: 0, attempts };
            assert!((0..=10).all(|p| (backoff.tau(f64::from(p) / 10.0) - 2.0 / 17.0).abs() < 1e-15));
        }
    }

    #[test]
    fn many_attempts_come_near_to_unlimited_ones() {
        let unlimited = Backoff { window: 32, doublings: 5, attempts: None }.solve(20);
        let limited = Backoff { window: 32, doublings: 5, attempts: Some(200) }.solve(20);
        assert!((unlimited.tau / limited.tau - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_root_is_found_for_any_window_and_number_of_stations() {
        for window in [1, 2, 16, 1024] {
            for stations in [1, 2, 50, 10_000] {
                for attempts in [None, Some(1), Some(7)] {
                    let point = Backoff { window, doublings: 6, attempts }.solve(stations);
                    let p = 1.0 - power(1.0 - point.tau, stations - 1);
                    assert!((p - point.p).abs() < 1e-9, "{window} {stations} {attempts:?}: {p} {point:?}");
                }
            }
        }
    }
}
