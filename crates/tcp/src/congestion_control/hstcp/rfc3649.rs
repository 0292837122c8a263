//! HighSpeed TCP by the formulas: a window is a real number, and a(w) follows it smoothly.
//!
//! Source: RFC 3649 §5: p(w) = 0.078/w^1.2, a(w) = w^2 p(w) 2 b(w)/(2 - b(w)). A table of whole a(w), as in Linux,
//! lies up to 1 above the formula: the mean window at a loss rate of 1e-4 is an eighth larger.

use super::decrease::{LOW_WINDOW, decrease};
use crate::congestion_control::{
    AckSample, CongestionControl, CongestionEvent, Context, LOSS_WINDOW, MIN_SSTHRESH, slow_start,
};

#[derive(Debug)]
pub(super) struct Hstcp {
    /// in segments
    cwnd: f64,
    /// in segments
    ssthresh: f64,
}

impl Hstcp {
    pub fn new(context: &Context) -> Hstcp {
        Hstcp { cwnd: context.initial_window, ssthresh: context.initial_ssthresh }
    }
}

/// a(w): segments per round trip. [RFC 3649 §5]
pub(super) fn increase(window: f64) -> f64 {
    if window <= LOW_WINDOW {
        return 1.0;
    }
    let b = decrease(window);
    let drop_rate = 0.078 / libm::pow(window, 1.2);
    (window * window * drop_rate * 2.0 * b / (2.0 - b)).max(1.0)
}

/// The window after a loss. [RFC 3649 §5]
fn reduced(window: f64) -> f64 {
    let b = if window <= LOW_WINDOW { 0.5 } else { decrease(window) };
    (window * (1.0 - b)).max(MIN_SSTHRESH)
}

impl CongestionControl for Hstcp {
    fn on_ack(&mut self, ack: &AckSample) {
        if ack.in_recovery || ack.app_limited {
            return;
        }
        let share = slow_start(&mut self.cwnd, self.ssthresh, ack);
        self.cwnd += increase(self.cwnd) * ack.avoidance_credit * share / self.cwnd;
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.ssthresh = reduced(event.window);
        self.cwnd = self.ssthresh;
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        if !event.repeated {
            self.ssthresh = reduced(event.window);
        }
        self.cwnd = LOSS_WINDOW;
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

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_increase_is_that_of_appendix_b() {
        // RFC 3649 appendix B: a(118) = 2, a(1058) = 8, a(5036) = 20, a(84035) = 71 at the ends of their rows
        for (window, a) in [(38.0, 1.0), (118.0, 2.0), (1058.0, 8.0), (5036.0, 20.0), (84_035.0, 71.0)] {
            assert!((increase(window) / a - 1.0).abs() < 0.03, "a({window}) = {}", increase(window));
        }
    }

    #[test]
    fn a_loss_at_38_segments_takes_a_half_and_at_83000_a_tenth() {
        assert_eq!(reduced(38.0), 19.0);
        assert!((reduced(83_000.0) - 74_700.0).abs() < 1e-6);
    }
}
