//! Tests your own congestion controller against the promises of all controllers, and prints the broken ones.
//!
//! `cargo run -p lasthop-conformance --example controller_suite`

use lasthop_conformance::Failure;
use lasthop_conformance::cc::{Candidate, suite};
use lasthop_tcp::congestion_control::{AckSample, CongestionControl, CongestionEvent, Context, slow_start};

/// Reno in its plainest form; `forgets` makes it reduce ssthresh at every timeout, including repeated ones.
#[derive(Debug)]
struct Reno {
    cwnd: f64,
    ssthresh: f64,
    forgets: bool,
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &AckSample) {
        if ack.app_limited || ack.in_recovery {
            return;
        }
        let left = slow_start(&mut self.cwnd, self.ssthresh, ack);
        self.cwnd += left * ack.avoidance_credit / self.cwnd;
    }
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.ssthresh = (event.window / 2.0).max(2.0);
        self.cwnd = self.ssthresh;
    }
    fn on_timeout(&mut self, event: &CongestionEvent) {
        if self.forgets || !event.repeated {
            self.ssthresh = (event.window / 2.0).max(2.0);
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

fn failures(name: &str, forgets: bool) -> Vec<Failure> {
    let build = move |context: &Context| -> Box<dyn CongestionControl> {
        Box::new(Reno { cwnd: context.initial_window, ssthresh: context.initial_ssthresh, forgets })
    };
    suite(&Candidate::new(name, &build))
}

fn main() {
    for (name, forgets) in [("reno", false), ("reno that forgets", true)] {
        let failures = failures(name, forgets);
        println!("{name}: {} promises broken", failures.len());
        failures.iter().for_each(|failure| println!("  {failure}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reno_keeps_every_promise() {
        assert_eq!(failures("reno", false), []);
    }

    #[test]
    fn a_defect_is_found_and_named() {
        let broken: Vec<_> = failures("reno that forgets", true).iter().map(|failure| failure.rule).collect();
        assert_eq!(broken, ["repeated_timeout_holds_ssthresh"]);
    }
}
