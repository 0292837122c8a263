//! Additive increase, multiplicative decrease, with both steps as parameters. [Chiu, Jain 1989; Yang, Lam 2000]

use std::sync::Arc;

use lasthop_registry::{ParamError, params};
use lasthop_tcp::congestion_control::{
    AckSample, CongestionControl, CongestionEvent, Context, ControlMaker, slow_start,
};

params! {
    /// Parameters of `aimd`.
    pub struct Params {
        /// Segments by which the window grows in a round trip.
        pub increase: f64 = 1.0,
        /// Share of the window that a loss leaves.
        pub keep: f64 = 0.5,
    }
    check |this, path| {
        if !(0.0..=100.0).contains(&this.increase) {
            return Err(ParamError::new(format!("{path}.increase"), "from 0 to 100 segments"));
        }
        if !(0.1..1.0).contains(&this.keep) {
            return Err(ParamError::new(format!("{path}.keep"), "at least 0.1, and less than 1"));
        }
        Ok(())
    }
}

/// Makes a controller with these parameters for each connection.
pub fn maker(params: Params) -> Arc<ControlMaker> {
    Arc::new(move |context: &Context| {
        let (cwnd, ssthresh) = (context.initial_window, context.initial_ssthresh);
        Box::new(Aimd { params: params.clone(), cwnd, ssthresh })
    })
}

#[derive(Debug)]
struct Aimd {
    params: Params,
    cwnd: f64,
    ssthresh: f64,
}

impl CongestionControl for Aimd {
    fn on_ack(&mut self, ack: &AckSample) {
        if ack.app_limited || ack.in_recovery {
            return;
        }
        let left = slow_start(&mut self.cwnd, self.ssthresh, ack);
        self.cwnd += self.params.increase * ack.avoidance_credit * left / self.cwnd;
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.ssthresh = (event.window * self.params.keep).max(2.0);
        self.cwnd = self.ssthresh;
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        if !event.repeated {
            self.ssthresh = (event.window * self.params.keep).max(2.0);
        }
        self.cwnd = 1.0;
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
