//! Airtime: how long each transmitter was on, as a fraction of the time covered.
//!
//! Of a PPDU that reaches over an edge of that time, what lies within counts. A link's airtime is that of the frames sent
//! over it and of the control responses that go with them in its own direction.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{Layout, LinkId, Record, Report, Series};

crate::quantities! {
    /// The time for which the transmitter of the node was on, over the length of the window.
    OF_NODE: Node, f64, Summary => "airtime_fraction", Fraction, One, "airtime";
    /// The airtime of data, RTS, CTS-to-self and BlockAckReqs that were sent over this link, and of the CTS, ACKs and
    /// BlockAcks that `node` sends to `peer` in answer to the other direction, over the length of the window or of the
    /// interval.
    OF_LINK: Link, f64, Both => "airtime_fraction", Fraction, One, "airtime";
}

/// A transmitter that is on: since when, as far as it is not counted yet, and for which link.
type On = Option<(Time, Option<LinkId>)>;

/// See the module.
#[derive(Clone)]
pub struct Airtime {
    on: Vec<On>,
    nodes: Vec<Duration>,
    links: Vec<Duration>,
    interval: Vec<Duration>,
}

impl Airtime {
    /// Counts `node`, which is on for `link`, for `spent`.
    #[inline(always)]
    fn count(&mut self, node: usize, link: Option<LinkId>, spent: Duration) {
        self.nodes[node] += spent;
        if let Some(link) = link {
            self.links[link.index()] += spent;
            self.interval[link.index()] += spent;
        }
    }

    /// Counts what is on up to now. What follows a SIFS later may be known ahead; nothing of it has passed.
    fn catch_up(&mut self, now: Time) {
        for node in 0..self.on.len() {
            if let Some((since, link)) = self.on[node] {
                self.count(node, link, now.since(since));
                self.on[node] = Some((since.max(now), link));
            }
        }
    }
}

impl Metric for Airtime {
    fn new(layout: &Layout) -> Self {
        Airtime {
            on: vec![None; layout.nodes],
            nodes: vec![Duration::ZERO; layout.nodes],
            links: vec![Duration::ZERO; layout.links],
            interval: vec![Duration::ZERO; layout.links],
        }
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record) {
        match *record {
            Record::TransmitterOn { node, link } => self.on[node.index()] = Some((at, link)),
            Record::Airtime { node, .. } => {
                if let Some((since, link)) = self.on[node.index()].take() {
                    self.count(node.index(), link, at.since(since));
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, now: Time) {
        self.catch_up(now);
        self.nodes.fill(Duration::ZERO);
        self.links.fill(Duration::ZERO);
    }

    fn sample(&mut self, now: Time, interval: Duration, series: &mut Series) {
        self.catch_up(now);
        let share = |d: &Duration| d.as_secs_f64() / interval.as_secs_f64();
        let links = self.interval.iter().enumerate().map(|(i, d)| (i as u32, share(d)));
        series.push(OF_LINK, links);
        self.interval.fill(Duration::ZERO);
    }

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        self.catch_up(now);
        let share = |d: &Duration| d.as_secs_f64() / covered.as_secs_f64();
        for (duration, row) in self.nodes.iter().zip(&mut report.nodes) {
            row.put(OF_NODE, share(duration));
        }
        for (duration, row) in self.links.iter().zip(&mut report.links) {
            row.put(OF_LINK, share(duration));
        }
    }
}
