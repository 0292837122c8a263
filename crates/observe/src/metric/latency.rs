//! One-way delay of every packet of a station between its two hosts: latency under load, as users feel it.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{Histogram, Layout, Places, Quantity, Record, Report, Row, presence, scope};

crate::quantities! {
    /// The smallest time from a packet's sending by the server to its arrival at the station, over all IP packets of the
    /// station that arrived, data and ACKs; nearly that of an idle network.
    DOWN_MIN: Node, f64, Summary => "latency_down_min_s", Minimum, Delay, "latency, down, minimum", only "stations";
    /// Median of the times from the server to the station; see `latency_down_min_s`.
    DOWN_P50: Node, f64, Summary => "latency_down_p50_s", Quantile, Delay, "latency, down, median", only "stations";
    /// 95th percentile of the times from the server to the station.
    DOWN_P95: Node, f64, Summary => "latency_down_p95_s", Quantile, Delay, "latency, down, 95th percentile", only "stations";
    /// 99th percentile of the times from the server to the station.
    DOWN_P99: Node, f64, Summary => "latency_down_p99_s", Quantile, Delay, "latency, down, 99th percentile", only "stations";
    /// The smallest time from a packet's sending by the station to its arrival at the server.
    UP_MIN: Node, f64, Summary => "latency_up_min_s", Minimum, Delay, "latency, up, minimum", only "stations";
    /// Median of the times from the station to the server.
    UP_P50: Node, f64, Summary => "latency_up_p50_s", Quantile, Delay, "latency, up, median", only "stations";
    /// 95th percentile of the times from the station to the server.
    UP_P95: Node, f64, Summary => "latency_up_p95_s", Quantile, Delay, "latency, up, 95th percentile", only "stations";
    /// 99th percentile of the times from the station to the server.
    UP_P99: Node, f64, Summary => "latency_up_p99_s", Quantile, Delay, "latency, up, 99th percentile", only "stations";
}

#[derive(Clone, Debug, Default)]
struct Delays {
    all: Histogram,
    least: Option<Duration>,
}

/// One-way delays of the packets of each node, downwards and upwards.
#[derive(Clone)]
pub struct Latency {
    nodes: Vec<[Delays; 2]>,
}

/// A quantity of nodes.
type OfNode = Quantity<scope::Node, f64, presence::Summary>;

const DOWN: [OfNode; 4] = [DOWN_MIN, DOWN_P50, DOWN_P95, DOWN_P99];
const UP: [OfNode; 4] = [UP_MIN, UP_P50, UP_P95, UP_P99];

impl Delays {
    fn report(&self, quantities: [OfNode; 4], row: &mut Row<scope::Node>) {
        let [min, p50, p95, p99] = quantities;
        row.put(min, self.least.map(Duration::as_secs_f64));
        for (quantity, quantile) in [(p50, 0.5), (p95, 0.95), (p99, 0.99)] {
            row.put(quantity, self.all.quantile_s(quantile));
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

    fn join(&mut self, _: &Self, _: &Places, _: Time) {}

    fn report(&mut self, _: Time, _: Duration, report: &mut Report) {
        for ([down, up], row) in self.nodes.iter().zip(&mut report.nodes) {
            down.report(DOWN, row);
            up.report(UP, row);
        }
    }
}
