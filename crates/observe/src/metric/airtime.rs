//! Airtime: how long each transmitter was on, as a fraction of the time covered.
//!
//! A PPDU counts when it ends. A link's airtime is that of the frames sent over it and of the
//! control responses that go with them in its own direction.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{Layout, Record, Report, Scope, Series};

/// See the module.
pub struct Airtime {
    nodes: Vec<Duration>,
    links: Vec<Duration>,
    interval: Vec<Duration>,
}

impl Metric for Airtime {
    fn new(layout: &Layout) -> Self {
        Airtime {
            nodes: vec![Duration::ZERO; layout.nodes],
            links: vec![Duration::ZERO; layout.links],
            interval: vec![Duration::ZERO; layout.links],
        }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        if let Record::Airtime { node, link, duration } = *record {
            self.nodes[node.index()] += duration;
            if let Some(link) = link {
                self.links[link.index()] += duration;
                self.interval[link.index()] += duration;
            }
        }
    }

    fn start(&mut self, _: Time) {
        self.nodes.fill(Duration::ZERO);
        self.links.fill(Duration::ZERO);
    }

    fn sample(&mut self, _: Time, interval: Duration, series: &mut Series) {
        let share = |d: &Duration| d.as_secs_f64() / interval.as_secs_f64();
        let links = self.interval.iter().enumerate().map(|(i, d)| (i as u32, share(d)));
        series.push("airtime_fraction", Scope::Link, links);
        self.interval.fill(Duration::ZERO);
    }

    fn report(&mut self, _: Time, covered: Duration, report: &mut Report) {
        let share = |d: &Duration| d.as_secs_f64() / covered.as_secs_f64();
        for (duration, row) in self.nodes.iter().zip(&mut report.nodes) {
            row.put("airtime_fraction", share(duration));
        }
        for (duration, row) in self.links.iter().zip(&mut report.links) {
            row.put("airtime_fraction", share(duration));
        }
    }
}
