//! Mean windows of long TCP flows under random loss.
//!
//! `p` is the probability that a packet starts a loss event; windows are in segments. Deterministic
//! loss every `1/p` packets, no timeouts, no limit by the receiver.

use lasthop_units::{Bytes, Duration};

/// Mean window of AIMD(alpha, beta) [RFC 9438 §4.3]: `sqrt(alpha (1+beta) / (2 (1-beta) p))`, where the
/// window is multiplied by `beta` on a loss.
pub fn aimd_window(alpha: f64, beta: f64, p: f64) -> f64 {
    libm::sqrt(alpha * (1.0 + beta) / (2.0 * (1.0 - beta) * p))
}

/// Mean window of Reno with an ACK for every `segments_per_ack` = `b` segments [Mathis 1997]:
/// `sqrt(3/(2 b p))`, that is `1.22/sqrt(p)` for `b` = 1 and `0.87/sqrt(p)` for 2.
pub fn reno_window(segments_per_ack: u32, p: f64) -> f64 {
    aimd_window(1.0 / f64::from(segments_per_ack), 0.5, p)
}

/// The rate of a window in bit/s: `MSS W / RTT` [Mathis 1997].
pub fn rate_bps(mss: Bytes, window: f64, rtt: Duration) -> f64 {
    8.0 * mss.0 as f64 * window / rtt.as_secs_f64()
}

/// Mean window of CUBIC outside the Reno-friendly region [RFC 9438 §5]:
/// `(C (3+beta) / (4 (1-beta)))^(1/4) (RTT/p)^(3/4)`, with `C` in segments/s^3.
pub fn cubic_window(c: f64, beta: f64, rtt: Duration, p: f64) -> f64 {
    let scale = libm::pow(c * (3.0 + beta) / (4.0 * (1.0 - beta)), 0.25);
    scale * libm::pow(rtt.as_secs_f64() / p, 0.75)
}

/// The response function of HighSpeed TCP [RFC 3649 §5].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HighSpeed {
    /// `Low_Window`, segments: below it the flow is Reno.
    pub low_window: f64,
    /// `High_Window`, segments.
    pub high_window: f64,
    /// `Low_P`, at `Low_Window`.
    pub low_p: f64,
    /// `High_P`, at `High_Window`.
    pub high_p: f64,
    /// `High_Decrease`: `b` at `High_Window`.
    pub high_decrease: f64,
}

impl Default for HighSpeed {
    /// The values of [RFC 3649 §5].
    fn default() -> Self {
        HighSpeed { low_window: 38.0, high_window: 83_000.0, low_p: 1e-3, high_p: 1e-7, high_decrease: 0.1 }
    }
}

impl HighSpeed {
    /// `S`, the slope of window over loss rate on logarithmic scales: -0.835.
    pub fn slope(&self) -> f64 {
        libm::log(self.high_window / self.low_window) / libm::log(self.high_p / self.low_p)
    }

    /// Mean window at loss rate `p`: `W = (p/Low_P)^S Low_Window`; Reno's above `Low_P`.
    pub fn window(&self, p: f64) -> f64 {
        if p > self.low_p { reno_window(1, p) } else { libm::pow(p / self.low_p, self.slope()) * self.low_window }
    }

    /// `p(w)`, the loss rate at which `w` is the mean window; for `w >= Low_Window`.
    pub fn loss_rate(&self, w: f64) -> f64 {
        self.low_p * libm::pow(w / self.low_window, 1.0 / self.slope())
    }

    /// `b(w)`: the part of the window given up on a loss,
    /// `(High_Decrease - 0.5) (log w - log Low_Window)/(log High_Window - log Low_Window) + 0.5`.
    pub fn decrease(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 0.5;
        }
        (self.high_decrease - 0.5) * libm::log(w / self.low_window) / libm::log(self.high_window / self.low_window)
            + 0.5
    }

    /// `a(w) = w^2 p(w) 2 b(w)/(2 - b(w))`: segments gained in a round trip; 1 up to `Low_Window`.
    pub fn increase(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        let b = self.decrease(w);
        w * w * self.loss_rate(w) * 2.0 * b / (2.0 - b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_of_mathis() {
        assert!((reno_window(1, 1.0) - 1.2247).abs() < 1e-4);
        assert!((reno_window(2, 1.0) - 0.8660).abs() < 1e-4);
        // 1460 B, 100 ms, 1 %: 12.25 segments a round trip, 1.43 Mbit/s.
        let rate = rate_bps(Bytes(1460), reno_window(1, 0.01), Duration::from_millis(100));
        assert!((rate - 1.4305e6).abs() < 1e2);
    }

    #[test]
    fn cubic_gives_the_windows_of_its_rfc() {
        // [RFC 9438 §5.1, table 1]: RTT 0.1 s, C = 0.4, beta 0.7; the factor is 1.054.
        for (p, segments) in [(1e-4, 187.0), (1e-5, 1_054.0), (1e-7, 33_325.0)] {
            let window = cubic_window(0.4, 0.7, Duration::from_millis(100), p);
            assert!((window / segments - 1.0).abs() < 2.5e-3, "{p}: {window}");
        }
    }

    #[test]
    fn highspeed_passes_through_both_ends_and_equals_reno_below() {
        let highspeed = HighSpeed::default();
        assert!((highspeed.slope() + 0.835).abs() < 5e-4);
        assert!((highspeed.window(1e-7) - 83_000.0).abs() < 1e-6);
        assert_eq!(highspeed.window(0.01), reno_window(1, 0.01));
        assert_eq!((highspeed.increase(38.0), highspeed.decrease(38.0)), (1.0, 0.5));
    }
}
