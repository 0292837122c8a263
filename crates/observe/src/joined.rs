//! A run whose parts ran by themselves, as one: parts share no channel, no node and no flow.

use lasthop_units::{Duration, Time};

use crate::metric::{Metric, Metrics};
use crate::places::put;
use crate::{Layout, Places, Report};

/// A part that has ended: its places in the whole, its metrics, and its own summary.
pub type EndedPart<'a> = (&'a Places, Metrics, Report);

impl Report {
    /// The summary of everything in `layout` over `covered` up to `now`, from its parts over the same time.
    pub fn joined<'a>(
        layout: &Layout,
        now: Time,
        covered: Duration,
        parts: impl IntoIterator<Item = EndedPart<'a>>,
    ) -> Report {
        let mut metrics = Metrics::new(layout);
        metrics.start(now - covered);
        let mut rows = Report::new(layout);
        rows.queues.resize(layout.nodes, Default::default());
        rows.wires.resize(layout.aps, Default::default());
        for (places, of_part, report) in parts {
            metrics.join(&of_part, places, now);
            put(&mut rows.flows, &places.flows, report.flows);
            put(&mut rows.nodes, &places.nodes, report.nodes);
            put(&mut rows.links, &places.links, report.links);
            put(&mut rows.queues, &places.nodes, report.queues);
            put(&mut rows.wires, &places.nodes, report.wires);
        }
        let mut whole = Report::new(layout);
        metrics.report(now, covered, &mut whole);
        Report { totals: whole.totals, medium: whole.medium, ..rows }
    }
}
