//! A controller whose window or pacing rate is set from outside.
//!
//! The controller keeps learning from each ACK and loss, as if the values were its own; a value that is let go leaves the
//! window where the controller has it by then.

use lasthop_units::{DataRate, Duration};

use super::{AckSample, CongestionControl, CongestionEvent, Moment, Needs, Outside, Prior};

/// A controller with values from outside above its own.
#[derive(Debug)]
struct Held {
    inner: Box<dyn CongestionControl>,
    values: Outside,
}

impl Held {
    /// `inner` with its own values.
    fn new(inner: Box<dyn CongestionControl>) -> Held {
        Held { inner, values: Outside::default() }
    }
}

impl CongestionControl for Held {
    fn set_outside(&mut self, values: Outside) -> bool {
        self.values = values;
        true
    }
    fn outside(&self) -> Outside {
        self.values
    }
    fn needs(&self) -> Needs {
        self.inner.needs()
    }
    fn on_established(&mut self, at: &Moment, rtt: Option<Duration>) {
        self.inner.on_established(at, rtt);
    }
    fn on_transmit_start(&mut self, at: &Moment) {
        self.inner.on_transmit_start(at);
    }
    fn observe(&mut self, ack: &AckSample) -> bool {
        self.inner.observe(ack)
    }
    fn on_ack(&mut self, ack: &AckSample) {
        self.inner.on_ack(ack);
    }
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.inner.on_congestion(event);
    }
    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.inner.on_timeout(event);
    }
    fn on_recovery_exit(&mut self, at: &Moment) {
        self.inner.on_recovery_exit(at);
    }
    fn on_spurious(&mut self, at: &Moment, prior: &Prior) {
        self.inner.on_spurious(at, prior);
    }
    fn on_idle(&mut self, restart_window: f64) {
        self.inner.on_idle(restart_window);
    }
    fn set_window(&mut self, segments: f64) {
        self.inner.set_window(segments);
    }
    fn set_ssthresh(&mut self, segments: f64) {
        self.inner.set_ssthresh(segments);
    }
    /// A window from outside holds in recovery too.
    fn owns_recovery(&self) -> bool {
        self.values.window.is_some() || self.inner.owns_recovery()
    }
    fn holds_back(&self) -> bool {
        self.inner.holds_back()
    }
    fn cwnd(&self) -> f64 {
        self.values.window.unwrap_or_else(|| self.inner.cwnd())
    }
    fn ssthresh(&self) -> f64 {
        self.inner.ssthresh()
    }
    fn pacing_rate(&self) -> Option<DataRate> {
        self.values.pacing.or_else(|| self.inner.pacing_rate())
    }
    fn longest_send(&self) -> Option<Duration> {
        self.inner.longest_send()
    }
    fn rtt(&self) -> Option<Duration> {
        self.inner.rtt()
    }
    fn failure(&self) -> Option<&str> {
        self.inner.failure()
    }
}

/// Replaces the values of a controller by values from outside.
pub fn hold(control: &mut Box<dyn CongestionControl>, values: Outside) {
    if !control.set_outside(values) {
        let own = std::mem::replace(control, Box::new(Idle));
        *control = Box::new(Held::new(own));
        control.set_outside(values);
    }
}

/// A controller for the moment in which another one is put aside.
#[derive(Debug)]
struct Idle;

impl CongestionControl for Idle {
    fn on_ack(&mut self, _: &AckSample) {}
    fn on_congestion(&mut self, _: &CongestionEvent) {}
    fn on_timeout(&mut self, _: &CongestionEvent) {}
    fn set_window(&mut self, _: f64) {}
    fn set_ssthresh(&mut self, _: f64) {}
    fn cwnd(&self) -> f64 {
        1.0
    }
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }
}
