//! The window of a controller of the stack's own, in segments, for those who read it from a [`Sender`](crate::sender::Sender).

use lasthop_tcp::congestion_control::{AckSample, CongestionControl, CongestionEvent};

/// Repeats the window of another controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mirror {
    cwnd: f64,
    ssthresh: f64,
}

impl Mirror {
    pub(crate) fn new(cwnd: f64) -> Mirror {
        Mirror { cwnd, ssthresh: f64::INFINITY }
    }
}

impl CongestionControl for Mirror {
    fn on_ack(&mut self, _: &AckSample) {}
    fn on_congestion(&mut self, _: &CongestionEvent) {}
    fn on_timeout(&mut self, _: &CongestionEvent) {}
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
