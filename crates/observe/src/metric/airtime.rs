//! Airtime: the time of each transmitter, as a fraction of the time covered.
//!
//! The part of a PPDU within that time counts, and of a PPDU of several users the share of each part, by tones: shares
//! add up. A link's airtime is the time of the frames sent over it, and of the control responses that go with them in its
//! own direction.

use lasthop_units::{Duration, Time};

use crate::metric::{Metric, OverTime};
use crate::{Layout, LinkId, Places, Record, Report, Series};

crate::quantities! {
    /// The time for which the transmitter of the node was on, over the length of the window; in a PPDU of several users its share
    /// by tones.
    OF_NODE: Node, f64, Summary => "airtime_fraction", Fraction, One, "airtime";
    /// The airtime of data, RTS, CTS-to-self, BlockAckReqs and CF-Ends that were sent over this link, and of the CTS, ACKs
    /// and BlockAcks that `node` sends to `peer` in answer to the other direction, over the length of the window or of the
    /// interval.
    OF_LINK: Link, f64, Both => "airtime_fraction", Fraction, One, "airtime";
}

/// An active transmitter: start of the time not counted yet, and its link.
type On = Option<(Time, Option<LinkId>)>;

/// A part of a PPDU of several users on the air, whose share lies between these tones of all.
#[derive(Clone, Copy)]
struct PartOn {
    node: usize,
    link: Option<LinkId>,
    since: Time,
    between: [u32; 2],
    all: u32,
}

impl PartOn {
    /// Its share of this time.
    fn share(&self, of: Duration) -> Duration {
        let [from, to] = self.between;
        of.part(from, to, self.all)
    }
}

/// The active transmitters.
#[derive(Clone)]
struct Transmitters {
    on: Vec<On>,
    parts: Vec<PartOn>,
}

impl Transmitters {
    fn new(layout: &Layout) -> Transmitters {
        Transmitters { on: vec![None; layout.nodes], parts: Vec::new() }
    }

    /// Handles a record; `count` receives the node and link of a transmitter that has turned off, and its time.
    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record, mut count: impl FnMut(usize, Option<LinkId>, Duration)) {
        match *record {
            Record::TransmitterOn { node, link } => self.on[node.index()] = Some((at, link)),
            Record::Airtime { node, .. } => {
                if let Some((since, link)) = self.on[node.index()].take() {
                    count(node.index(), link, at.since(since));
                }
            }
            Record::PartOn { node, link, before, tones, all } => {
                let between = [before, before + tones];
                self.parts.push(PartOn { node: node.index(), link, since: at, between, all });
            }
            Record::PartOff { node, link } => {
                let is_it = |part: &PartOn| part.node == node.index() && part.link == link;
                if let Some(place) = self.parts.iter().position(is_it) {
                    let part = self.parts.swap_remove(place);
                    count(part.node, part.link, part.share(at.since(part.since)));
                }
            }
            _ => {}
        }
    }

    /// Counts active transmitters up to now. A PPDU known a SIFS ahead counts only once it has begun.
    fn catch_up(&mut self, now: Time, mut count: impl FnMut(usize, Option<LinkId>, Duration)) {
        for (node, on) in self.on.iter_mut().enumerate() {
            if let Some((since, link)) = *on {
                count(node, link, now.since(since));
                *on = Some((since.max(now), link));
            }
        }
        for part in &mut self.parts {
            count(part.node, part.link, part.share(now.since(part.since)));
            part.since = part.since.max(now);
        }
    }
}

/// Airtime of nodes and links.
#[derive(Clone)]
pub struct Airtime {
    on: Transmitters,
    spent: Spent,
}

#[derive(Clone)]
struct Spent {
    nodes: Vec<Duration>,
    links: Vec<Duration>,
}

impl Spent {
    #[inline(always)]
    fn count(&mut self, node: usize, link: Option<LinkId>, spent: Duration) {
        self.nodes[node] += spent;
        if let Some(link) = link {
            self.links[link.index()] += spent;
        }
    }
}

impl Airtime {
    fn catch_up(&mut self, now: Time) {
        let spent = &mut self.spent;
        self.on.catch_up(now, |node, link, time| spent.count(node, link, time));
    }
}

impl Metric for Airtime {
    fn new(layout: &Layout) -> Self {
        let spent = Spent { nodes: vec![Duration::ZERO; layout.nodes], links: vec![Duration::ZERO; layout.links] };
        Airtime { on: Transmitters::new(layout), spent }
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record) {
        let spent = &mut self.spent;
        self.on.observe(at, record, |node, link, time| spent.count(node, link, time));
    }

    fn start(&mut self, now: Time) {
        self.catch_up(now);
        self.spent.nodes.fill(Duration::ZERO);
        self.spent.links.fill(Duration::ZERO);
    }

    fn join(&mut self, _: &Self, _: &Places, _: Time) {}

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        self.catch_up(now);
        let share = |d: &Duration| d.as_secs_f64() / covered.as_secs_f64();
        for (duration, row) in self.spent.nodes.iter().zip(&mut report.nodes) {
            row.put(OF_NODE, share(duration));
        }
        for (duration, row) in self.spent.links.iter().zip(&mut report.links) {
            row.put(OF_LINK, share(duration));
        }
    }
}

/// Airtime of links, in each interval.
#[derive(Clone)]
pub struct AirtimeOverTime {
    on: Transmitters,
    links: Vec<Duration>,
}

impl OverTime for AirtimeOverTime {
    fn new(layout: &Layout) -> Self {
        AirtimeOverTime { on: Transmitters::new(layout), links: vec![Duration::ZERO; layout.links] }
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record) {
        let links = &mut self.links;
        self.on.observe(at, record, |_, link, time| add(links, link, time));
    }

    fn sample(&mut self, now: Time, interval: Duration, series: &mut Series) {
        let links = &mut self.links;
        self.on.catch_up(now, |_, link, time| add(links, link, time));
        let share = |d: &Duration| d.as_secs_f64() / interval.as_secs_f64();
        series.push(OF_LINK, self.links.iter().enumerate().map(|(i, d)| (i as u32, share(d))));
        self.links.fill(Duration::ZERO);
    }
}

#[inline(always)]
fn add(links: &mut [Duration], link: Option<LinkId>, time: Duration) {
    if let Some(link) = link {
        links[link.index()] += time;
    }
}
