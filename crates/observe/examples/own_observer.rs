//! Feeds records to the metrics and to an observer of the example's own.
//!
//! `cargo run -p lasthop-observe --example own_observer`

use lasthop_observe::metric::goodput::GOODPUT;
use lasthop_observe::{Collector, FlowId, Layout, Observer, Record, Transport, Watcher};
use lasthop_units::{Duration, Time};

/// The longest time without a delivery.
#[derive(Default)]
struct LongestSilence {
    last: Time,
    longest: Duration,
}

impl Observer for LongestSilence {
    fn observe(&mut self, at: Time, record: Record) {
        if let Record::Delivered { .. } = record {
            self.longest = self.longest.max(at.since(self.last));
            self.last = at;
        }
    }
}

impl Watcher for LongestSilence {
    fn start(&mut self, now: Time) {
        *self = LongestSilence { last: now, longest: Duration::ZERO };
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// Goodput in bit/s and the longest silence of a download with 1250 B delivered at each of these milliseconds, up to
/// one second, without a warm-up.
fn watch(deliveries: &[u64]) -> (Option<f64>, Duration) {
    let layout = Layout {
        flows: vec![(Transport::Tcp, false)],
        nodes: 2,
        aps: 1,
        links: 2,
        channels: 1,
        several_users: Vec::new(),
        interferers: false,
    };
    let mut collector = Collector::new(layout, LongestSilence::default());
    collector.start(Time::ZERO);
    for &ms in deliveries {
        collector.observe(at(ms), Record::Delivered { flow: FlowId(0), bytes: 1250 });
    }
    let goodput = collector.report(at(1000)).flows[0].get(GOODPUT);
    (goodput, collector.observer().longest)
}

fn main() {
    let (goodput, silence) = watch(&[100, 200, 550, 900]);
    println!("goodput {} bit/s, longest silence {silence}", goodput.unwrap_or(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_and_observer_see_the_same_records() {
        // 4 * 1250 B * 8 in 1 s; from 200 to 550 ms
        assert_eq!(watch(&[100, 200, 550, 900]), (Some(40_000.0), Duration::from_millis(350)));
    }
}
