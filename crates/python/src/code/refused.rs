//! A placeholder for a controller that code has refused to make.

use lasthop_tcp::congestion_control::{AckSample, CongestionControl, CongestionEvent, Context, Moment, Prior, give_up};
use lasthop_units::Duration;

#[derive(Debug)]
struct Refused {
    why: String,
    cwnd: f64,
    ssthresh: f64,
}

/// A controller that ends the run at its first call, with the reason.
pub(super) fn refused(context: &Context, why: String) -> Box<dyn CongestionControl> {
    Box::new(Refused { why, cwnd: context.initial_window, ssthresh: context.initial_ssthresh })
}

impl CongestionControl for Refused {
    fn failure(&self) -> Option<&str> {
        Some(&self.why)
    }
    fn on_established(&mut self, _: &Moment, _: Option<Duration>) {
        give_up()
    }
    fn on_transmit_start(&mut self, _: &Moment) {
        give_up()
    }
    fn on_ack(&mut self, _: &AckSample) {
        give_up()
    }
    fn on_congestion(&mut self, _: &CongestionEvent) {
        give_up()
    }
    fn on_timeout(&mut self, _: &CongestionEvent) {
        give_up()
    }
    fn on_spurious(&mut self, _: &Moment, _: &Prior) {
        give_up()
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
