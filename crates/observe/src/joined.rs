//! A run whose parts ran by themselves, as one: parts share no channel, no node and no flow.

use lasthop_units::{Duration, Time};

use crate::metric::{Metric, Metrics};
use crate::{Layout, Places, Report};

/// The summary of all parts.
pub struct Joined {
    metrics: Metrics,
    report: Report,
    now: Time,
    covered: Duration,
}

impl Joined {
    /// The summary of everything in `layout` over `covered` up to `now`, without any part yet.
    pub fn new(layout: &Layout, now: Time, covered: Duration) -> Joined {
        let mut metrics = Metrics::new(layout);
        metrics.start(now - covered);
        let mut report = Report::new(layout);
        report.queues.resize(layout.nodes, Default::default());
        report.wires.resize(layout.aps, Default::default());
        Joined { metrics, report, now, covered }
    }

    /// Adds a part: its metrics, and its own summary over the same time.
    pub fn add(&mut self, places: &Places, metrics: &Metrics, report: Report) {
        self.metrics.join(metrics, places, self.now);
        put(&mut self.report.flows, &places.flows, report.flows);
        put(&mut self.report.nodes, &places.nodes, report.nodes);
        put(&mut self.report.links, &places.links, report.links);
        put(&mut self.report.queues, &places.nodes, report.queues);
        put(&mut self.report.wires, &places.nodes, report.wires);
    }

    /// The summary of the whole, once all parts were added, and its metrics without the rows of entities.
    pub fn into_report(mut self, layout: &Layout) -> (Report, Metrics) {
        let mut whole = Report::new(layout);
        self.metrics.report(self.now, self.covered, &mut whole);
        (Report { totals: whole.totals, medium: whole.medium, ..self.report }, self.metrics)
    }
}

/// Puts the rows of a part into their places.
fn put<R>(all: &mut [R], places: &[u32], rows: Vec<R>) {
    for (place, row) in places.iter().zip(rows) {
        all[*place as usize] = row;
    }
}
