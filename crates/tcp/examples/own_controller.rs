//! A congestion controller of one's own in an endpoint: two ends of a connection, a path between them that loses one data
//! segment in a thousand, and a loop that is the clock.
//!
//! `cargo run -p lasthop-tcp --example own_controller`

use lasthop_engine::{Scheduler, Stream};
use lasthop_tcp::congestion_control::{AckSample, CongestionControl, CongestionEvent, Context};
use lasthop_tcp::{Config, Endpoint, Profile, Segment};
use lasthop_units::{Duration, Time};

/// Grows by a segment in a round trip and keeps a share of its window after a loss.
#[derive(Debug)]
struct Aimd {
    keep: f64,
    cwnd: f64,
    ssthresh: f64,
}

impl Aimd {
    fn new(context: &Context, keep: f64) -> Aimd {
        Aimd { keep, cwnd: context.initial_window, ssthresh: context.initial_ssthresh }
    }
}

impl CongestionControl for Aimd {
    fn on_ack(&mut self, ack: &AckSample) {
        if ack.app_limited || ack.in_recovery {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.cwnd += ack.slow_start_credit;
        } else {
            self.cwnd += ack.avoidance_credit / self.cwnd;
        }
    }
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.ssthresh = (self.keep * event.window).max(2.0);
        self.cwnd = self.ssthresh;
    }
    fn on_timeout(&mut self, event: &CongestionEvent) {
        if !event.repeated {
            self.ssthresh = (self.keep * event.window).max(2.0);
        }
        self.cwnd = 1.0;
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

enum Event {
    /// A segment arrives at the end with this index.
    Arrives(usize, Segment),
    /// A timer of that end is due, if it was not set again.
    Wakes(usize),
}

/// A sender, a receiver, and the segments under way between them.
struct Path {
    ends: [Endpoint; 2],
    /// The time at which each end is woken.
    wakes: [Time; 2],
    events: Scheduler<Event>,
    losses: Stream,
}

const ONE_WAY: Duration = Duration::from_millis(25);
const LOSS: f64 = 1e-3;

impl Path {
    fn new(sender: Endpoint, receiver: Endpoint) -> Path {
        Path {
            ends: [sender, receiver],
            wakes: [Time::NEVER; 2],
            events: Scheduler::new(),
            losses: Stream::new(1, "losses", 0),
        }
    }

    fn start(&mut self) {
        let [sender, receiver] = &mut self.ends;
        receiver.listen();
        sender.connect(Time::ZERO);
        sender.write_forever();
        self.transmit(0);
    }

    fn run_until(&mut self, end: Time) {
        while let Some((now, event)) = self.events.next_before(end) {
            match event {
                Event::Arrives(end, segment) => {
                    self.ends[end].handle_segment(now, &segment);
                    self.transmit(end);
                }
                Event::Wakes(end) if self.wakes[end] == now => {
                    self.wakes[end] = Time::NEVER;
                    self.ends[end].handle_timeout(now);
                    self.transmit(end);
                }
                Event::Wakes(_) => {}
            }
        }
    }

    /// Sends all that an end may send now, and wakes it when its next timer is due.
    fn transmit(&mut self, end: usize) {
        let now = self.events.now();
        while let Some(segment) = self.ends[end].poll_transmit(now) {
            let is_lost = !segment.is_pure_ack() && self.losses.chance(LOSS);
            if !is_lost {
                self.events.after(ONE_WAY, Event::Arrives(1 - end, segment));
            }
        }
        let wake = self.ends[end].poll_timeout().max(now);
        if wake != self.wakes[end] {
            self.wakes[end] = wake;
            self.events.at(wake, Event::Wakes(end));
        }
    }
}

/// Goodput in bit/s over two minutes, with a controller that keeps this share of its window.
fn goodput_bps(keep: f64) -> f64 {
    let config: Config = Profile::Linux.config();
    let controller = Aimd::new(&Context::new(&config, 1), keep);
    let mut path = Path::new(Endpoint::with_control(&config, 1, Box::new(controller)), Endpoint::new(&config, 2));
    path.start();
    path.run_until(Time::ZERO + Duration::from_secs(120));
    path.ends[1].delivered_bytes() as f64 * 8.0 / 120.0
}

fn main() {
    for keep in [0.5, 0.7, 0.9] {
        println!("keeps {keep}: {:.2} Mbit/s", goodput_bps(keep) / 1e6);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sqrt(3 / (2 p)) = 38.7 segments of 1448 B a round trip of 50 ms: 8.97 Mbit/s [Mathis 1997]. In 120 s there are some
    /// 90 losses, whose number varies by a tenth; recovery takes its time. A quarter covers both.
    #[test]
    fn halving_follows_the_square_root_law() {
        let mbps = goodput_bps(0.5) / 1e6;
        assert!((mbps / 8.97 - 1.0).abs() < 0.25, "{mbps} Mbit/s");
    }

    #[test]
    fn larger_share_kept_on_loss_gives_more() {
        assert!(goodput_bps(0.8) > 1.2 * goodput_bps(0.5));
    }
}
