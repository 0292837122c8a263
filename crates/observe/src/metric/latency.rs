//! One-way delay of every packet of a station between its two hosts: latency under load, as users feel it.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{Histogram, Layout, Record, Report, Row};

#[derive(Clone, Debug, Default)]
struct Delays {
    all: Histogram,
    least: Option<Duration>,
}

/// See the module. For each node, downwards and upwards.
#[derive(Clone)]
pub struct Latency {
    nodes: Vec<[Delays; 2]>,
}

const DOWN: [&str; 4] = ["latency_down_min_s", "latency_down_p50_s", "latency_down_p95_s", "latency_down_p99_s"];
const UP: [&str; 4] = ["latency_up_min_s", "latency_up_p50_s", "latency_up_p95_s", "latency_up_p99_s"];

impl Delays {
    fn report(&self, names: [&'static str; 4], row: &mut Row) {
        let [min, p50, p95, p99] = names;
        row.put(min, self.least.map(Duration::as_secs_f64));
        for (name, quantile) in [(p50, 0.5), (p95, 0.95), (p99, 0.99)] {
            row.put(name, self.all.quantile_s(quantile));
        }
    }
}

impl Metric for Latency {
    fn new(layout: &Layout) -> Self {
        Latency { nodes: vec![<[Delays; 2]>::default(); layout.nodes] }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        if let Record::PacketDelivered { station, up, delay } = *record {
            let delays = &mut self.nodes[station.index()][usize::from(up)];
            delays.all.add(delay);
            delays.least = Some(delays.least.map_or(delay, |least| least.min(delay)));
        }
    }

    fn start(&mut self, _: Time) {
        self.nodes.fill_with(Default::default);
    }

    fn report(&mut self, _: Time, _: Duration, report: &mut Report) {
        for ([down, up], row) in self.nodes.iter().zip(&mut report.nodes) {
            down.report(DOWN, row);
            up.report(UP, row);
        }
    }
}
