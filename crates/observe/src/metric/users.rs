//! PPDUs of several users: their users, the use of the channel's tones, padding, and data that triggers asked for.
//!
//! A node has these quantities if it takes part in such PPDUs.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{Layout, Places, Record, Report};

crate::quantities! {
    /// The number of users of a PPDU with data to several stations, mean over PPDUs. Absent without any.
    USERS_DOWN: Node, f64, Feature => "users_per_ppdu_down_mean", Mean, One, "users of a PPDU, down", only "APs with multi_user";
    /// The number of stations that send in a PPDU that a trigger for data asked for, mean over PPDUs. Absent without any.
    USERS_UP: Node, f64, Feature => "users_per_ppdu_up_mean", Mean, One, "users of a PPDU, up", only "APs with multi_user";
    /// The time of PPDUs of several users with data, in both directions, over the length of the window.
    AIRTIME: Node, f64, Feature => "several_users_airtime_fraction", Fraction, One, "airtime of several users", only "APs with multi_user";
    /// The tones of the resource units that are used in these PPDUs over those of the channel, mean over their time.
    RU_USED: Node, f64, Feature => "ru_used_fraction", Fraction, One, "tones in use", only "APs with multi_user";
    /// The time in these PPDUs after the last symbol with a user's data, mean over their time and over used tones.
    PADDING: Node, f64, Feature => "padding_fraction", Fraction, One, "padding", only "APs with multi_user";
    /// The number of MPDUs with data that the station has sent because a trigger asked for them, over those that it has
    /// sent.
    TRIGGERED: Node, f64, Feature => "triggered_fraction", Fraction, One, "triggered MPDUs", only "stations with multi_user";
}

/// PPDUs and their parts in one direction.
#[derive(Clone, Copy, Default)]
struct Parts {
    ppdus: u64,
    parts: u64,
}

impl Parts {
    fn mean(self) -> Option<f64> {
        (self.ppdus > 0).then(|| self.parts as f64 / self.ppdus as f64)
    }
}

/// Sums of a node, in nanoseconds and tones. Stations have MPDUs, access points the rest.
#[derive(Clone, Copy, Default)]
struct Node {
    takes_part: bool,
    down: Parts,
    up: Parts,
    airtime: f64,
    used: f64,
    tones: f64,
    padding: f64,
    mpdus: u64,
    triggered: u64,
}

/// PPDUs of several users, by node; empty if no node takes part.
#[derive(Clone)]
pub struct Users {
    nodes: Vec<Node>,
    aps: usize,
}

impl Metric for Users {
    fn new(layout: &Layout) -> Self {
        let any = !layout.several_users.is_empty();
        let mut nodes = vec![Node::default(); if any { layout.nodes } else { 0 }];
        layout.several_users.iter().for_each(|node| nodes[node.index()].takes_part = true);
        Users { nodes, aps: layout.aps }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        match *record {
            Record::Attempt { node, mpdus, .. } => {
                if let Some(node) = self.nodes.get_mut(node.index()) {
                    node.mpdus += u64::from(mpdus);
                }
            }
            Record::Triggered { node, mpdus } => self.nodes[node.index()].triggered += u64::from(mpdus),
            Record::Part { node, ap, first, tones, of_tones, airtime, padding } => {
                let up = node != ap;
                let ap = &mut self.nodes[ap.index()];
                let (airtime, padding) = (airtime.as_nanos() as f64, padding.as_nanos() as f64);
                let (tones, of_tones) = (f64::from(tones), f64::from(of_tones));
                let parts = if up { &mut ap.up } else { &mut ap.down };
                parts.parts += 1;
                if first {
                    parts.ppdus += 1;
                    ap.airtime += airtime;
                }
                ap.used += airtime * tones / of_tones;
                ap.tones += airtime * tones;
                ap.padding += padding * tones;
            }
            _ => {}
        }
    }

    fn start(&mut self, _: Time) {
        self.nodes.iter_mut().for_each(|node| *node = Node { takes_part: node.takes_part, ..Node::default() });
    }

    fn join(&mut self, _: &Self, _: &Places, _: Time) {}

    fn report(&mut self, _: Time, covered: Duration, report: &mut Report) {
        for (place, (node, row)) in self.nodes.iter().zip(&mut report.nodes).enumerate() {
            if !node.takes_part {
                continue;
            }
            if place >= self.aps {
                row.put_of_feature(TRIGGERED, (node.mpdus > 0).then(|| node.triggered as f64 / node.mpdus as f64));
                continue;
            }
            row.put_of_feature(USERS_DOWN, node.down.mean());
            row.put_of_feature(USERS_UP, node.up.mean());
            row.put_of_feature(AIRTIME, node.airtime / covered.as_nanos() as f64);
            let sent = node.airtime > 0.0;
            row.put_of_feature(RU_USED, sent.then(|| node.used / node.airtime));
            row.put_of_feature(PADDING, sent.then(|| node.padding / node.tones));
        }
    }
}

#[cfg(test)]
mod tests {
    use lasthop_units::DataRate;

    use super::*;
    use crate::{LinkId, NodeId, Outcome};

    #[test]
    fn parts_of_a_ppdu_are_weighed_by_tones() {
        let several_users = vec![NodeId(0), NodeId(2), NodeId(3)];
        let flows = Vec::new();
        let layout = Layout { flows, nodes: 4, links: 6, channels: 1, aps: 1, several_users, interferers: false };
        let mut metric = Users::new(&layout);
        let us = Duration::from_micros;
        let part = |node, first, tones, padding| Record::Part {
            node: NodeId(node),
            ap: NodeId(0),
            first,
            tones,
            of_tones: 484,
            airtime: us(1000),
            padding: us(padding),
        };
        // Down: 242 tones without padding and 106 with 500 us of it; up: 484 tones for one.
        for part in [part(0, true, 242, 0), part(0, false, 106, 500), part(2, true, 484, 100)] {
            metric.observe(Time::ZERO, &part);
        }
        metric.observe(Time::ZERO, &Record::Triggered { node: NodeId(2), mpdus: 3 });
        let rate = DataRate::from_bps(11_000_000);
        let outcome = Outcome::Success;
        let (link, node) = (LinkId(2), NodeId(2));
        metric.observe(
            Time::ZERO,
            &Record::Attempt { link, node, rate, mpdus: 4, acknowledged: 4, retry: false, outcome },
        );
        let mut report = Report::new(&layout);
        metric.report(Time::ZERO, us(10_000), &mut report);
        let [ap, single, station, silent] = &report.nodes[..] else { panic!("four nodes") };
        assert_eq!((ap.get(USERS_DOWN), ap.get(USERS_UP), ap.get(AIRTIME)), (Some(2.0), Some(1.0), Some(0.2)));
        assert_eq!(ap.get(RU_USED), Some((348.0 + 484.0) / 2.0 / 484.0));
        assert_eq!(ap.get(PADDING), Some((106.0 * 500.0 + 484.0 * 100.0) / (348.0 + 484.0) / 1000.0));
        assert_eq!((single.values().count(), station.get(TRIGGERED), silent.get(TRIGGERED)), (0, Some(0.75), None));
    }
}
